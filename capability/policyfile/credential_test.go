package policyfile

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"scupper.dev/scupper/capability"
)

// credentialWith is a policy whose one grant binds a credential with these lines.
func credentialWith(lines ...string) string {
	return strings.Replace(grantWith("credential = credential.llm"), "grant ", "credential \"llm\" {\n"+strings.Join(lines, "\n")+"\n}\ngrant ", 1)
}

const (
	fromEnv  = `source { env = "LLM_KEY" }`
	inHeader = `header "x-api-key" { value = "${secret}" }`
)

func TestCredentials(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
		want  Credential
	}{
		{"header", []string{fromEnv, inHeader}, Credential{Env: "LLM_KEY", Place: capability.Place{In: capability.InHeader, Name: "X-Api-Key"}}},
		{"bearer, exposed", []string{fromEnv, `header "authorization" { value = "Bearer ${secret}" }`, `expose = "LLM_KEY"`},
			Credential{Env: "LLM_KEY", Expose: "LLM_KEY", Place: capability.Place{In: capability.InHeader, Name: "Authorization", Before: "Bearer "}}},
		{"in another header too", []string{fromEnv, "header \"x-api-key\" {\nvalue = \"${secret}\"\nalso = \"authorization\"\n}"}, Credential{Env: "LLM_KEY", Place: capability.Place{In: capability.InHeader, Name: "X-Api-Key", Also: "Authorization"}}},
		{"around", []string{fromEnv, `header "X-Key" { value = "a=${secret};b" }`}, Credential{Env: "LLM_KEY", Place: capability.Place{In: capability.InHeader, Name: "X-Key", Before: "a=", After: ";b"}}},
		{"file, Basic", []string{`source { file = "key" }`, `basic { user = "bot" }`}, Credential{File: "folder/key", Place: capability.Place{In: capability.InBasic, User: "bot"}}},
		{"command, query", []string{"source {\nexec = [\"broker\", \"get\"]\ntimeout = \"3s\"\n}", `query "key" {}`},
			Credential{Exec: []string{"broker", "get"}, Timeout: 3 * time.Second, Place: capability.Place{In: capability.InQuery, Name: "key"}}},
		{"cookie", []string{fromEnv, `cookie "session" {}`}, Credential{Env: "LLM_KEY", Place: capability.Place{In: capability.InCookie, Name: "session"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			file, diags := Parse("folder/policy.hcl", []byte(credentialWith(c.lines...)), Options{Now: testTime})
			if err := diags.Err(); err != nil {
				t.Fatal(err)
			}
			c.want.Name, c.want.Position = "llm", capability.Position{File: "folder/policy.hcl", Line: 2, Column: 1}
			if diff := cmp.Diff([]Credential{c.want}, file.CredentialsOf(file.Policy)); diff != "" {
				t.Error(diff)
			}
			bound := file.Policy.Grants()[0].Credential
			if bound.Mode != capability.Bound || bound.Name != "llm" || bound.Place != c.want.Place {
				t.Errorf("the grant binds %+v", bound)
			}
			if text := string(Print(file.Policy.Grants())); !strings.Contains(text, "credential = credential.llm\n") {
				t.Errorf("printed as\n%s", text)
			}
		})
	}
}

