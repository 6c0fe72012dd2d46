package credential

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"
)

// maxSecret bounds a secret, in bytes.
const maxSecret = 8 << 10

// A Source is where a secret comes from: exactly one of Env, File and Exec is set.
type Source struct {
	Env     string        // a variable of this process
	File    string        // a file
	Exec    []string      // a command and its arguments, which prints the secret
	Dir     string        // where the command runs; empty: here
	Timeout time.Duration // of the command; default 10 s
}

// String says where the secret comes from.
func (s Source) String() string {
	switch {
	case s.Env != "":
		return "env " + s.Env
	case s.File != "":
		return fmt.Sprintf("file %q", s.File)
	case len(s.Exec) > 0:
		return fmt.Sprintf("exec %q", s.Exec[0]) // its arguments may name more than they should
	}
	return "no source"
}

// reading is a secret as a source gave it.
type reading struct {
	value   string
	expires time.Time // zero: never
}

var (
	errEmpty  = errors.New("it is empty")
	errUnset  = errors.New("the variable is not set, or empty")
	errLarge  = fmt.Errorf("it has more than %d bytes", maxSecret)
	errKind   = errors.New("it is not a regular file")
	errSource = errors.New("there is no source")
	errByte   = errors.New("it holds a control character")
)

func (s Source) read(ctx context.Context, o Options) (reading, error) {
	switch {
	case s.Env != "":
		value := o.LookupEnv(s.Env)
		if value == "" {
			return reading{}, errUnset
		}
		return checked(reading{value: value})
	case s.File != "":
		return s.readFile()
	case len(s.Exec) > 0:
		return s.run(ctx, o)
	}
	return reading{}, errSource
}

// readFile reads a regular file: a pipe would block, a device would not end.
func (s Source) readFile() (reading, error) {
	info, err := os.Stat(s.File)
	if err != nil {
		return reading{}, cause(err)
	}
	if !info.Mode().IsRegular() {
		return reading{}, errKind
	}
	f, err := os.Open(s.File)
	if err != nil {
		return reading{}, cause(err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSecret+2))
	if err != nil {
		return reading{}, cause(err)
	}
	return checked(reading{value: withoutLineEnd(string(text))})
}

// open reports whether others than the owner may read the file.
func (s Source) open() bool {
	info, err := os.Stat(s.File)
	return s.File != "" && err == nil && info.Mode().Perm()&0o077 != 0
}

func withoutLineEnd(s string) string {
	return strings.TrimSuffix(strings.TrimSuffix(s, "\n"), "\r")
}

// checked refuses what no place in a request could carry.
func checked(r reading) (reading, error) {
	switch {
	case r.value == "":
		return reading{}, errEmpty
	case len(r.value) > maxSecret:
		return reading{}, errLarge
	case strings.ContainsFunc(r.value, func(c rune) bool { return c < ' ' || c == 0x7f }):
		return reading{}, errByte
	}
	return r, nil
}

// cause is err without the path, which the caller names.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
