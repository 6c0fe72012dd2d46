package gitproto

import (
	"errors"
	"slices"
	"strings"
)

// words are the lines that may stand in one place: by their name, with the blank or
// equals sign that a value follows, what their value must look like.
type words map[string]func(value string) bool

var (
	errWord  = errors.New("not an argument or capability of a fetch")
	errValue = errors.New("a value that is not one of its argument")
	errTwice = errors.New("an argument that is given twice")
)

// check judges one line; seen remembers those that stand once.
func (w words) check(text string, seen map[string]bool) error {
	name := text
	if i := strings.IndexAny(text, " ="); i >= 0 {
		name = text[:i+1]
	}
	valid, known := w[name]
	switch {
	case !known:
		return errWord
	case !valid(text[len(name):]):
		return errValue
	case seen[name] && !repeatable(name):
		return errTwice
	}
	seen[name] = true
	return nil
}

func repeatable(name string) bool {
	return slices.Contains([]string{"want ", "have ", "shallow ", "want-ref ", "deepen-not ", "ref-prefix "}, name)
}

// flagWord has no value.
func flagWord(value string) bool { return value == "" }

// objectID is SHA-1 or SHA-256 in lower case.
func objectID(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

func objectFormat(s string) bool { return s == "sha1" || s == "sha256" }

// number is decimal, without superfluous zeros.
func number(s string) bool {
	return s != "" && len(s) <= 19 && strings.Trim(s, "0123456789") == "" && (len(s) == 1 || s[0] != '0')
}

// depth is a number of commits; git sends 2147483647 for all of them.
func depth(s string) bool { return number(s) && len(s) <= 10 }

// agent is what a client calls itself (gitprotocol-capabilities, "agent"): it is read
// only to be left out.
func agent(s string) bool { return s != "" && len(s) <= 256 && !strings.Contains(s, " ") }

// maxRef is the longest name of a ref, in bytes: file systems allow no longer part.
const maxRef = 255

// refPrefix is the beginning of a name of a ref (git-check-ref-format).
func refPrefix(s string) bool {
	return len(s) <= maxRef && !strings.ContainsAny(s, " ~^:?*[\\") && !strings.Contains(s, "..") &&
		!strings.Contains(s, "@{") && !strings.Contains(s, "//") && !strings.HasPrefix(s, "/")
}

// refName is the whole of one.
func refName(s string) bool {
	return s != "" && refPrefix(s) && !strings.HasSuffix(s, "/") && !strings.HasSuffix(s, ".") && !strings.HasSuffix(s, ".lock")
}

// filterSpec is a partial clone's filter (git-rev-list, "--filter"). sparse:oid names
// an object by any expression and is not among them.
func filterSpec(s string) bool {
	parts, combined := strings.CutPrefix(s, "combine:")
	if !combined {
		return simpleFilter(s)
	}
	list := strings.Split(parts, "+")
	return len(list) <= 4 && !slices.ContainsFunc(list, func(f string) bool { return !simpleFilter(f) })
}

func simpleFilter(s string) bool {
	name, value, _ := strings.Cut(s, "=")
	if n, tree := strings.CutPrefix(s, "tree:"); tree {
		return depth(n)
	}
	switch name {
	case "blob:none":
		return name == s
	case "blob:limit":
		return depth(strings.TrimRight(value, "kmg")) && len(strings.TrimLeft(value, "0123456789")) <= 1
	case "object:type":
		return slices.Contains([]string{"commit", "tree", "blob", "tag"}, value)
	}
	return false
}
