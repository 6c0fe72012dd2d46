package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// TestFingerprintKey: one for an installation, whole and its owner's alone.
func TestFingerprintKey(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state", "scupper")
	var keys [16][]byte
	var all sync.WaitGroup
	for i := range keys {
		all.Go(func() {
			var err error
			if keys[i], err = fingerprints(state); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, key := range keys {
		if len(key) != fingerprintKey || !bytes.Equal(key, keys[0]) || bytes.Equal(key, make([]byte, fingerprintKey)) {
			t.Fatalf("got %x and %x", keys[0], key)
		}
	}
	path := filepath.Join(state, fingerprintFile)
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if left, _ := os.ReadDir(state); len(left) != 1 {
		t.Errorf("%d files in the state directory", len(left))
	}
	if other, err := fingerprints(t.TempDir()); err != nil || bytes.Equal(other, keys[0]) {
		t.Errorf("another installation has %x, %v", other, err)
	}
}

// TestBadFingerprintKey: a key that others may know, or none, is an error with the path.
func TestBadFingerprintKey(t *testing.T) {
	for name, c := range map[string]struct {
		make func(path string) error
		want error
	}{
		"short":          {func(path string) error { return os.WriteFile(path, []byte("short"), 0o600) }, errNoKey},
		"empty":          {func(path string) error { return os.WriteFile(path, nil, 0o600) }, errNoKey},
		"open to others": {func(path string) error { return os.WriteFile(path, make([]byte, fingerprintKey), 0o644) }, errOpenKey},
		"a directory":    {func(path string) error { return os.Mkdir(path, 0o700) }, errNoKey},
		"a link": {func(path string) error {
			return errors.Join(os.WriteFile(path+"2", make([]byte, fingerprintKey), 0o600), os.Symlink(path+"2", path))
		}, nil},
	} {
		state := t.TempDir()
		if err := c.make(filepath.Join(state, fingerprintFile)); err != nil {
			t.Fatal(err)
		}
		var known *exitError
		if key, err := fingerprints(state); err == nil || key != nil || c.want != nil && !errors.Is(err, c.want) || !errors.As(err, &known) || known.code != exitEnvironment {
			t.Errorf("%s: got %x, %v", name, key, err)
		}
	}
}
