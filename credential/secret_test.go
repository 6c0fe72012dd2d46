package credential

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"strings"
	"testing"
	"text/template"

	"scupper.dev/scupper/capability"
)

const value = "sk-real-0123456789abcdef"

// TestSecretDoesNotPrint: CRED-07, in every verb and encoding, alone and inside others.
func TestSecretDoesNotPrint(t *testing.T) {
	secret := NewSecret("llm", value)
	inside := struct {
		S    Secret
		P    *Secret
		List []Secret
		Map  map[string]Secret
		Any  any
		own  Secret
		held *held
	}{secret, &secret, []Secret{secret}, map[string]Secret{"k": secret}, secret, secret, &held{history: []Secret{secret}}}
	var out bytes.Buffer
	for _, verb := range "vsqxXdtbcoOUeEfFgGp" {
		for _, flags := range []string{"", "+", "#", "-40", " ", "010.3"} {
			fmt.Fprintf(&out, "%"+flags+string(verb)+"\n", secret)
			fmt.Fprintf(&out, "%"+flags+string(verb)+"\n", inside)
		}
	}
	fmt.Fprintln(&out, secret, &secret, inside, errors.Join(fmt.Errorf("wrapped: %v", secret)))
	for _, encode := range []func(any) error{json.NewEncoder(&out).Encode, xml.NewEncoder(&out).Encode, gob.NewEncoder(&out).Encode} {
		if err := encode(secret); err != nil {
			t.Fatal(err)
		}
	}
	if err := json.NewEncoder(&out).Encode(inside); err != nil {
		t.Fatal(err)
	}
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "secret", secret, "inside", inside)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "secret", secret, "inside", inside)
	log.New(&out, "", 0).Print(secret, inside)
	if err := template.Must(template.New("").Parse("{{.}} {{.String}}")).Execute(&out, secret); err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() { fmt.Fprintf(&out, "%v %#v", recover(), secret) }()
		panic(secret)
	}()
	if text := strings.ToLower(out.String()); strings.Contains(text, "real") || strings.Contains(text, "736b2d") || strings.Contains(text, "c2sto") {
		t.Errorf("a piece of the secret was printed:\n%s", out.String())
	}
	if !strings.Contains(out.String(), "[secret llm]") || secret.Reveal() != value || secret.Name() != "llm" {
		t.Error("the name does not print, or the value is not there")
	}
}

func TestPlaceholderShape(t *testing.T) {
	random := bytes.NewReader(bytes.Repeat([]byte{3, 77, 150, 201, 9, 42}, 4096))
	for _, c := range []struct{ secret, prefix string }{
		{value, "sk-"}, {"ghp_0123456789abcdefABCDEF0123456789abcd", "ghp_"}, {"sk-ant-api03-abcdefghijABCDEFGHIJ0123456789-xyz", "sk-ant-api03-"},
		{"123e4567-e89b-12d3-a456-426614174000", ""}, {"correct-horse-battery-staple", ""}, {"s3cr3t", ""}, {"4111111111111111", ""},
	} {
		got, err := placeholder(c.secret, random)
		if err != nil {
			t.Fatal(err)
		}
		rest := strings.TrimPrefix(got, c.prefix)
		if !strings.HasPrefix(got, c.prefix) || len(got) != max(len(c.secret), minRandom) || strings.ContainsAny(rest, " \"'\\:") {
			t.Errorf("%q became %q", c.secret, got)
		}
		for i := 0; i+fragment <= len(rest); i++ {
			if strings.Contains(c.secret, rest[i:i+fragment]) {
				t.Errorf("the placeholder %q has a piece of %q", got, c.secret)
			}
		}
		for i := range len(c.secret) {
			if isSeparator(c.secret[i]) != isSeparator(got[i]) && len(c.secret) >= minRandom {
				t.Errorf("%q has other separators than %q", got, c.secret)
			}
		}
	}
}

// TestPlaceholdersDiffer: from run to run.
func TestPlaceholdersDiffer(t *testing.T) {
	seen := make(map[string]bool)
	for range 100 {
		set := open(t, Spec{Name: "llm", Source: Source{Env: "LLM"}, Place: header, Expose: "LLM_KEY"})
		seen[set.Placeholders()["llm"]] = true
		if env := set.Environment(); len(env) != 1 || env[0] != "LLM_KEY="+set.Placeholders()["llm"] {
			t.Fatalf("%q", env)
		}
	}
	if len(seen) != 100 {
		t.Errorf("%d different placeholders of 100", len(seen))
	}
}

var header = capability.Place{In: capability.InHeader, Name: "X-Api-Key"}

// open opens credentials whose variables all hold value.
func open(t testing.TB, specs ...Spec) *Set {
	t.Helper()
	set, err := Open(t.Context(), specs, Options{LookupEnv: func(string) string { return value }})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestConceal(t *testing.T) {
	set := open(t, Spec{Name: "llm", Source: Source{Env: "LLM"}, Place: header})
	for text, want := range map[string]string{
		"curl":                             "curl",
		"-H x-api-key:" + value:            "-H x-api-key:[secret llm]",
		"grep sk-real .":                   "grep [secret llm] .",
		"abcdef " + value + value + " end": "[secret llm] [secret llm][secret llm] end",
		"sk-re":                            "sk-re",
	} {
		if got := set.Conceal(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
