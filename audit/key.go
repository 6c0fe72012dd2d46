package audit

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/sys/unix"
)

// Names in the installation's folder.
const (
	keyFile    = "audit.key"
	publicFile = "audit.key.pub"
)

// maxKey is the size in bytes of the largest key file that is read.
const maxKey = 64 << 10

// ErrNoKey is wrapped by the error about an installation that has no key yet.
var ErrNoKey = errors.New("this installation has no key to sign its logs with")

// LostKeyError is about logs whose key is gone. A new key beside them would hide that.
type LostKeyError struct {
	Dir string // of the logs, or of the installation's own record of them
}

// Error says what is there and what is not.
func (e *LostKeyError) Error() string {
	return fmt.Sprintf("there are logs under %s, and the key that signs them is gone", Printable(e.Dir))
}

// Hint is the command that makes a new key.
func (e *LostKeyError) Hint() string {
	return "restore the key, or `scupper audit key --new` makes another; the old logs verify with the old public key only"
}

// Key signs the heads of an installation's logs. Ed25519 computes tables when it is first
// used, which takes a millisecond of a start: that is put off until something is signed.
type Key struct {
	name, number string
	signer       func() (note.Signer, error)
}

// OpenKey reads the key of the installation whose folder is state.
func OpenKey(state string) (*Key, error) {
	path := filepath.Join(state, keyFile)
	text, err := readSmall(path, maxKey)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open the key of the audit log: %w", ErrNoKey)
	}
	if err != nil {
		return nil, fmt.Errorf("open the key of the audit log: %w", err)
	}
	damaged := fmt.Errorf("the key %s is damaged", Printable(path)) // which says nothing of what is in it
	parts := strings.SplitN(strings.TrimSpace(string(text)), "+", 5)
	if len(parts) != 5 || parts[0] != "PRIVATE" || parts[1] != "KEY" {
		return nil, damaged
	}
	return &Key{name: parts[2], number: parts[3], signer: sync.OnceValues(func() (note.Signer, error) {
		signer, err := note.NewSigner(strings.Join(parts, "+"))
		if err != nil {
			return nil, damaged
		}
		return signer, nil
	})}, nil
}

// EnsureKey makes the installation's first key, unless there are logs already, and
// returns its public part; it is empty when there was a key. dir is where the logs of
// the next run go.
func EnsureKey(state, dir string) (public string, err error) {
	if _, err := os.Stat(filepath.Join(state, keyFile)); err == nil {
		return "", nil
	}
	runs, err := Runs(dir)
	if err != nil {
		return "", err
	}
	if len(runs) > 0 {
		return "", &LostKeyError{Dir: dir}
	}
	if _, err := os.Stat(filepath.Join(state, headsFolder)); err == nil {
		return "", &LostKeyError{Dir: filepath.Join(state, headsFolder)}
	}
	return MakeKey(state, false)
}

// MakeKey makes a key for the installation and returns its public part. Only with
// another may there be one already: that is kept aside, and its public part stays
// known. Of two at once one makes the key, and both get its public part.
func MakeKey(state string, another bool) (public string, err error) {
	unlock, err := lockFolder(state)
	if err != nil {
		return "", fmt.Errorf("make the key of the audit log: %w", err)
	}
	defer unlock()
	known, err := PublicKeys(state)
	if err != nil {
		return "", err
	}
	path := filepath.Join(state, keyFile)
	if _, err := os.Stat(path); err == nil {
		if !another && len(known) > 0 {
			return known[0], nil
		}
		if err := setAside(path); err != nil {
			return "", err
		}
	}
	private, public, err := note.GenerateKey(rand.Reader, "scupper-"+strings.ToLower(rand.Text()[:8]))
	if err != nil {
		return "", fmt.Errorf("make the key of the audit log: %w", err)
	}
	// The public part first: a key whose signatures nobody can check would be of no use.
	all := strings.Join(append([]string{public}, known...), "\n") + "\n"
	if err := replaceFile(filepath.Join(state, publicFile), []byte(all), 0o644); err != nil {
		return "", fmt.Errorf("make the key of the audit log: %w", err)
	}
	if err := replaceFile(path, []byte(private+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("make the key of the audit log: %w", err)
	}
	return public, nil
}

// setAside keeps an old key under a name that is not taken.
func setAside(path string) error {
	for i := 1; ; i++ {
		err := os.Link(path, fmt.Sprintf("%s.old-%d", path, i))
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("keep the old key: %w", err)
		}
		return nil
	}
}

// PublicKeys are the public parts of the installation's keys, the newest first. Each is
// one word, as package note writes it: name, number and key.
func PublicKeys(state string) ([]string, error) {
	return ReadPublicKeys(filepath.Join(state, publicFile))
}

// ReadPublicKeys reads a file of public keys, one on a line. No file is no keys.
func ReadPublicKeys(path string) ([]string, error) {
	text, err := readSmall(path, maxKey)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read public keys: %w", err)
	}
	keys := strings.Fields(string(text))
	if _, err := verifiers(keys); err != nil {
		return nil, fmt.Errorf("read public keys from %s: %w", Printable(path), err)
	}
	return keys, nil
}

func verifiers(keys []string) (note.Verifiers, error) {
	list := make([]note.Verifier, len(keys))
	for i, k := range keys {
		v, err := note.NewVerifier(k)
		if err != nil {
			return nil, fmt.Errorf("%s is not a public key", Printable(capped(k, maxName)))
		}
		list[i] = v
	}
	return note.VerifierList(list...), nil
}

// lockFolder makes the folder and holds its lock until unlock.
func lockFolder(path string) (unlock func(), err error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	d, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(d.Fd()), unix.LOCK_EX); err != nil {
		d.Close()
		return nil, fmt.Errorf("lock %s: %w", Printable(path), err)
	}
	return func() { d.Close() }, nil
}

// replaceFile puts a file with that content in the place of path at once.
func replaceFile(path string, content []byte, mode fs.FileMode) error {
	temporary := path + ".new"
	if err := os.WriteFile(temporary, content, mode); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}

// readSmall reads a file of at most limit bytes.
func readSmall(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > limit {
		return nil, fmt.Errorf("%s is not a regular file of at most %d bytes", Printable(path), limit)
	}
	return os.ReadFile(path)
}
