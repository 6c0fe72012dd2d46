package policyfile

import (
	"strings"
	"testing"
)

// TestProxyPassword: CRED-17, a password in the text of a policy is a mistake that is
// reported without it, whatever else is wrong with the line.
func TestProxyPassword(t *testing.T) {
	for name, policy := range map[string]string{
		"in the URL":           "upstream {\n proxy = \"http://me:s3cr3t@proxy.example.com:3128\"\n}",
		"twice":                "upstream {\n proxy = \"http://me:s3cr3t@x@proxy.example.com:3128\"\n}",
		"another mistake":      "upstream {\n prxy = \"http://me:s3cr3t@proxy.example.com:3128\"\n}",
		"no end of the string": "upstream {\n proxy = \"http://me:s3cr3t@proxy.example.com:3128\n}",
		"no end of the block":  "upstream { proxy = \"http://me:s3cr3t@proxy.example.com:3128\"",
		"a template":           "upstream {\n proxy = \"http://me:s3cr3t@${HOST}:3128\"\n}",
		"as a variable's name": "upstream {\n proxy = \"http://proxy.example.com:3128\"\n proxy_credential {\n user = \"me\"\n password_env = \"s3cr3t!\"\n }\n}",
		"with the user":        "upstream {\n proxy = \"http://proxy.example.com:3128\"\n proxy_credential {\n user = \"me:s3cr3t\"\n password_env = \"P\"\n }\n}",
	} {
		t.Run(name, func(t *testing.T) {
			file, diags := Parse("policy.hcl", []byte("version = 1\n"+policy+"\n"), Options{Now: testTime})
			var shown strings.Builder
			if err := diags.Write(&shown, true, 80); err != nil {
				t.Fatal(err)
			}
			if !diags.HasErrors() || file.Upstream.Proxy != nil {
				t.Errorf("it loads: %+v", file.Upstream)
			}
			if text := shown.String() + diags.Error(); strings.Contains(text, "s3cr3t") {
				t.Errorf("it is shown: %s", text)
			}
		})
	}
}

func TestProxyCredential(t *testing.T) {
	file := load(t, "version = 1\nupstream {\n proxy = \"http://[2001:db8::9]:3128/\"\n proxy_credential {\n  user = \"build\"\n  password_file = \"../secret\"\n }\n}\n", Options{Now: testTime})
	got := *file.Upstream.Proxy
	if want := (Proxy{Host: "2001:db8::9", Port: 3128, User: "build", PasswordFile: "../secret"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if len(file.Files) > 0 {
		t.Errorf("the sandbox would see %q", file.Files)
	}
}
