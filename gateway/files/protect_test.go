package files

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func granted(names ...string) func(*Config) {
	return func(c *Config) {
		c.MayWrite = func(_ context.Context, role, name string) bool {
			return role == "default" && strings.Contains(strings.Join(names, " "), name)
		}
	}
}

func TestProtectedNames(t *testing.T) {
	names := []string{
		".git/hooks/pre-commit", ".git/hooks", ".git/config", ".git", ".GIT/hooks/x", ".Git/CONFIG", ".git./hooks/x", ".git /config", ".git/hooks./x",
		".g\u200cit/config", ".git/con\ufb01g", "\uff0egit/config", "GIT~1/config", "git~1/hooks/x", ".git::$INDEX_ALLOCATION/config",
		".git/./config", ".git//config", "sub/.git/hooks/x", "sub/dir/.git/config", ".git/modules/x/config", ".git/worktrees/x", ".git/commondir",
		".github/workflows/ci.yml", ".GitHub/Workflows/ci.yml", ".gitlab-ci.yml", ".mcp.json", ".Mcp.json", ".MCP.JSON ", ".mcp.json...", "sub/.mcp.json",
		".claude/settings.json", ".Claude/settings.local.json", ".claude", ".cursor/mcp.json", "AGENTS.md", "agents.md", "CLAUDE.md", ".vscode/tasks.json",
		".npmrc", "policy.hcl", "POLICY.HCL", "dir/../.npmrc", "src/../.git/config",
	}
	for _, name := range names {
		t.Run("TOOL-22 "+name, func(t *testing.T) {
			x := newWorld(t)
			x.file("dir/x", "")
			if text, reason := x.call("write", args{"path": name, "content": "x"}); reason != Protected {
				t.Errorf("absent: %q: %s", reason, text)
			}
			entries, err := os.ReadDir(x.folder)
			if err != nil || len(entries) != 3 {
				t.Errorf("there is now %v, %v", entries, err)
			}
			if strings.ContainsAny(name, "~:") || strings.HasSuffix(name, "/hooks") || name == ".git" || name == ".claude" {
				return
			}
			x.file(name, "old")
			for _, tool := range []string{"write", "edit"} {
				a := args{"path": name, "content": "new"}
				if tool == "edit" {
					a = args{"path": name, "old_string": "old", "new_string": "new"}
				}
				if text, reason := x.call(tool, a); reason != Protected {
					t.Errorf("%s: %q: %s", tool, reason, text)
				}
			}
			if x.text(name) != "old" {
				t.Errorf("it is now %q", x.text(name))
			}
			if text, reason := x.call("read", args{"path": name}); reason != "" {
				t.Errorf("read: %q: %s", reason, text)
			}
		})
	}
}

func TestNotProtected(t *testing.T) {
	x := newWorld(t)
	for _, name := range []string{"git/config", "hooks/pre-commit", ".gitignore", ".github/ISSUE_TEMPLATE.md", "config", ".git/info/exclude", "mcp.json.md", "x.npmrc",
		"agents.md.txt", "docs/policy.hcl.example", "a~1", "vscode/x", ".env"} {
		if text, reason := x.call("write", args{"path": name, "content": "x"}); reason != "" {
			t.Errorf("%s: %q: %s", name, reason, text)
		}
	}
}

func TestProtectedByGrant(t *testing.T) {
	x := newWorld(t, granted(".mcp.json"))
	if text, reason := x.call("write", args{"path": ".Mcp.json", "content": "x"}); reason != "" {
		t.Errorf("with a grant: %q: %s", reason, text)
	}
	if text, reason := x.call("write", args{"path": ".npmrc", "content": "x"}); reason != Protected {
		t.Errorf("with a grant for another: %q: %s", reason, text)
	}
}

func TestProtectedThroughLinks(t *testing.T) {
	openers(t, func(t *testing.T, with func(*Config)) {
		x := newWorld(t, with)
		x.file(".git/config", "old")
		x.file(".claude/settings.json", "old")
		x.link(".git", "plain")
		x.link(".git/config", "conf")
		x.link(".claude", "agent")
		x.link("notes.md", "CLAUDE.md")
		x.file("notes.md", "old")
		x.link("later.md", "AGENTS.md")
		x.link("conf.d", ".cursor")
		x.link("gh.d", ".github")
		x.file("gh.d/README", "free")
		x.file("conf.d/mcp.json", "old")
		if err := os.Link(x.in(".git/config"), x.in("hard")); err != nil {
			t.Fatal(err)
		}
		for path, want := range map[string]Reason{
			"plain/config": Protected, "plain/hooks/x": Protected, "conf": Protected, "agent/settings.json": Protected, "agent/new.json": Protected,
			"notes.md": Protected, "CLAUDE.md": Protected, "later.md": Protected, "conf.d/mcp.json": Protected, "conf.d/new": Protected, "gh.d/workflows/ci.yml": Protected, "gh.d/README": "", ".cursor/mcp.json": Protected,
		} {
			if text, reason := x.call("write", args{"path": path, "content": "new"}); reason != want {
				t.Errorf("%s: %q, want %q: %s", path, reason, want, text)
			}
		}
		for _, path := range []string{".git/config", ".claude/settings.json", "notes.md", "conf.d/mcp.json"} {
			if x.text(path) != "old" {
				t.Errorf("%s is now %q", path, x.text(path))
			}
		}
	})
}

