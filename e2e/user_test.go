package e2e

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// user is whom scupper runs as.
type user struct {
	name     string
	uid, gid int
}

// madeUp is a user id that this machine need not know.
const madeUp = 54321

// ordinaryUser is a user without privileges: one that root makes up, else whoever
// runs the tests.
func ordinaryUser(t *testing.T) user {
	t.Helper()
	if os.Geteuid() == 0 {
		return user{"ordinary", madeUp, madeUp}
	}
	return user{"ordinary", os.Geteuid(), os.Getegid()}
}

// users are all users that these tests can run scupper as.
func users(t *testing.T) []user {
	t.Helper()
	if os.Geteuid() == 0 {
		return []user{ordinaryUser(t), {name: "root"}}
	}
	return []user{ordinaryUser(t)}
}

// attributes start a process as u that does not outlive the tests.
func (u user) attributes() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() == 0 && u.uid != 0 {
		attr.Credential = &syscall.Credential{Uid: uint32(u.uid), Gid: uint32(u.gid)}
	}
	return attr
}

// path is where u finds programs. A made-up user must not depend on root's own.
func (u user) path() string {
	if os.Geteuid() == 0 {
		return "/usr/local/bin:/usr/bin:/bin"
	}
	return os.Getenv("PATH")
}

// folder makes a folder with the named sub-folders, all of them u's and open to
// nobody else, outside every home. It is removed when the test ends.
func (u user) folder(t *testing.T, subs ...string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "scupper-world-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	u.own(t, dir)
	for _, sub := range subs {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
		u.own(t, filepath.Join(dir, sub))
	}
	return dir
}

// file writes a file that is u's and returns its path.
func (u user) file(t *testing.T, path string, content []byte) string {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	u.own(t, path)
	return path
}

func (u user) own(t *testing.T, path string) {
	t.Helper()
	if err := os.Lchown(path, u.uid, u.gid); err != nil {
		t.Fatal(err)
	}
}
