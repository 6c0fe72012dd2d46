package files

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Reason says in one word why a tool did not do something.
type Reason string

// The reasons.
const (
	Malformed Reason = "malformed" // the arguments cannot be meant
	Outside   Reason = "outside"   // the path leads out of the folder
	Missing   Reason = "missing"   // nothing is there
	Kind      Reason = "kind"      // something is there that the tool does not work on
	Protected Reason = "protected" // the name needs a grant of its own
	Linked    Reason = "linked"    // the file has other names
	Conflict  Reason = "conflict"  // it is not as the caller expects
	Unmatched Reason = "unmatched" // the text to replace is not there, or more than once
	TooLarge  Reason = "too_large"
	TimedOut  Reason = "timed_out"
	Failed    Reason = "failed" // the operating system said no
)

// Refusal is why a tool did not do what it was asked. Its text is for the model, and
// holds the path as the caller wrote it and nothing of what lies outside.
type Refusal struct {
	Reason Reason
	Text   string
}

func (r *Refusal) Error() string { return r.Text }

func refuse(reason Reason, format string, args ...any) *Refusal {
	return &Refusal{reason, fmt.Sprintf(format, args...)}
}

// refusal says what an error of the kernel means for the path that the caller gave. One
// text for everything outside: links, "..", mounts and names elsewhere.
func (w *Workspace) refusal(asked string, err error) error {
	if r := (*Refusal)(nil); errors.As(err, &r) {
		return err
	}
	if o := odd(0); errors.As(err, &o) {
		return notFile(asked, o.mode())
	}
	shown := quote(asked)
	switch {
	case errors.Is(err, unix.EXDEV) || w.escapes != nil && errors.Is(err, w.escapes):
		return w.outside(asked)
	case errors.Is(err, unix.ENOENT):
		return refuse(Missing, "%s does not exist", shown)
	case errors.Is(err, unix.ENOTDIR):
		return refuse(Kind, "%s: a part of the path is not a directory", shown)
	case errors.Is(err, unix.ELOOP):
		return refuse(Kind, "%s: too many symbolic links, or one where none may be", shown)
	case errors.Is(err, unix.ENAMETOOLONG):
		return refuse(Malformed, "%s: the path or a part of it is too long", shown)
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return refuse(Failed, "%s: permission denied", shown)
	case errors.Is(err, unix.EAGAIN):
		return refuse(Conflict, "%s: the folder changed all the time while the path was resolved; try again", shown)
	}
	if errno := unix.Errno(0); errors.As(err, &errno) {
		return refuse(Failed, "%s: %s", shown, errno.Error())
	}
	return refuse(Failed, "%s: it could not be opened", shown)
}

func (w *Workspace) outside(asked string) error {
	return refuse(Outside, "%s is not in the workspace: paths are relative to it or begin with %s, and links, \"..\" and mounts must not lead out of it",
		quote(asked), quote(w.folder))
}

// notFile says what is there instead of a regular file.
func notFile(asked string, mode uint32) error {
	what := "neither a file nor a directory"
	switch mode & unix.S_IFMT {
	case unix.S_IFDIR:
		return refuse(Kind, "%s is a directory, not a file", quote(asked))
	case unix.S_IFIFO:
		what = "a FIFO"
	case unix.S_IFSOCK:
		what = "a socket"
	case unix.S_IFCHR, unix.S_IFBLK:
		what = "a device"
	case unix.S_IFLNK:
		what = "a symbolic link"
	}
	return refuse(Kind, "%s is %s; only regular files are read and written", quote(asked), what)
}