func TestCredentialMistakes(t *testing.T) {
	for _, c := range []struct {
		name, policy string
		want         []string
	}{
		{"no source", credentialWith(inHeader), only("error: the credential has no source")},
		{"two sources", credentialWith("source {\nenv = \"A\"\nfile = \"b\"\n}", inHeader), only("error: a source is one of env, file and exec")},
		{"two source blocks", credentialWith(fromEnv, fromEnv, inHeader), only("error: a second source block")},
		{"empty source", credentialWith("source {}", inHeader), only("error: a source is one of")},
		{"a secret in the place of a variable", credentialWith(`source { env = "sk-0123" }`, inHeader), only("error: env is not the name of a variable")},
		{"empty file", credentialWith(`source { file = "" }`, inHeader), only("error: file is empty")},
		{"empty command", credentialWith(`source { exec = [""] }`, inHeader), only("error: the command is empty")},
		{"timeout of a variable", credentialWith("source {\nenv = \"A\"\ntimeout = \"3s\"\n}", inHeader), only("error: a timeout without a command")},
		{"no place", credentialWith(fromEnv), only("error: the credential has no place")},
		{"two places", credentialWith(fromEnv, inHeader, `cookie "s" {}`), only("error: a credential has one place")},
		{"a secret in the policy", credentialWith(fromEnv, `header "x-api-key" { value = "sk-0123" }`), only("error: the value is not text around")},
		{"the secret twice", credentialWith(fromEnv, `header "x-api-key" { value = "${secret}${secret}" }`), only("error: the value is not text around")},
		{"another template", credentialWith(fromEnv, `header "x-api-key" { value = "${secret}${env.HOME}" }`), only("error: the value is not text around")},
		{"a function of the secret", credentialWith(fromEnv, `header "x-api-key" { value = "${upper(secret)}" }`), only("error: the value is not text around")},
		{"a part of the secret", credentialWith(fromEnv, `header "x-api-key" { value = "${secret[0]}" }`), only("error: the value is not text around")},
		{"line break in the value", credentialWith(fromEnv, `header "x-api-key" { value = "${secret}\r\nX: 1" }`), only("error: the value is not text around")},
		{"no value", credentialWith(fromEnv, `header "x-api-key" {}`), only("error: the header has no value")},
		{"cookie as a header", credentialWith(fromEnv, `header "Cookie" { value = "s=${secret}" }`), only("error: a cookie has a name of its own")},
		{"host as a header", credentialWith(fromEnv, `header "Host" { value = "${secret}" }`), only(`error: a credential does not go into the header "Host"`)},
		{"user agent", credentialWith(fromEnv, `header "User-Agent" { value = "${secret}" }`), only(`error: a credential does not go into the header "User-Agent"`)},
		{"also in the same", credentialWith(fromEnv, "header \"x-api-key\" {\nvalue = \"${secret}\"\nalso = \"X-API-Key\"\n}"), only(`error: "X-API-Key" is not another header`)},
		{"also anywhere", credentialWith(fromEnv, "header \"x-api-key\" {\nvalue = \"${secret}\"\nalso = \"Accept\"\n}"), only(`error: "Accept" is not another header`)},
		{"no header", credentialWith(fromEnv, `header "x api" { value = "${secret}" }`), only(`error: "x api" is not a header name`)},
		{"no cookie", credentialWith(fromEnv, `cookie "a;b" {}`), only(`error: "a;b" is not the name of a cookie`)},
		{"Basic without a user", credentialWith(fromEnv, `basic {}`), only("error: basic has no user")},
		{"a colon in the user", credentialWith(fromEnv, `basic { user = "a:b" }`), only("error: the user holds a colon")},
		{"exposed under no name", credentialWith(fromEnv, inHeader, `expose = "A B"`), only("error: expose is not the name of a variable")},
		{"exposed over a variable", "environment = { LLM = \"1\" }\n" + credentialWith(fromEnv, inHeader, `expose = "LLM"`), only(`error: "LLM" is in the policy's environment already`)},
		{"twice", credentialWith(fromEnv, inHeader) + "\ncredential \"llm\" {\n" + fromEnv + "\n" + inHeader + "\n}", only(`error: two credentials are named "llm"`)},
		{"capitals", strings.ReplaceAll(credentialWith(fromEnv, inHeader), "llm", "LLM"), only(`error: "LLM" is not the name of a credential`)},
		{"misspelt", strings.Replace(credentialWith(fromEnv, inHeader), "credential.llm", "credential.lmm", 1), []string{`error: no credential is named "lmm" ... llm`, `warning: no grant binds the credential "llm"`}},
		{"the place is declared as a header", strings.Replace(credentialWith(fromEnv, `header "x-run" { value = "${secret}" }`), "path =", "headers = { \"X-Run\" = \"1\" }\npath =", 1), only("error: the allow block at line 11 declares the header X-Run")},
		{"the place is declared as a parameter", strings.Replace(credentialWith(fromEnv, `query "id" {}`), "path =", "query = { ID = int }\npath =", 1), only("error: the allow block at line 11 declares the query id")},
		{"CRED-12 in clear", strings.Replace(credentialWith(fromEnv, inHeader), "credential = credential.llm", "scheme = \"http\"\ncredential = credential.llm", 1), only("error: a credential on a cleartext scheme")},
		{"pinned in clear", grantWith(`scheme = "http"`, `credential = pinned("sha256:`+strings.Repeat("0a", 32)+`")`), only("error: a credential on a cleartext scheme")},
		{"pinned to nothing", grantWith(`credential = pinned()`), only("error: pinned takes one hash")},
		{"pinned to a secret", grantWith(`credential = pinned("sk-0123")`), only("error: not a hash")},
		{"issued to nobody", grantWith(allowWith("issues { fields = [\"token\"] }")), only(`error: what grant "g" hands out is of no use`)},
		{"issued to a wildcard", grantWith("credential = issued", allowWith("issues {\nfields = [\"token\"]\nto = [\"*.example.com\"]\n}")), []string{"error: credentials are handed out for a wildcard"}},
		{"issues nothing", grantWith("credential = issued", allowWith("issues {}")), only("error: the issues block hands out nothing")},
		{"headers beside nothing", grantWith("credential = issued", allowWith("issues {\nfields = [\"token\"]\nheaders = [\"header\"]\n}")), only("error: headers without links")},
		{"two issues blocks", grantWith("credential = issued", allowWith("issues { fields = [\"a\"] }\nissues { fields = [\"b\"] }")), only("error: a second issues block")},
		{"issues beside allow blocks", grantWith("issues { fields = [\"a\"] }"), only("error: unsupported block type")},
		{"issued in clear", grantWith(`scheme = "http"`, "credential = issued", allowWith("issues { fields = [\"a\"] }")), only("error: a credential on a cleartext scheme")},
		{"foreign", grantWith(`foreign = keep`), only("error: not a way to treat a foreign credential")},
		{"preset in clear", "version = 1\ncredential \"c\" {\n" + fromEnv + "\n" + inHeader + "\n}\nuse \"git\" {\n url = \"http://git.example.com\"\n repositories = [\"a/b\"]\n credential = credential.c\n}", only("error: a credential on a cleartext scheme")},
	} {
		t.Run(c.name, func(t *testing.T) {
			file, diags := Parse("policy.hcl", []byte(c.policy), Options{Now: testTime})
			matchDiagnostics(t, diags, c.want)
			var shown strings.Builder
			if err := diags.Write(&shown, false, 0); err != nil || strings.Contains(shown.String(), "sk-0123") {
				t.Errorf("%v: %s", err, shown.String())
			}
			if len(file.Policy.Grants()) > 0 || len(file.Credentials) > 0 {
				t.Error("a policy with a mistake grants something")
			}
			if t.Failed() {
				t.Log(c.policy)
			}
		})
	}
}