func TestHardLinks(t *testing.T) {
	openers(t, func(t *testing.T, with func(*Config)) {
		t.Run("TOOL-06 older than the session", func(t *testing.T) {
			dir := t.TempDir()
			other := filepath.Join(dir, "other")
			if err := os.WriteFile(other, []byte(secret), 0o600); err != nil {
				t.Fatal(err)
			}
			x := newWorld(t, with, func(c *Config) { c.Began = time.Now().Add(time.Second) })
			if err := os.Link(other, x.in("alias")); err != nil {
				t.Fatal(err)
			}
			for _, tool := range []string{"write", "edit"} {
				if text, reason := x.each(tool, "alias"); reason != Linked {
					t.Errorf("%s: %q: %s", tool, reason, text)
				}
			}
			text, reason := x.call("read", args{"path": "alias"})
			if reason != "" {
				t.Errorf("read: %q", reason)
			}
			contains(t, text, secret)
			if kept, err := os.ReadFile(other); err != nil || string(kept) != secret {
				t.Errorf("the other name has %q, %v", kept, err)
			}
		})
		t.Run("USE-26 born in the session", func(t *testing.T) {
			x := newWorld(t, with, func(c *Config) { c.Began = time.Now().Add(-time.Second) })
			if _, reason := x.call("write", args{"path": "store/a", "content": "one"}); reason != "" {
				t.Fatal(reason)
			}
			if err := os.Link(x.in("store/a"), x.in("b")); err != nil {
				t.Fatal(err)
			}
			if text, reason := x.call("edit", args{"path": "b", "old_string": "one", "new_string": "two"}); reason != "" {
				t.Errorf("%q: %s", reason, text)
			}
			if x.text("store/a") != "one" || x.text("b") != "two" {
				t.Errorf("the store has %q, the copy %q", x.text("store/a"), x.text("b"))
			}
		})
	})
}

func TestBadProtectedNames(t *testing.T) {
	for _, name := range []string{"", "/", "a//b", "..", "a/../b", ".", "\u200b", "a/..."} {
		if w, err := Open(Config{Folder: t.TempDir(), Protected: []string{name}}); err == nil {
			t.Errorf("%q was taken", name)
			_ = w.Close()
		}
	}
}

const inMountsVar = "SCUPPER_FILES_IN_MOUNTS"

// TestMounts runs TestInMounts in a mount namespace of its own.
func TestMounts(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestInMounts$", "-test.v")
	cmd.Env = append(os.Environ(), inMountsVar+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS}
	if id := os.Geteuid(); id != 0 {
		cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: id, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestInMounts/os.Root/TOOL-08") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestInMounts(t *testing.T) {
	if os.Getenv(inMountsVar) == "" {
		return // TestMounts runs it
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		t.Fatal(err)
	}
	openers(t, func(t *testing.T, with func(*Config)) {
		t.Run("TOOL-08 mounts in the workspace", func(t *testing.T) { mounts(t, newWorld(t, with)) })
	})
}

func mounts(t *testing.T, x *world) {
	mount := func(source, target, kind string, flags uintptr) {
		if err := unix.Mount(source, x.in(target), kind, flags, ""); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unix.Unmount(x.in(target), unix.MNT_DETACH) })
	}
	for _, name := range []string{"memory/x", "bound/x", "single", "proc/x", "self/x"} {
		x.file(name, "below")
	}
	mount("none", "memory", "tmpfs", 0)
	x.file("memory/x", secret)
	mount(x.outside, "bound", "", unix.MS_BIND)
	mount(filepath.Join(x.outside, "secret.txt"), "single", "", unix.MS_BIND)
	mount("/proc", "proc", "", unix.MS_BIND|unix.MS_REC)
	mount(x.in("src"), "self", "", unix.MS_BIND)
	for _, path := range []string{"memory", "memory/x", "memory/new", "bound/secret.txt", "bound", "bound/new", "single", "proc/self/environ",
		"proc/self/cwd", "self", "self/main.go"} {
		for _, tool := range tools() {
			if text, reason := x.each(tool, path); reason != Outside {
				t.Errorf("%s %s: %q: %s", tool, path, reason, text)
			}
		}
	}
	for _, tool := range tools() {
		if text, _ := x.each(tool, "."); strings.Contains(text, secret) || strings.Contains(text, "memory/x") || strings.Contains(text, "secret.txt") {
			t.Errorf("%s shows what is mounted: %s", tool, text)
		}
	}
	x.untouched()
}
