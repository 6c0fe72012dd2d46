package policyfile

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestHostileText: texts that would exhaust a recursive reader are refused.
func TestHostileText(t *testing.T) {
	const most = maxPolicy / 8
	for name, text := range map[string]string{
		"round brackets":  "version = " + strings.Repeat("(", most),
		"square brackets": "version = " + strings.Repeat("[", most),
		"braces":          "version = " + strings.Repeat("{a=", most/3),
		"blocks":          strings.Repeat("a{\n", most/3),
		"calls":           "version = " + strings.Repeat("a(", most/2),
		"minus":           "version = (" + strings.Repeat("-\n", most/2),
		"not":             "version = (" + strings.Repeat("!\n", most/2),
		"conditions":      "version = (" + strings.Repeat("a?b:\n", most/5),
		"templates":       "version = \"" + strings.Repeat(`${"`, most/3),
		"directives":      "version = \"" + strings.Repeat("%{if a}", most/7),
		"indices":         "version = a" + strings.Repeat("[a", most/2),
		"loops":           "version = " + strings.Repeat("[for a in ", most/10),
		"comment":         "version = " + strings.Repeat("(/*)*/", most/6),
		"size":            strings.Repeat("\n", maxPolicy+1),
	} {
		file, diags := Parse("policy.hcl", []byte(text), Options{})
		if len(diags) != 1 || !strings.Contains(diags[0].Summary, "without end") && name != "size" || len(file.Policy.Grants()) > 0 {
			t.Errorf("%s: got %d diagnostics, the first %.200v", name, len(diags), diags[0])
		}
	}
}

// TestWideText: much of the same is slow at most, and told in full.
func TestWideText(t *testing.T) {
	text := "version = 1\n" + strings.Repeat("x {\n}\n", 5000)
	if _, diags := Parse("policy.hcl", []byte(text), Options{}); len(diags) != 5000 {
		t.Errorf("got %d diagnostics, want 5000", len(diags))
	}
}

// TestLoadReadsRegularFiles: a pipe or a device in the place of a policy or of a file
// that it names does not hold the reader up.
func TestLoadReadsRegularFiles(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	policy := filepath.Join(dir, "policy.hcl")
	if err := os.WriteFile(policy, []byte("version = 1\nupstream {\n  ca = \"pipe\"\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, policy, "/dev/zero", dir, filepath.Join(dir, "absent")} {
		file, diags := Load(path)
		if !diags.HasErrors() || file == nil || len(file.Policy.Grants()) > 0 {
			t.Errorf("%s: got %v", path, diags)
		}
	}
	if err := os.WriteFile(policy, []byte("version = 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if file, diags := Load(policy); len(diags) > 0 || file.Name != policy || string(file.Text) != "version = 1\n" {
		t.Errorf("control: got %v", diags)
	}
}
