package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// fingerprintFile, in the state directory, keys the fingerprints of foreign credentials,
// so that those of all runs of one installation can be compared.
const fingerprintFile = "fingerprint.key"

const fingerprintKey = 32 // bytes

var (
	errOpenKey = errors.New("others than its owner can read or write it")
	errNoKey   = fmt.Errorf("it is no regular file of %d bytes", fingerprintKey)
)

// fingerprints reads the key of the installation, or makes it. It is not synced: a key
// that a crash takes away makes later fingerprints different, and nothing worse.
func fingerprints(state string) ([]byte, error) {
	path := filepath.Join(state, fingerprintFile)
	key, err := readKey(path)
	if errors.Is(err, fs.ErrNotExist) {
		key, err = makeKey(state, path)
	}
	if err != nil {
		return nil, &exitError{
			code: exitEnvironment, err: fmt.Errorf("key of fingerprints %q: %w", path, err),
			hint: "move it away, and the next run makes another; fingerprints from before cannot be compared with those after",
		}
	}
	return key, nil
}

func readKey(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, cause(err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, cause(err)
	case !info.Mode().IsRegular() || info.Size() != fingerprintKey:
		return nil, errNoKey
	case info.Mode().Perm()&0o077 != 0:
		return nil, errOpenKey
	}
	key := make([]byte, fingerprintKey)
	_, err = io.ReadFull(f, key)
	return key, cause(err)
}

// makeKey writes the key beside its place and links it there whole. Of two runs that do
// so at once both use what the first has linked.
func makeKey(state, path string) ([]byte, error) {
	if err := os.MkdirAll(state, 0o700); err != nil {
		return nil, cause(err)
	}
	f, err := os.CreateTemp(state, fingerprintFile+"-") // with mode 0600
	if err != nil {
		return nil, cause(err)
	}
	defer os.Remove(f.Name())
	key := make([]byte, fingerprintKey)
	_, _ = rand.Read(key) // never fails
	_, err = f.Write(key)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, cause(err)
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, cause(err)
	}
	return readKey(path)
}

// cause is err without the path, which the caller names.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
