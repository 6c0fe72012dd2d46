package files

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func tools() []string { return []string{"read", "write", "edit", "glob", "grep"} }

// furnish makes everything that a path could lead to.
func (x *world) furnish() {
	t := x.t
	x.link("inside.txt", "good")
	x.link("src", "goodfolder")
	x.link("goodfolder", "chain")
	x.link("../inside.txt", "src/up")
	x.link(filepath.Join(x.outside, "secret.txt"), "abs")
	x.link("../outside/secret.txt", "rel")
	x.link("../outside", "folder")
	x.link("folder", "chainout")
	x.link("../outside/new.txt", "dangling")
	x.link(filepath.Join(x.outside, "new.txt"), "danglingabs")
	x.link("../nowhere/new.txt", "danglingfar")
	x.link("absent.txt", "broken")
	x.link("loop2", "loop1")
	x.link("loop1", "loop2")
	x.link("/proc/self/root", "root")
	x.link("/proc/self/cwd", "cwd")
	x.link("/dev/stdin", "stdin")
	x.link(x.in("inside.txt"), "absinside")
	fifo(t, x.in("fifo"))
	l, err := net.Listen("unix", filepath.Join(x.folder, "sock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	// Only root can make a device; for others a second FIFO stands in its place.
	if os.Geteuid() != 0 {
		fifo(t, x.in("null"))
		return
	}
	if err := unix.Mknod(x.in("null"), unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))); err != nil {
		t.Fatal(err)
	}
}

// sameVerdict has a path and what every tool says to it. "file", "folder": each tool
// works on it, or says that it works on the other. What lies outside is the test's own,
// so that a guard that fails costs nothing.
func sameVerdict(x *world) map[string]string {
	return map[string]string{
		"inside.txt": "file", "./inside.txt": "file", ".//inside.txt": "file", x.in("inside.txt"): "file", x.folder + "//./inside.txt": "file",
		"src/../inside.txt": "file", "src/main.go": "file", "goodfolder/../inside.txt": "file", "good": "file", "goodfolder/main.go": "file",
		"chain/main.go": "file", "src/up": "file",
		".": "folder", "./": "folder", "src": "folder", "src/": "folder", x.folder: "folder", x.folder + "/": "folder", "goodfolder": "folder",
		"goodfolder/": "folder", "chain/.": "folder", "src/..": "folder",

		"..": "outside", "../": "outside", "../..": "outside", "../outside/secret.txt": "outside", "src/../../outside/secret.txt": "outside",
		"/": "outside", "/" + x.outside + "/secret.txt": "outside", "/proc/self/environ": "outside", "/proc/self/root" + x.outside + "/secret.txt": "outside",
		x.outside + "/secret.txt": "outside", x.outside + "/absent": "outside", x.folder + "-evil/x": "outside", x.folder + "/../outside/secret.txt": "outside",
		x.folder + "/../work-evil/x": "outside", "../work-evil/x": "outside", "../work/inside.txt": "outside", strings.Repeat("../", 20) + x.outside + "/secret.txt": "outside",
		"src/../../work/inside.txt": "outside", filepath.Dir(x.folder): "outside",
		"abs": "outside", "rel": "outside", "folder": "outside", "folder/": "outside", "folder/.": "outside", "folder/secret.txt": "outside",
		"folder/absent": "outside", "folder/absent/deeper": "outside", "folder/../inside.txt": "outside", "chainout": "outside", "chainout/": "outside",
		"chainout/secret.txt": "outside", "abs/": "outside", "rel/": "outside", "dangling": "outside", "dangling/": "outside", "danglingabs": "outside",
		"danglingfar": "outside", "root": "outside", "root" + x.outside + "/secret.txt": "outside", "cwd": "outside", "stdin": "outside", "absinside": "outside",
		"goodfolder/../../outside/secret.txt": "outside",

		"fifo": "kind", "sock": "kind", "null": "kind", "inside.txt/": "kind", "good/": "kind", "inside.txt/x": "kind", "inside.txt/..": "kind", "fifo/x": "kind",
		"loop1": "kind", "loop1/x": "kind",
		"in\x00side.txt": "malformed", "": "malformed", "\x00": "malformed", strings.Repeat("a/", 2100): "malformed", strings.Repeat("a", 300): "malformed",
		"absent/../inside.txt": "missing", "broken": "missing", "broken/x": "missing",
	}
}

func TestVerdicts(t *testing.T) {
	openers(t, func(t *testing.T, with func(*Config)) {
		for _, name := range tools() {
			t.Run("TOOL-21 TOOL-01 "+name, func(t *testing.T) {
				x := newWorld(t, with)
				x.furnish()
				for path, want := range sameVerdict(x) {
					text, reason := x.each(name, path)
					if !agrees(name, want, reason) {
						t.Errorf("%s %q: %q, want %s: %s", name, path, reason, want, text)
					}
					if strings.Contains(text, secret) || strings.Contains(text, "new.txt") && !strings.Contains(path, "new.txt") {
						t.Errorf("%s %q shows what is outside: %s", name, path, text)
					}
				}
				x.untouched()
			})
		}
	})
}

// agrees reports whether what a tool answered is the verdict of the table: a tool for
// files says so to a folder, and glob to a file.
func agrees(name, want string, got Reason) bool {
	switch want {
	case "file":
		return name == "glob" && got == Kind || name == "edit" && got == Unmatched || got == ""
	case "folder":
		return (name == "glob" || name == "grep") && got == "" || got == Kind
	}
	return string(got) == want
}
