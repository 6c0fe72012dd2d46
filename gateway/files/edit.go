package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"scupper.dev/scupper/gateway"
)

func editDefinition() gateway.Definition {
	return gateway.Definition{
		Name: "edit", Version: "1", Title: "Edit a file", Level: gateway.ReversibleWrite, Timeout: time.Minute, MaxOutput: 16 << 10,
		Description: "Replaces a piece of text in a file of the workspace. old_string must be in the file exactly, whitespace included, and exactly once; " +
			"take in lines around it until it is, or set replace_all. Leave out the line numbers that read shows. Line endings (LF or CRLF), encoding, byte order " +
			"mark and everything outside the piece stay as they are. When nothing matches, the answer names lines that nearly do, and the difference.",
		Input: object(`"path","old_string","new_string"`,
			pathProperty("The file, relative to the workspace or absolute inside it"),
			property("old_string", `{"type":"string","minLength":1,"maxLength":1048576,"description":"The text to replace"}`),
			property("new_string", `{"type":"string","maxLength":1048576,"description":"The text to put there"}`),
			property("replace_all", `{"type":"boolean","description":"Replace every occurrence"}`),
			property("expected_sha256", digestSchema)),
		Output: object(`"path","replacements","lines","bytes","sha256"`,
			property("path", `{"type":"string"}`), property("replacements", `{"type":"integer"}`),
			property("lines", `{"type":"array","items":{"type":"integer"},"description":"Line numbers of the first replacements, before the edit"}`),
			property("bytes", `{"type":"integer"}`), property("sha256", `{"type":"string"}`)),
	}
}

type editArguments struct {
	Path     string  `json:"path"`
	Old      string  `json:"old_string"`
	New      string  `json:"new_string"`
	All      bool    `json:"replace_all"`
	Expected *string `json:"expected_sha256"`
}

type edited struct {
	Path         string `json:"path"`
	Replacements int    `json:"replacements"`
	Lines        []int  `json:"lines"`
	Bytes        int    `json:"bytes"`
	SHA256       string `json:"sha256"`
}

func (w *Workspace) edit(ctx context.Context, c *gateway.Call) (gateway.Result, error) {
	var a editArguments
	if err := arguments(c, &a); err != nil {
		return gateway.Result{}, err
	}
	defer w.lock(a.Path)()
	p, err := w.enter(ctx, c, a.Path, false)
	if err != nil {
		return gateway.Result{}, w.suggest(a.Path, err)
	}
	done, err := w.editAt(ctx, p, a)
	if err = errors.Join(err, p.close()); err != nil {
		return gateway.Result{}, w.refusal(a.Path, err)
	}
	times := "1 replacement"
	if done.Replacements != 1 {
		times = fmt.Sprintf("%d replacements", done.Replacements)
	}
	return structured(fmt.Sprintf("edited %s: %s, at line %s\n", show(done.Path), times, numbers(done.Lines, done.Replacements)), done)
}

func (w *Workspace) editAt(ctx context.Context, p *place, a editArguments) (edited, error) {
	text, err := p.content(a.Path, maxWhole)
	if err != nil {
		return edited{}, err
	}
	if got := digest(text); a.Expected != nil && got != *a.Expected {
		return edited{}, refuse(Conflict, "%s has changed: its SHA-256 is %s; read it again", quote(a.Path), got)
	}
	if a.Old == a.New {
		return edited{}, refuse(Malformed, "old_string and new_string are the same")
	}
	s := newSubstitution(text, a)
	after, err := s.apply()
	if err != nil {
		return edited{}, err
	}
	if len(after) > maxWhole {
		return edited{}, refuse(TooLarge, "%s would have %d bytes, more than %d", quote(a.Path), len(after), maxWhole)
	}
	if ctx.Err() != nil {
		return edited{}, refuse(TimedOut, "the call ended before anything was written")
	}
	done := edited{Path: p.rel, Replacements: len(s.at), Lines: s.lines(20), Bytes: len(after), SHA256: digest(after)}
	return done, w.replace(p, after, false)
}

// substitution is one edit of one text.
type substitution struct {
	editArguments
	text []byte
	code encoding
	mark int // bytes of the byte order mark, which stays
	at   []match
}

