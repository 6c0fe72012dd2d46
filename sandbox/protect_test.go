package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// git runs git on the host, in the work folder.
func (r *room) git(args ...string) {
	r.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
	cmd.Dir = r.config.Workdir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + r.t.TempDir()}
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("git %v: %v: %s", args, err, out)
	}
}

func TestWhatDecidesIsNotWritable(t *testing.T) {
	r := newRoom(t)
	r.git("init", "-q")
	r.write("policy.hcl", "version = 1\n")
	r.write("sub/deep/lock.json", "{}")
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "first")
	r.config.Protect = []string{r.path("policy.hcl"), r.path("sub/deep/lock.json"), r.path("absent.hcl"), r.path("new/dir/absent.json")}
	got := r.attempts(`
W=lambda p:open(p,"w").close()
attempt("control",lambda:W("free.txt"))
attempt("control in a pinned directory",lambda:W("sub/deep/other"))
attempt("write",lambda:W("policy.hcl"))
attempt("unlink",lambda:os.unlink("policy.hcl"))
attempt("rename over",lambda:os.rename("free.txt","policy.hcl"))
attempt("rename away",lambda:os.rename("policy.hcl","old.hcl"))
attempt("exchange",lambda:sys_(316,-100,b"free.txt",-100,b"policy.hcl",2))
attempt("hard link",lambda:os.link("policy.hcl","link.hcl"))
attempt("chmod",lambda:os.chmod("policy.hcl",0o777))
attempt("deep write",lambda:W("sub/deep/lock.json"))
attempt("rename parent",lambda:os.rename("sub/deep","sub/x"))
attempt("rename grandparent",lambda:os.rename("sub","x"))
attempt("SBX-15 absent",lambda:W("absent.hcl"))
attempt("SBX-15 absent unlink",lambda:os.unlink("absent.hcl"))
attempt("SBX-15 absent below",lambda:os.makedirs("new/dir"))
attempt("SBX-15 absent parent",lambda:os.rename("new","x"))
attempt("SBX-11 hook",lambda:W(".git/hooks/pre-commit"))
attempt("SBX-11 config",lambda:W(".git/config"))
attempt("SBX-11 rename config",lambda:os.rename("free.txt",".git/config"))
attempt("SBX-11 git dir",lambda:os.rename(".git","x"))
attempt("SBX-11 worktree config",lambda:W(".git/config.worktree"))
attempt("SBX-11 commondir",lambda:W(".git/commondir"))
import subprocess
def git(*a): return subprocess.run(["git","-c","user.name=a","-c","user.email=a@example.com",*a],stdout=2).returncode
attempt("git config",lambda:git("config","core.fsmonitor","evil")!=0)
attempt("git add",lambda:git("add","free.txt"))
attempt("git commit",lambda:git("commit","-q","-m","inside"))
attempt("git branch",lambda:git("checkout","-q","-b","other"))
attempt("git stash",lambda:git("log","--oneline"))
`)
	r.want(got, map[string]string{"control": "ok", "control in a pinned directory": "ok",
		"write": "EROFS", "unlink": "EBUSY", "rename over": "EBUSY", "rename away": "EBUSY", "exchange": "EBUSY", "hard link": "EXDEV", "chmod": "EROFS",
		"deep write": "EROFS", "rename parent": "EBUSY", "rename grandparent": "EBUSY",
		"SBX-15 absent": "EROFS", "SBX-15 absent unlink": "EBUSY", "SBX-15 absent below": "EROFS", "SBX-15 absent parent": "EBUSY",
		"SBX-11 hook": "EROFS", "SBX-11 config": "EROFS", "SBX-11 rename config": "EXDEV", "SBX-11 git dir": "EBUSY", "SBX-11 worktree config": "EROFS",
		"SBX-11 commondir": "EROFS", "git config": "True", "git add": "0", "git commit": "0", "git branch": "0", "git stash": "0"})
	for _, left := range []string{"absent.hcl", "new", ".git/commondir", ".git/config.worktree"} {
		if exists(r.path(left)) {
			t.Errorf("placeholder %s is left", left)
		}
	}
	r.git("fsck")
	r.git("status")
}

