package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/capability/policyfile"
)

// refusal is one denial of a run, and how often its like was asked.
type refusal struct {
	*audit.Record
	times int64
}

// writeProposal writes a policy of what a run was refused: a grant for each host and
// port, with the smallest allow blocks, merged where they differ in little.
func writeProposal(w io.Writer, dir, id string) error {
	found, err := audit.Find(dir, id)
	if err != nil {
		return err
	}
	run := id
	if found.Start != nil {
		run = found.Start.ID
	}
	refusals, err := refusalsOf(dir, run)
	if err != nil {
		return err
	}
	_, err = w.Write(propose(run, refusals))
	return err
}

func refusalsOf(dir, run string) ([]*refusal, error) {
	var all []*refusal
	byID := make(map[string]*refusal)
	for r, err := range audit.Records(dir, run) {
		switch {
		case err != nil:
			return nil, err
		case r.Event == audit.Decided && r.Verdict == "deny":
			byID[r.ID] = &refusal{r, 1}
			all = append(all, byID[r.ID])
		case r.Event == audit.Repeated && byID[r.Decision] != nil:
			byID[r.Decision].times += r.Count
		}
	}
	return all, nil
}

const proposalHead = `# Proposed from what run %s was refused. Every block permits something that was
# asked for inside the sandbox: grant what the work needs, and take the rest out.

version = %d
`

// propose makes the policy. What cannot be granted, or of which too little is known,
// stands in comments.
func propose(run string, refusals []*refusal) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, proposalHead, run, policyfile.Version)
	var hosts []*hostProposal
	var names, others []*refusal
	for _, r := range refusals {
		g, ok := smallestGrant(r)
		switch {
		case ok:
			hosts = addTo(hosts, g, r)
		case r.Host != "" && (r.Kind == string(capability.KindName) || r.Kind == string(capability.KindConnect)) && r.Smallest != "":
			names = append(names, r)
		default:
			others = append(others, r)
		}
	}
	for _, h := range hosts {
		b.WriteString("\n" + h.block())
	}
	remark(&b, names, "Looked up or connected to, and not granted. What would have been asked there is not known\n"+
		"# yet: grant the path that the client needs, run it again, and propose again.", func(r *refusal) string { return r.what() })
	remark(&b, others, "Refused, and no grant proposed:", func(r *refusal) string {
		if r.Tool != nil {
			return fmt.Sprintf("call of tool %s as role %s: %s", r.Tool.Name, r.Tool.Role, r.Mismatch)
		}
		return r.what() + ": " + capability.Reason(r.Reason).Sentence()
	})
	text, _ := policyfile.Format("proposal.hcl", []byte(b.String()))
	return text
}

// remark writes a comment of refusals.
func remark(b *strings.Builder, refusals []*refusal, head string, line func(*refusal) string) {
	if len(refusals) == 0 {
		return
	}
	b.WriteString("\n# " + head + "\n")
	for _, r := range refusals {
		b.WriteString("#   " + audit.Printable(line(r)) + asked(r.times) + "\n")
	}
}

// what was asked, on one line.
func (r *refusal) what() string {
	to := cmp.Or(r.Host, r.Address)
	if r.Port != 0 {
		to = fmt.Sprintf("%s port %d", to, r.Port)
	}
	return strings.Join(strings.Fields(strings.Join([]string{r.Kind, r.Protocol, r.Method, to, r.Path, r.Excerpt}, " ")), " ")
}

func asked(times int64) string {
	if times < 2 {
		return ""
	}
	return fmt.Sprintf(" (%d times)", times)
}

// smallestGrant reads the grant that the log proposes for one refusal. The text comes
// from a log and is read as a policy, so nothing else can be in it.
func smallestGrant(r *refusal) (*capability.Grant, bool) {
	// The smallest grant is for a body as it is, not for a compressed one.
	if r.Kind != string(capability.KindHTTP) || r.Smallest == "" || r.Body != nil && r.Body.Encoding != "" {
		return nil, false
	}
	inner := strings.TrimSuffix(r.Smallest, "  }\n}\n")
	// A method that writes says what body it has, none included.
	for _, text := range []string{r.Smallest, inner + "    body = none\n  }\n}\n"} {
		file, diags := policyfile.Parse("log", fmt.Appendf(nil, "version = %d\n%s", policyfile.Version, text), policyfile.Options{})
		if grants := file.Policy.Grants(); !diags.HasErrors() && len(grants) == 1 && len(grants[0].Allows) == 1 {
			return grants[0], true
		}
	}
	return nil, false
}

// hostProposal is a grant in the making.
type hostProposal struct {
	*capability.Grant
	allows []*allowProposal
}

func addTo(hosts []*hostProposal, g *capability.Grant, r *refusal) []*hostProposal {
	i := slices.IndexFunc(hosts, func(h *hostProposal) bool { return h.Host == g.Host && h.Port == g.Port && h.Scheme == g.Scheme })
	if i < 0 {
		i, hosts = len(hosts), append(hosts, &hostProposal{Grant: g})
	}
	hosts[i].allows = append(hosts[i].allows, newAllowProposal(g.Allows[0], r))
	return hosts
}

// block is the grant as text; one that would not load stands as a comment, with what is
// wrong.
func (h *hostProposal) block() string {
	text := h.text()
	_, diags := policyfile.Parse("proposal.hcl", fmt.Appendf(nil, "version = %d\n%s", policyfile.Version, text), policyfile.Options{})
	if !diags.HasErrors() {
		return text
	}
	var b strings.Builder
	b.WriteString("# This cannot stand as it is: " + audit.Printable(diags.Errors()[0].Summary) + ".\n")
	for line := range strings.Lines(text) {
		b.WriteString("# " + line)
	}
	return b.String()
}

func (h *hostProposal) text() string {
	var b strings.Builder
	name := "new-" + nameOf(h.Host.String())
	if h.Port != 443 {
		name += fmt.Sprintf("-%d", h.Port)
	}
	fmt.Fprintf(&b, "grant %s {\nreason = \"...\" # why\nowner = \"...\" # who answers for it\n# expires = \"2030-01-31\" # until when\n", capability.Quote(name))
	fmt.Fprintf(&b, "host = %s\n", capability.Quote(h.Host.String()))
	if h.Scheme != capability.HTTPS {
		fmt.Fprintf(&b, "scheme = %s\n", capability.Quote(string(h.Scheme)))
	}
	if h.Port != h.Scheme.DefaultPort() {
		fmt.Fprintf(&b, "port = %d\n", h.Port)
	}
	b.WriteString("credential = anonymous\n")
	for _, a := range merged(h.allows) {
		b.WriteString("\n" + a.text())
	}
	b.WriteString("}\n")
	return b.String()
}
