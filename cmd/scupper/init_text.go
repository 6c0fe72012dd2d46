package main

import (
	"fmt"
	"strings"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/capability/policyfile"
)

const policyHead = `# What a sandbox that runs in this folder may reach; what is not here is refused.
# scupper init wrote it from the configuration of the clients on one machine. Reviewers:
# every block says where its address comes from; reason, owner and expires are for you.

version = %d
`

// text is the policy: blocks in force, then blocks that are not, then remarks.
func (d *draft) text() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, policyHead, policyfile.Version)
	for _, p := range d.proposals {
		if p.aside == "" {
			b.WriteString("\n" + p.text(d.owner))
		}
	}
	for _, p := range d.proposals {
		if p.aside != "" {
			fmt.Fprintf(&b, "\n# Not in force: %s.\n", p.aside)
			for line := range strings.Lines(p.text(d.owner)) {
				b.WriteString(strings.TrimRight("# "+line, " \n") + "\n")
			}
		}
	}
	if len(d.remarks) > 0 {
		b.WriteByte('\n')
	}
	for _, r := range d.remarks {
		b.WriteString("# " + r + ".\n")
	}
	formatted, diags := policyfile.Format(implicitPolicy, []byte(b.String()))
	if diags.HasErrors() {
		return []byte(b.String())
	}
	return formatted
}

// text is the use block.
func (p *proposal) text(owner string) string {
	var b strings.Builder
	for _, line := range p.from {
		b.WriteString("# " + audit.Printable(line) + "\n")
	}
	fmt.Fprintf(&b, "use %s {\n", capability.Quote(p.preset))
	if p.as != "" {
		fmt.Fprintf(&b, "  as = %s\n", capability.Quote(p.as))
	}
	for _, a := range p.arguments {
		fmt.Fprintf(&b, "  %s = %s\n", a[0], a[1])
	}
	fmt.Fprintf(&b, "  reason = %s # why\n  owner = %s # who answers for it\n", capability.Quote("what "+p.preset+" needs in this folder"), capability.Quote(owner))
	b.WriteString("  # expires = \"2030-01-31\" # until when\n")
	if len(p.networks) > 0 {
		b.WriteString("\n  # Not a public address: it lies in a private network or on this host.\n")
		fmt.Fprintf(&b, "  networks = %s\n", quotedList(p.networks))
	}
	for i, line := range p.suggest {
		if i%2 == 0 {
			b.WriteByte('\n')
		}
		b.WriteString("  # " + audit.Printable(line) + "\n")
	}
	b.WriteString("}\n")
	return b.String()
}

// check sets aside what does not load: a preset that this version lacks, an address
// that no policy may name.
func (p *proposal) check(owner string) {
	if p.aside != "" {
		return
	}
	text := fmt.Sprintf("version = %d\n%s", policyfile.Version, p.text(owner))
	if _, diags := policyfile.Parse(implicitPolicy, []byte(text), policyfile.Options{}); diags.HasErrors() {
		p.aside = audit.Printable(diags.Errors()[0].Summary)
	}
}

// asides say what is not in force and why.
func (d *draft) asides() []string {
	var lines []string
	for _, p := range d.proposals {
		if p.aside != "" {
			lines = append(lines, audit.Printable(fmt.Sprintf("%s %s: %s", p.preset, strings.Join(p.urls, ", "), p.aside)))
		}
	}
	return append(lines, d.remarks...)
}

// inForce reports whether a preset is in use.
func (d *draft) inForce(preset string) bool {
	for _, p := range d.proposals {
		if p.preset == preset && p.aside == "" {
			return true
		}
	}
	return false
}
