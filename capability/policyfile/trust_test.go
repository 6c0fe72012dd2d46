package policyfile

import (
	"os"
	"path/filepath"
	"testing"
)

func TestTrust(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	path := filepath.Join(t.TempDir(), "policy.hcl")
	if err := os.WriteFile(path, []byte("version = 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if Trusted(state, path, "aa") {
		t.Fatal("trusted before anyone said so")
	}
	if err := Trust(state, path, "aa"); err != nil {
		t.Fatal(err)
	}
	if !Trusted(state, path, "aa") {
		t.Fatal("control: not trusted after Trust")
	}
	t.Run("SBX-10 another text", func(t *testing.T) {
		if Trusted(state, path, "bb") {
			t.Error("trusted")
		}
	})
	t.Run("SBX-10 the same text elsewhere", func(t *testing.T) {
		if Trusted(state, filepath.Join(t.TempDir(), "policy.hcl"), "aa") {
			t.Error("trusted")
		}
	})
	t.Run("a store that others can write", func(t *testing.T) {
		if err := os.Chmod(filepath.Join(state, "trust"), 0o777); err != nil {
			t.Fatal(err)
		}
		if Trusted(state, path, "aa") {
			t.Error("trusted")
		}
		if err := os.Chmod(filepath.Join(state, "trust"), 0o700); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("a link to it is it", func(t *testing.T) {
		link := filepath.Join(t.TempDir(), "link.hcl")
		if err := os.Symlink(path, link); err != nil {
			t.Fatal(err)
		}
		if !Trusted(state, link, "aa") {
			t.Error("not trusted")
		}
	})
	if err := Trust(state, path, "bb"); err != nil {
		t.Fatal(err)
	}
	if n, err := Distrust(state, path); n != 2 || err != nil {
		t.Errorf("got %d, %v, want 2 forgotten", n, err)
	}
	if Trusted(state, path, "aa") || Trusted(state, path, "bb") {
		t.Error("trusted after Distrust")
	}
}
