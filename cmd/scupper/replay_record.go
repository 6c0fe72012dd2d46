package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/replay/scenario"
)

// record prints a scenario of what a run asked for.
func (c *ReplayCmd) record(app *App) error {
	dir, err := app.auditDir(c.Audit)
	if err != nil {
		return err
	}
	run := c.Record
	if run == "last" {
		if run, err = audit.Latest(dir); err != nil {
			return &exitError{code: exitUsage, err: err, hint: "logs elsewhere: --audit DIR"}
		}
	}
	text, err := recorded(dir, run)
	if err != nil {
		return &exitError{code: exitUsage, err: fmt.Errorf("record %s: %w", run, err), hint: "scupper audit show lists the runs; logs elsewhere: --audit DIR"}
	}
	_, err = fmt.Fprint(app.Stdout, text)
	return err
}

// recorded is a run as a scenario. The log has no bodies and no values of headers and
// parameters; what is missing is marked.
func recorded(dir, run string) (string, error) {
	r := recording{run: run}
	for rec, err := range audit.Records(dir, run) {
		if err != nil {
			return "", err
		}
		r.add(rec)
	}
	if len(r.attempts) == 0 {
		return "", fmt.Errorf("nothing of it can be attempted again")
	}
	return r.text(), nil
}

type recording struct {
	run, policy, role string
	attempts          []string
	reasons, arrives  []string
	gaps              bool
}

func (r *recording) add(rec *audit.Record) {
	if rec.Event == audit.RunStarted && rec.Run != nil {
		r.policy, r.role = rec.Run.Policy, rec.Run.Role
	}
	if rec.Event != audit.Decided {
		return
	}
	text := r.attempt(rec)
	if text == "" || slices.Contains(r.attempts, text) {
		return
	}
	r.attempts = append(r.attempts, text)
	if rec.Verdict == scenario.Deny && !slices.Contains(r.reasons, rec.Reason) {
		r.reasons = append(r.reasons, rec.Reason)
	}
}

// attempt is one decision as a block, or empty where a scenario has no word for it.
func (r *recording) attempt(rec *audit.Record) string {
	switch {
	case rec.Kind == string(capability.KindHTTP) && rec.Host != "" && rec.Method != "":
		return r.http(rec)
	case rec.Kind == string(capability.KindName) && rec.Verdict == scenario.Deny && rec.Host != "":
		return fmt.Sprintf("dns { name = %s }", quoted(rec.Host))
	case rec.Kind == string(capability.KindPacket) && rec.Protocol == "udp" && rec.Address != "":
		return fmt.Sprintf("udp {\n      to    = %s\n      bytes = \"x\" # the log has no payload\n    }", quoted(fmt.Sprintf("%s:%d", rec.Address, rec.Port)))
	case rec.Kind == string(capability.KindPacket) && rec.Protocol == "tcp" && rec.Address != "":
		return fmt.Sprintf("tcp {\n      to    = %s\n      bytes = \"x\" # the log has no payload\n    }", quoted(fmt.Sprintf("%s:%d", rec.Address, rec.Port)))
	}
	return ""
}

func (r *recording) http(rec *audit.Record) string {
	url := rec.Scheme + "://" + rec.Host
	if rec.Scheme == "https" && rec.Port != 443 || rec.Scheme == "http" && rec.Port != 80 {
		url += ":" + strconv.Itoa(int(rec.Port))
	}
	target := url + rec.Path
	for i, p := range rec.Query {
		sign := "&"
		if i == 0 {
			sign = "?"
		}
		target += sign + p.Name + "=" + strings.ReplaceAll(p.Value, "…", "x")
		r.gaps = r.gaps || p.Value == "…"
	}
	if rec.Verdict == scenario.Allow {
		r.arrives = append(r.arrives, rec.Method+" "+url+rec.Path+"*")
	}
	text := fmt.Sprintf("http {\n      method = %s\n      url    = %s\n", quoted(rec.Method), quoted(target))
	if rec.Body != nil && rec.Body.Length != 0 {
		text += fmt.Sprintf("      headers = { Content-Type = %s }\n      body    = \"{}\" # the log has no bodies: %d bytes\n", quoted(rec.Body.Type), rec.Body.Length)
	}
	for _, f := range rec.Foreign {
		text += "      # a credential was in " + audit.Printable(fmt.Sprint(f)) + "\n"
	}
	return text + "    }"
}

func (r *recording) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "scenario \"run-%s\" {\n  describe = \"what run %s asked for\"\n", strings.ToLower(r.run), r.run)
	if r.policy != "" {
		fmt.Fprintf(&b, "  policy   = %s\n", quoted(r.policy))
	}
	if r.role != "" {
		fmt.Fprintf(&b, "  role     = %s\n", quoted(r.role))
	}
	if r.gaps {
		b.WriteString("  # the log has no values of parameters: x stands for each\n")
	}
	for _, a := range r.attempts {
		fmt.Fprintf(&b, "  attempt {\n    %s\n  }\n", a)
	}
	if len(r.reasons) == 0 {
		fmt.Fprintf(&b, "  expect {\n    verdict = \"allow\"\n    leak    = none\n%s  }\n}\n", r.arrivals())
		return b.String()
	}
	fmt.Fprintf(&b, "  expect {\n    verdict = \"deny\"\n    reason  = [%s]\n    leak    = none\n%s  }\n}\n", list(r.reasons), r.arrivals())
	return b.String()
}

func (r *recording) arrivals() string {
	if len(r.arrives) == 0 {
		return ""
	}
	return fmt.Sprintf("    arrives = [%s]\n", list(slices.Compact(r.arrives)))
}

func list(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = quoted(w)
	}
	return strings.Join(out, ", ")
}

// quoted is a text as a literal of HCL, in which ${ and %{ begin a template.
func quoted(s string) string {
	s = strconv.Quote(audit.Printable(s))
	return strings.NewReplacer("${", "$${", "%{", "%%{").Replace(s)
}