// TestPresetCredential: it goes to the preset's own host and to none of its others.
func TestPresetCredential(t *testing.T) {
	policy := "version = 1\ncredential \"c\" {\n" + fromEnv + "\n" + inHeader + "\n}\n" +
		"use \"go\" {\n proxy = \"https://go.example.com\"\n sumdb = \"sum.example.com\"\n sumdb_url = \"https://sum.example.com\"\n credential = credential.c\n}"
	file, diags := Parse("policy.hcl", []byte(policy), Options{Now: testTime})
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, g := range file.Policy.Grants() {
		got[g.Host.String()] = g.Credential.String()
	}
	if diff := cmp.Diff(map[string]string{"go.example.com": "credential.c", "sum.example.com": "anonymous"}, got); diff != "" {
		t.Error(diff)
	}
	if i := slices.IndexFunc(diags, func(d Diagnostic) bool { return strings.Contains(d.Summary, "no grant binds") }); i >= 0 {
		t.Error(diags[i])
	}
}

// TestIssuesRoundTrip: what Print writes loads to the same.
func TestIssuesRoundTrip(t *testing.T) {
	policy := grantWith("credential = issued", allowWith("issues {\nfields = [\"token\"]\ncookies = [\"s\"]\nlinks = [\"href\"]\nheaders = [\"header\"]\nto = [\"api.example.com\"]\n}"))
	first := load(t, policy, Options{}).Policy.Grants()
	text := Print(first)
	second := load(t, "version = 1\n"+string(text), Options{}).Policy.Grants()
	want := &capability.IssueRule{Fields: []string{"token"}, Cookies: []string{"s"}, Links: []string{"href"}, Headers: []string{"header"}, To: []capability.Host{"api.example.com"}}
	for _, g := range append(first, second...) {
		got := *g.Allows[0].Issues
		got.Position = capability.Position{}
		if diff := cmp.Diff(want, &got); diff != "" || g.Credential.Mode != capability.HandedOut {
			t.Errorf("%s\n%s", diff, text)
		}
	}
}

// TestForeignStripRoundTrip: what Print writes loads to the same.
func TestForeignStripRoundTrip(t *testing.T) {
	policy := grantWith("foreign = strip", `credential = pinned("sha256:`+strings.Repeat("0a", 32)+`")`)
	first := load(t, policy, Options{}).Policy.Grants()
	second := load(t, "version = 1\n"+string(Print(first)), Options{}).Policy.Grants()
	if first[0].Credential != second[0].Credential || !second[0].Credential.Strip {
		t.Errorf("%+v became %+v", first[0].Credential, second[0].Credential)
	}
}

// TestCommandIsHashed: a script beside the policy decides what runs outside; who accepts
// the policy accepts the script.
func TestCommandIsHashed(t *testing.T) {
	files := map[string]string{"folder/broker": "one", "folder/lib.py": "lib", "/usr/bin/broker": "absolute"}
	read := func(path string) ([]byte, error) {
		if text, ok := files[path]; ok {
			return []byte(text), nil
		}
		return nil, errors.New("no such file")
	}
	hash := func(command string) (string, []string) {
		t.Helper()
		file, diags := Parse("folder/policy.hcl", []byte(credentialWith("source { exec = "+command+" }", inHeader)), Options{Now: testTime, ReadFile: read})
		if err := diags.Err(); err != nil {
			t.Fatal(err)
		}
		return file.Hash, file.Files
	}
	for command, want := range map[string][]string{
		`["./broker", "get"]`: {"folder/broker"}, `["python3", "lib.py"]`: {"folder/lib.py"}, `["broker", "get"]`: nil, `["/usr/bin/broker"]`: nil, `["vault", "secret/x"]`: nil,
	} {
		before, named := hash(command)
		if diff := cmp.Diff(want, named); diff != "" {
			t.Errorf("%s names other files: %s", command, diff)
		}
		for name := range files {
			files[name] += "!"
		}
		if after, _ := hash(command); (after == before) != (want == nil) {
			t.Errorf("%s: the hash %s became %s", command, before, after)
		}
	}
}
