package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/capability/policyfile"
)

// installation is a state folder with a key, and the signed log of one run.
type installation struct {
	t        *testing.T
	home     string
	dir, run string
	stderr   string
}

func install(t *testing.T) *installation {
	t.Helper()
	in := &installation{t: t, home: t.TempDir()}
	state := filepath.Join(in.home, "scupper")
	in.dir = filepath.Join(state, "audit")
	if _, err := audit.EnsureKey(state, in.dir); err != nil {
		t.Fatal(err)
	}
	policy := in.policy(granted)
	file, diags := policyfile.Parse(policy, []byte(granted), policyfile.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	g, err := audit.New(audit.Config{Dir: in.dir, State: state, Policy: file.Policy, PolicyText: file.Text, PolicyPath: policy, Command: []string{"npm", "ci"}, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	g.Authorize(&capability.Request{Kind: capability.KindName, Host: "api.example.com", Protocol: "A"})
	d := g.Authorize(ask(t, "GET api.example.com/status"))
	g.Finish(d, capability.Outcome{Status: 200, Sent: 100, Received: 2000})
	for _, r := range []string{"PUT api.example.com/status", "GET api.example.com/%E2%80%AE%3Cscript%3E"} {
		g.Authorize(ask(t, r))
	}
	g.Refuse(&capability.Request{Kind: capability.KindHTTP, Method: "GET\x1b[2J", Excerpt: "\x1b]0;owned\x07"}, capability.MalformedRequest)
	if err := g.Close(3); err != nil {
		t.Fatal(err)
	}
	in.run = g.Run()
	return in
}

// scupper runs a command line and returns what it printed.
func (in *installation) scupper(code int, args ...string) string {
	in.t.Helper()
	var stdout, stderr bytes.Buffer
	app := &App{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Env: func(name string) string {
		return map[string]string{"XDG_STATE_HOME": in.home}[name]
	}}
	if got := app.main(args); got != code {
		in.t.Fatalf("%v: exit code %d, want %d\n%s", args, got, code, &stderr)
	}
	in.stderr = stderr.String()
	return stdout.String()
}

// policy writes the policy where the run has it from.
func (in *installation) policy(text string) (path string) {
	in.t.Helper()
	path = filepath.Join(in.home, "policy.hcl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		in.t.Fatal(err)
	}
	return path
}

// damage changes the log where it says old.
func (in *installation) damage(old, new string) {
	in.t.Helper()
	path := filepath.Join(in.dir, in.run, "000001.jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		in.t.Fatal(err)
	}
	if !bytes.Contains(text, []byte(old)) {
		in.t.Fatalf("the log has no %s:\n%s", old, text)
	}
	if err := os.WriteFile(path, bytes.Replace(text, []byte(old), []byte(new), 1), 0o600); err != nil {
		in.t.Fatal(err)
	}
}

type exported struct {
	ClassUID, CategoryUID, ActivityID, TypeUID int
	Raw                                        string
	Proof                                      struct {
		State     string   `json:"state"`
		Why       string   `json:"why"`
		Index     int64    `json:"leaf_index"`
		Leaf      string   `json:"leaf_hash"`
		Size      int64    `json:"tree_size"`
		Inclusion []string `json:"inclusion"`
		Head      string   `json:"signed_head"`
	}
}

func (in *installation) export(args ...string) []exported {
	in.t.Helper()
	var out []exported
	for line := range strings.Lines(in.scupper(0, append([]string{"audit", "export"}, args...)...)) {
		var e struct {
			ClassUID    int    `json:"class_uid"`
			CategoryUID int    `json:"category_uid"`
			ActivityID  int    `json:"activity_id"`
			TypeUID     int    `json:"type_uid"`
			Raw         string `json:"raw_data"`
			Unmapped    struct {
				Proof json.RawMessage `json:"proof"`
			} `json:"unmapped"`
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			in.t.Fatalf("%v in %s", err, line)
		}
		for _, r := range line {
			if r != '\n' && (r < ' ' || r == 0x7f || r == '\u202e') {
				in.t.Errorf("an event holds %U: %s", r, line)
			}
		}
		x := exported{ClassUID: e.ClassUID, CategoryUID: e.CategoryUID, ActivityID: e.ActivityID, TypeUID: e.TypeUID, Raw: e.Raw}
		if err := json.Unmarshal(e.Unmapped.Proof, &x.Proof); err != nil {
			in.t.Fatalf("%v in %s", err, line)
		}
		out = append(out, x)
	}
	return out
}

// check is what a third party does with one event and the public key alone.
func (e exported) check(t *testing.T, public string) bool {
	t.Helper()
	verifier, err := note.NewVerifier(public)
	if err != nil {
		t.Fatal(err)
	}
	n, err := note.Open([]byte(e.Proof.Head), note.VerifierList(verifier))
	if err != nil {
		return false
	}
	lines := strings.Split(n.Text, "\n")
	root, err := tlog.ParseHash(lines[2])
	if err != nil {
		t.Fatal(err)
	}
	var proof tlog.RecordProof
	for _, text := range e.Proof.Inclusion {
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		proof = append(proof, tlog.Hash(raw))
	}
	return tlog.CheckRecord(proof, e.Proof.Size, root, e.Proof.Index, tlog.RecordHash([]byte(e.Raw))) == nil
}

func TestExportCanBeCheckedFromTheEventAlone(t *testing.T) {
	in := install(t)
	public := strings.TrimSpace(in.scupper(0, "audit", "key"))
	events := in.export()
	text, err := os.ReadFile(filepath.Join(in.dir, in.run, "000001.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var raw strings.Builder
	for i, e := range events {
		raw.WriteString(e.Raw + "\n")
		if e.Proof.State != "verified" || !e.check(t, public) {
			t.Errorf("event %d does not check: %+v", i, e.Proof)
		}
		forged := e
		forged.Raw = strings.Replace(e.Raw, `"seq":`, `"seq": `, 1)
		if forged.check(t, public) {
			t.Errorf("event %d checks with another record", i)
		}
	}
	if raw.String() != string(text) {
		t.Errorf("raw_data is not the log:\n%s", raw.String())
	}
	if one := in.export("--verdict", "deny", "--reason", "method_not_granted"); len(one) != 1 || !one[0].check(t, public) {
		t.Errorf("one of them is %+v", one)
	}
}

func TestExportOfAChangedLogSaysSo(t *testing.T) {
	in := install(t)
	in.damage(`"method":"PUT"`, `"method":"GET"`)
	for _, e := range in.export() {
		if e.Proof.State != "failed" || e.Proof.Inclusion != nil || !strings.Contains(e.Proof.Why, "record") {
			t.Errorf("proof is %+v", e.Proof)
		}
	}
	if page := in.scupper(0, "audit", "report"); !strings.Contains(page, "Do not rely on this") {
		t.Error("the report does not say that the log was changed")
	}
}

func TestReportSaysWhatItWasVerifiedAgainst(t *testing.T) {
	in := install(t)
	page := in.scupper(0, "audit", "report")
	if !strings.Contains(page, "The log is verified.") || !strings.Contains(page, "against head <code>"+in.run+":") {
		t.Errorf("the page is\n%s", page)
	}
}