// match is where the old text is, and whether its line ends had to be translated.
type match struct {
	from, to   int
	translated bool
}

func newSubstitution(text []byte, a editArguments) *substitution {
	s := &substitution{editArguments: a, text: text}
	s.code, s.mark = encodingOf(text)
	return s
}

// apply returns the new text. Every byte outside the matches is that of the old one.
func (s *substitution) apply() ([]byte, error) {
	if s.code == notText {
		return nil, refuse(Kind, "%s is a binary file (%s); only text is edited", quote(s.Path), typeOf(s.text))
	}
	if crlf := toCRLF(s.Old); crlf != s.Old {
		s.find(crlf, true)
	}
	s.find(s.Old, false)
	s.disentangle()
	switch {
	case len(s.at) == 0:
		return nil, refuse(Unmatched, "old_string is not in %s%s", quote(s.Path), s.nearMisses())
	case len(s.at) > 1 && !s.All:
		return nil, refuse(Unmatched, "old_string is in %s %d times, at line %s: take in more lines around it, or set replace_all",
			quote(s.Path), len(s.at), numbers(s.lines(20), len(s.at)))
	}
	var out bytes.Buffer
	from := 0
	for _, m := range s.at {
		text, ok := s.code.encode(s.replacement(m))
		if !ok {
			return nil, refuse(Malformed, "%s is written in ISO-8859-1, which has not all characters of new_string", quote(s.Path))
		}
		out.Write(s.text[from:m.from])
		out.Write(text)
		from = m.to
	}
	out.Write(s.text[from:])
	return out.Bytes(), nil
}

// find adds the places where the text has these characters, none in another.
func (s *substitution) find(characters string, translated bool) {
	old, ok := s.code.encode(characters)
	if !ok {
		return
	}
	for from := s.mark; ; {
		i := bytes.Index(s.text[from:], old)
		if i < 0 {
			return
		}
		at := from + i
		if s.code.wide() && (at-s.mark)%2 != 0 {
			from = at + 1
			continue
		}
		s.at = append(s.at, match{at, at + len(old), translated})
		from = at + len(old)
	}
}

// disentangle sorts the matches. A text that begins with a line end matches at the CR of
// a CRLF and at its LF; the first is what is meant.
func (s *substitution) disentangle() {
	slices.SortFunc(s.at, func(a, b match) int { return a.from - b.from })
	end := 0
	s.at = slices.DeleteFunc(s.at, func(m match) bool {
		if m.from < end {
			return true
		}
		end = m.to
		return false
	})
}

// replacement is the new text as it has to be at a match: with the line ends that are
// there.
func (s *substitution) replacement(m match) string {
	if m.translated || !strings.Contains(s.Old, "\n") && s.crlfAt(m) {
		return toCRLF(s.New)
	}
	return s.New
}

// crlfAt reports whether the line of a match ends in CRLF or, if it is the last, the
// line before it does.
func (s *substitution) crlfAt(m match) bool {
	lf, _ := s.code.encode("\n")
	crlf, _ := s.code.encode("\r\n")
	if i := s.index(s.text[m.to:], lf); i >= 0 {
		return bytes.HasSuffix(s.text[:m.to+i+len(lf)], crlf)
	}
	i := bytes.LastIndex(s.text[:m.from], lf)
	return i >= 0 && bytes.HasSuffix(s.text[:i+len(lf)], crlf)
}

// index is bytes.Index at whole characters; text begins at one.
func (s *substitution) index(text, sub []byte) int {
	for from := 0; ; {
		i := bytes.Index(text[from:], sub)
		switch {
		case i < 0:
			return -1
		case !s.code.wide() || (from+i)%2 == 0:
			return from + i
		}
		from += i + 1
	}
}

// lines are the line numbers of the first matches.
func (s *substitution) lines(most int) []int {
	var all []int
	for _, m := range s.at[:min(len(s.at), most)] {
		all = append(all, 1+strings.Count(s.code.decode(s.text[:m.from]), "\n"))
	}
	return all
}

// toCRLF writes every line end as CRLF.
func toCRLF(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n")
}

func numbers(lines []int, all int) string {
	text := strings.Trim(strings.ReplaceAll(fmt.Sprint(lines), " ", ", "), "[]")
	if more := all - len(lines); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