func TestFilesBelongToTheFoldersOwner(t *testing.T) {
	r := newRoom(t)
	readOnly := filepath.Join(filepath.Dir(r.config.Workdir), "private")
	if err := os.Mkdir(readOnly, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(readOnly+"/file", []byte("read me"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.config.RO = []string{readOnly}
	got := r.attempts(`
attempt("write",lambda:open("made","w").close())
attempt("mkdir",lambda:os.mkdir("dir"))
attempt("owner",lambda:(os.stat("made").st_uid,os.stat(".").st_uid))
attempt("read",lambda:open("` + readOnly + `/file").read())
attempt("write read-only",lambda:open("` + readOnly + `/file","w"))
attempt("shadow",lambda:open("/etc/shadow").read())
`)
	r.want(got, map[string]string{"write": "ok", "mkdir": "ok", "owner": "(1000, 1000)", "read": "read me", "write read-only": "EROFS", "shadow": "EACCES"})
	for _, name := range []string{"made", "dir"} {
		info, err := os.Stat(r.path(name))
		if err != nil {
			t.Fatal(err)
		}
		if st := info.Sys().(*syscall.Stat_t); int(st.Uid) != os.Geteuid() || int(st.Gid) != os.Getegid() {
			t.Errorf("%s belongs to %d:%d on disk, want %d:%d", name, st.Uid, st.Gid, os.Geteuid(), os.Getegid())
		}
	}
}

func TestAbsentRepository(t *testing.T) {
	r := newRoom(t)
	got := r.attempts(`
attempt("SBX-15 init",lambda:os.mkdir(".git/hooks"))
attempt("move",lambda:os.rename(".git","x"))
attempt("rmdir",lambda:os.rmdir(".git"))
`)
	r.want(got, map[string]string{"SBX-15 init": "EROFS", "move": "EBUSY", "rmdir": "EBUSY"})
	if exists(r.path(".git")) {
		t.Error(".git is left")
	}
}

func TestWorkTreeOfAnotherRepository(t *testing.T) {
	r := newRoom(t)
	r.write("real/hooks/x", "")
	r.write("real/config", "")
	r.write(".git", "gitdir: real\n")
	got := r.attempts(`
W=lambda p:open(p,"w").close()
attempt("pointer",lambda:W(".git"))
attempt("config",lambda:W("real/config"))
attempt("hooks",lambda:W("real/hooks/x"))
attempt("rename",lambda:os.rename("real","x"))
`)
	r.want(got, map[string]string{"pointer": "EROFS", "config": "EROFS", "hooks": "EROFS", "rename": "EBUSY"})
}

// refused prepares a cage that must not come to be, and checks what is said.
func (r *room) refused(code int, says, hint string) {
	r.t.Helper()
	if r.config.Command == nil {
		r.config.Command = []string{"true"}
	}
	cage, err := Prepare(r.t.Context(), r.config)
	if err == nil {
		cage.Close()
		r.t.Fatal("accepted")
	}
	var known *Error
	if !errors.As(err, &known) || known.Code != code || !strings.Contains(err.Error(), says) || !strings.Contains(known.Hint, hint) {
		r.t.Errorf("got %v (%+v), want exit code %d, %q and a hint with %q", err, known, code, says, hint)
	}
}

func TestProtectedPathsBehindLinks(t *testing.T) {
	cases := map[string]func(r *room){
		"symbolic link": func(r *room) {
			r.write("real.hcl", "")
			os.Symlink("real.hcl", r.path("policy.hcl"))
		},
		"hard link": func(r *room) {
			os.Link(r.write("policy.hcl", ""), r.path("second"))
		},
		".git is": func(r *room) {
			r.write("policy.hcl", "")
			os.Symlink("elsewhere", r.path(".git"))
		},
	}
	for what, prepare := range cases {
		t.Run(what, func(t *testing.T) {
			r := newRoom(t)
			prepare(r)
			r.config.Protect = []string{r.path("policy.hcl")}
			r.refused(ExitUsage, strings.TrimSuffix(what, " is"), "")
		})
	}
	t.Run("link to the folder itself", func(t *testing.T) {
		r := newRoom(t)
		r.write("policy.hcl", "")
		os.Symlink(".", r.path("conf"))
		r.config.Protect = []string{r.path("conf/policy.hcl")}
		r.refused(ExitUsage, "symbolic link", "cp --remove-destination")
	})
	t.Run("directory link", func(t *testing.T) {
		r := newRoom(t)
		r.write("real/policy.hcl", "")
		os.Symlink("real", r.path("conf"))
		r.config.Protect = []string{r.path("conf/policy.hcl")}
		r.refused(ExitUsage, "symbolic link", "cp --remove-destination")
	})
}

func TestTwoRunsShareAPlaceholder(t *testing.T) {
	r := newRoom(t)
	r.config.Stdout, r.config.Stderr = nil, nil
	first := r.prepare("true")
	r.config.Stderr = &r.err
	second := r.prepare("mkdir", ".git/hooks")
	r.close(first)
	if !exists(r.path(".git")) {
		t.Error("the first run removed what the second relies on")
	}
	if err := second.Start(); err != nil {
		t.Fatal(err)
	}
	if code, err := second.Wait(); code != 1 || err != nil || !strings.Contains(r.err.String(), "Read-only file system") {
		t.Errorf("%d, %v: %s", code, err, &r.err)
	}
	r.close(second)
	if exists(r.path(".git")) {
		t.Error("the second run left the placeholder")
	}
}

func TestManyRunsAtOnce(t *testing.T) {
	r := newRoom(t)
	r.config.Command = []string{"sh", "-c", "! mkdir .git/hooks 2>/dev/null"}
	r.config.Stdout, r.config.Stderr = nil, nil
	var runs sync.WaitGroup
	for range 8 {
		runs.Go(func() {
			cage, err := Prepare(t.Context(), r.config)
			if err != nil {
				t.Error(err)
				return
			}
			if err := cage.Start(); err != nil {
				t.Error(err)
			}
			if code, err := cage.Wait(); code != 0 || err != nil {
				t.Errorf("%d, %v", code, err)
			}
			if err := cage.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	runs.Wait()
	left, err := os.ReadDir(filepath.Join(r.config.StateDir, "placeholders"))
	if err != nil || len(left) != 1 || exists(r.path(".git")) {
		t.Errorf("left: %v, %v, .git: %v; want the lock alone", left, err, exists(r.path(".git")))
	}
}

// TestWhatTheHostChangedStays: a placeholder that has become something is not removed.
func TestWhatTheHostChangedStays(t *testing.T) {
	r := newRoom(t)
	cage := r.prepare("true")
	r.write(".git/made-by-the-host", "")
	r.close(cage)
	if !exists(r.path(".git", "made-by-the-host")) {
		t.Error("the host's file is gone")
	}
}

func TestForbiddenPlaces(t *testing.T) {
	r := newRoom(t)
	dir := filepath.Dir(r.config.Workdir)
	home, _ := os.UserHomeDir()
	for _, name := range []string{dir + "/audit/log", dir + "/linked", home + "/.ssh", home + "/project"} {
		if err := os.MkdirAll(name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(dir+"/audit", dir+"/linked/here"); err != nil {
		t.Fatal(err)
	}
	r.config.Forbidden = []string{dir + "/audit", dir + "/not-there-yet"}
	work := r.config.Workdir
	for _, path := range []string{"/", "/proc", "/sys", "/dev", "/run", "/etc", "/dev/shm", home, filepath.Dir(home), home + "/.ssh", dir, dir + "/state", dir + "/audit",
		dir + "/audit/log", dir + "/linked/here", dir + "/linked/here/log", "/tmp"} {
		for _, flag := range []string{"--workdir", "--rw", "--ro"} {
			t.Run("SBX-12 "+flag+" "+path, func(t *testing.T) {
				r.t, r.config.Workdir, r.config.RW, r.config.RO = t, work, nil, nil
				switch flag {
				case "--workdir":
					r.config.Workdir = path
				case "--rw":
					r.config.RW = []string{path}
				default:
					r.config.RO = []string{path}
				}
				r.refused(ExitUsage, flag, "use a folder")
			})
		}
	}
	r.t, r.config.Workdir, r.config.RW, r.config.RO = t, home+"/project", []string{work}, nil
	r.shell("true")
	r.config.RW = []string{"/usr"}
	r.refused(ExitUsage, "/usr", "")
}

func TestReadOnlyFolderInsideTheWritableOne(t *testing.T) {
	r := newRoom(t)
	r.write("a/b/file", "")
	r.config.RO = []string{r.path("a/b")}
	got := r.attempts(`
attempt("write",lambda:open("a/b/file","w"))
attempt("control",lambda:open("a/file","w").close())
attempt("rename",lambda:os.rename("a/b","a/x"))
attempt("rename parent",lambda:os.rename("a","x"))
`)
	r.want(got, map[string]string{"write": "EROFS", "control": "ok", "rename": "EBUSY", "rename parent": "EBUSY"})
}
