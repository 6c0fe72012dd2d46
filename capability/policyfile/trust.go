package policyfile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// A policy that lies in a folder came with the folder. Before it is used without being
// named, the operator accepts it: this text, at this path. Each acceptance is a file
// under the state directory, which no sandbox sees.

// Trust records that the policy at path with this File.Hash was accepted.
func Trust(stateDir, path, hash string) error {
	dir := trustDir(stateDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("record trust: %w", err)
	}
	name, text := trustEntry(dir, path, hash)
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		return fmt.Errorf("record trust: %w", err)
	}
	return nil
}

// Trusted reports whether the policy at path with this hash was accepted. What cannot
// be read, or could have been written by another user, was not.
func Trusted(stateDir, path, hash string) bool {
	dir := trustDir(stateDir)
	name, want := trustEntry(dir, path, hash)
	if !ours(dir) || !ours(name) {
		return false
	}
	got, err := readFile(name, int64(len(want)))
	return err == nil && string(got) == want
}

// Distrust forgets every acceptance of the policy at path, and says how many there
// were.
func Distrust(stateDir, path string) (int, error) {
	dir := trustDir(stateDir)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("revoke trust: %w", err)
	}
	n := 0
	for _, e := range entries {
		text, err := readFile(filepath.Join(dir, e.Name()), 1<<16)
		if _, of, _ := strings.Cut(strings.TrimSuffix(string(text), "\n"), "  "); err != nil || of != resolved(path) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			return n, fmt.Errorf("revoke trust: %w", err)
		}
		n++
	}
	return n, nil
}

func trustDir(stateDir string) string { return filepath.Join(stateDir, "trust") }

// trustEntry is the file of one acceptance and what stands in it, as sha256sum prints.
func trustEntry(dir, path, hash string) (name, text string) {
	text = hash + "  " + resolved(path) + "\n"
	sum := sha256.Sum256([]byte(text))
	return filepath.Join(dir, hex.EncodeToString(sum[:])), text
}

// resolved is path in the one form under which it is remembered.
func resolved(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return path
}

// ours reports whether nobody but this user can write name.
func ours(name string) bool {
	info, err := os.Lstat(name)
	if err != nil || info.Mode()&fs.ModeSymlink != 0 || info.Mode().Perm()&0o022 != 0 {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
