package trim

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"scupper.dev/scupper/gateway"
)

// Text is what is shown of a text.
type Text struct {
	Shown  string
	Notes  []string // sentences about what is not shown as it is
	Whole  int64    // bytes that were produced
	Digest [32]byte // SHA-256 of them
	Cut    int64    // characters left out
	From   int64    // the first and the last line of which some is left out
	To     int64
	Lines  int64 // of the whole
}

// marker stands in the place of what is left out.
func marker(chars int64) string { return fmt.Sprintf("... [%d chars truncated]", chars) }

// roomForMarker is enough for it, the line feeds about it, and a carriage return that has
// lost its line feed.
const roomForMarker = len("\n... [9223372036854775807 chars truncated]\n") + len("\u240d")

// roomForNotes is what notes may take of a limit.
const roomForNotes = 640

// headPart is how much of the room the head gets, in percent.
func headPart(p gateway.Part) int {
	if p == gateway.Start {
		return 100
	}
	return 20
}

// cut fills in what is shown. The limit holds for the text with its notes.
func (c *Collector) cut(t *Text) {
	t.Lines = c.lines
	if last := c.tail.last(); c.whole > 0 && last != '\n' {
		t.Lines++
	}
	room := c.limit - roomForNotes
	var s sight
	if c.whole <= int64(c.limit) {
		if shown := s.visible(string(c.head)); len(shown) <= room || len(shown) <= c.limit && len(s.notes()) == 0 {
			t.Shown, t.Notes = shown, s.notes()
			return
		}
	}
	s = sight{}
	room -= roomForMarker
	forHead := room * headPart(c.keep) / 100
	head, headSize := s.head(c.head, c.whole > int64(len(c.head)), forHead)
	last := c.tail.bytes()
	// What the head has is not shown a second time.
	if over := int64(headSize) - (c.whole - int64(len(last))); over > 0 {
		last = last[over:]
	}
	tail, tailSize := s.tail(last, c.whole > int64(headSize+len(last)), room-forHead)
	kept := last[len(last)-tailSize:]
	t.Cut = c.total() - int64(utf8.RuneCount(c.head[:headSize])) - int64(utf8.RuneCount(kept))
	t.From, t.To = 1+lineFeeds(c.head[:headSize]), t.Lines-lines(kept)+partly(last, tailSize)
	t.Shown, t.Notes = join(head, marker(t.Cut), tail), s.notes()
}

// total counts the characters, a torn one at the end by its bytes.
func (c *Collector) total() int64 { return c.chars + int64(utf8.RuneCount(c.torn)) }

// head shows the beginning of b in at most room bytes, up to the end of a line where that
// costs less than half. more says that the text goes on behind b.
func (s *sight) head(b []byte, more bool, room int) (shown []byte, size int) {
	var before rune
	line := 0
	width, at := 0, 0
	for at < len(b) {
		if more && !utf8.FullRune(b[at:]) {
			break
		}
		u := next(b[at:], before)
		if width+u.width() > room {
			break
		}
		at, width, before = at+u.size, width+u.width(), u.char
		if u.char == '\n' && width >= room/2 {
			line = at
		}
	}
	if line > 0 {
		at = line
	}
	return s.all(b[:at]), at
}

// tail shows the end of b in at most room bytes, from the beginning of a line where that
// costs less than half. torn says that b may begin within a character.
func (s *sight) tail(b []byte, torn bool, room int) (shown []byte, size int) {
	from := 0
	for torn && from < min(utf8.UTFMax-1, len(b)) && !utf8.RuneStart(b[from]) {
		from++
	}
	b = b[from:]
	width := widthOf(b)
	at := 0
	var before rune
	for at < len(b) && width > room {
		u := next(b[at:], before)
		at, width, before = at+u.size, width-u.width(), u.char
	}
	// Cut anew, what joined the first character is gone.
	for at < len(b) && widthOf(b[at:]) > room {
		at += next(b[at:], 0).size
	}
	if at > 0 || from > 0 || torn {
		if end := bytes.IndexByte(b[at:], '\n'); (at == 0 || b[at-1] != '\n') && end >= 0 && end < (len(b)-at)/2 {
			at += end + 1
		}
	}
	return s.all(b[at:]), len(b) - at
}

// all is the whole of b as it is shown.
func (s *sight) all(b []byte) []byte { return []byte(s.visible(string(b))) }

// widthOf is how many bytes b takes when it is shown.
func widthOf(b []byte) (n int) {
	var before rune
	for len(b) > 0 {
		u := next(b, before)
		n, b, before = n+u.width(), b[u.size:], u.char
	}
	return n
}

// join puts the marker on a line of its own.
func join(head []byte, marker string, tail []byte) string {
	var b strings.Builder
	b.Write(head)
	if len(head) > 0 && head[len(head)-1] != '\n' {
		b.WriteByte('\n')
	}
	b.WriteString(marker)
	if len(tail) > 0 {
		b.WriteByte('\n')
	}
	b.Write(tail)
	return b.String()
}

func lineFeeds(b []byte) int64 { return int64(bytes.Count(b, []byte{'\n'})) }

// lines counts the lines of b, of which the last need not be ended.
func lines(b []byte) int64 {
	n := lineFeeds(b)
	if len(b) > 0 && b[len(b)-1] != '\n' {
		n++
	}
	return n
}

// partly is 1 when what is kept of b, its last size bytes, begins within a line, of which
// some is left out.
func partly(b []byte, size int) int64 {
	if at := len(b) - size; size > 0 && (at == 0 || b[at-1] != '\n') {
		return 1
	}
	return 0
}

// last is the last byte written, or 0.
func (r *ring) last() byte {
	switch {
	case len(r.b) == 0:
		return 0
	case r.start > 0:
		return r.b[r.start-1]
	}
	return r.b[len(r.b)-1]
}
