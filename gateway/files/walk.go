package files

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// deepest directory that a walk goes into, since each level holds a descriptor.
const maxDepth = 200

// walk goes through a directory of the workspace and what is below it, in the order of
// names. It goes through no link and stays on the mount.
type walk struct {
	w      *Workspace
	ctx    context.Context
	hidden bool // names that begin with a dot too, but for .git
	ignore bool // not what .gitignore names
	visit  func(entry) error

	skipped skipped
}

// skipped counts what a walk left out.
type skipped struct {
	hidden, ignored, links, other, unreadable int
}

// entry is a file that a walk has come to. It is only good while visit runs.
type entry struct {
	dir  int
	name string
	rel  string // in the workspace
	link bool
}

// errEnough ends a walk that has found what it was for.
var errEnough = errors.New("enough")

// run walks below the directory at, whose path in the workspace is rel. It closes nothing.
func (k *walk) run(at int, rel string) error {
	var rules *rules
	if k.ignore {
		rules = k.w.rulesAbove(rel)
	}
	return k.folder(at, rel, rules, 0)
}

func (k *walk) folder(dir int, rel string, rules *rules, depth int) error {
	if err := k.ctx.Err(); err != nil {
		return err
	}
	entries, err := readDirectory(dir)
	if err != nil {
		k.skipped.unreadable++
		return nil
	}
	if k.ignore {
		rules = k.w.rulesIn(dir, rel, rules)
	}
	for _, e := range entries {
		at := path.Join(rel, e.name)
		if k.leavesOut(e, at, rules) {
			continue
		}
		if e.kind == unix.DT_DIR {
			err = k.below(dir, e.name, at, rules, depth+1)
		} else {
			err = k.visit(entry{dir, e.name, at, e.kind == unix.DT_LNK})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// leavesOut says what is not looked at, and counts it.
func (k *walk) leavesOut(e dirent, rel string, rules *rules) bool {
	switch {
	case e.kind != unix.DT_DIR && e.kind != unix.DT_REG && e.kind != unix.DT_LNK:
		k.skipped.other++
	case e.name == ".git" || !k.hidden && strings.HasPrefix(e.name, "."):
		k.skipped.hidden++
	case rules.ignores(rel, e.kind == unix.DT_DIR):
		k.skipped.ignored++
	default:
		return false
	}
	return true
}

func (k *walk) below(dir int, name, rel string, rules *rules, depth int) error {
	if depth > maxDepth {
		k.skipped.unreadable++
		return nil
	}
	fd, err := k.w.open(dir, name, unix.O_RDONLY|unix.O_DIRECTORY, false)
	if err != nil {
		k.missed(err)
		return nil
	}
	err = k.folder(fd, rel, rules, depth)
	return cmp.Or(err, unix.Close(fd))
}

// missed counts what could not be opened: a mount, something gone meanwhile, or a link
// put in its place.
func (k *walk) missed(err error) {
	switch {
	case errors.Is(err, unix.ENOENT):
	case errors.Is(err, unix.ELOOP):
		k.skipped.links++
	case errors.Is(err, unix.EXDEV):
		k.skipped.other++
	default:
		k.skipped.unreadable++
	}
}

// dirent is a name in a directory, and what it was the name of when it was read.
type dirent struct {
	name string
	kind uint8 // DT_REG and so on
}

// readDirectory lists a directory in the order of names (getdents64(2)).
func readDirectory(dir int) ([]dirent, error) {
	var all []dirent
	buf := make([]byte, 32<<10)
	if _, err := unix.Seek(dir, 0, 0); err != nil {
		return nil, err
	}
	for {
		n, err := unix.Getdents(dir, buf)
		if err != nil {
			return nil, err
		}
		if n <= 0 {
			slices.SortFunc(all, func(a, b dirent) int { return strings.Compare(a.name, b.name) })
			return all, nil
		}
		all = appendDirents(all, dir, buf[:n])
	}
}

// appendDirents takes records apart: inode 8 bytes, offset 8, length 2, type 1, name.
func appendDirents(all []dirent, dir int, buf []byte) []dirent {
	const header = 19
	for len(buf) > header {
		length := int(binary.NativeEndian.Uint16(buf[16:]))
		if length <= header || length > len(buf) {
			break
		}
		name, _, _ := bytes.Cut(buf[header:length], []byte{0})
		e := dirent{string(name), buf[18]}
		buf = buf[length:]
		if e.name == "." || e.name == ".." {
			continue
		}
		if e.kind == unix.DT_UNKNOWN {
			e.kind = kindOf(dir, e.name)
		}
		all = append(all, e)
	}
	return all
}

// kindOf asks for a type that the file system does not keep in the directory.
func kindOf(dir int, name string) uint8 {
	var st unix.Stat_t
	if unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return unix.DT_UNKNOWN
	}
	return uint8(st.Mode & unix.S_IFMT >> 12)
}
