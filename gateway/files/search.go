package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

const (
	chunk       = 512 << 10
	longestLine = 32 << 20  // of which a match can be found in one piece
	maxContext  = 128 << 10 // bytes that are kept for the lines before a match
	maxHitLine  = 500       // bytes of a line that are shown
)

// wanted says what of each file the answer needs.
type wanted struct {
	lines         bool // otherwise they are counted
	first         bool // one match is enough
	before, after int
	most          int // matching lines of one file
}

// hit is a line of an answer.
type hit struct {
	number int
	text   string
	match  bool
}

// findings are what a search found in one file.
type findings struct {
	hits   []hit
	count  int  // matching lines
	more   bool // the search ended before the file did
	binary bool
	long   bool // too long to be searched over lines, or a line is in pieces
	bytes  int64
}

// searcher searches one file at a time.
type searcher struct {
	*expression
	wanted
	automaton *automaton

	buf     []byte
	from    int // of buf: what is before has been searched
	emitted int // of buf: what is before is in hits, or never will be
	pending int // lines to show after the last match
	counted int // of buf: line ends before it are in number
	number  int // of the line at counted
	findings
}

func newSearcher(e *expression, w wanted) *searcher {
	s := &searcher{expression: e, wanted: w, buf: make([]byte, 0, chunk)}
	if e.prog != nil {
		s.automaton = newAutomaton(e.prog)
	}
	return s
}

// search goes through a file. What it returns is the caller's.
func (s *searcher) search(ctx context.Context, f io.Reader) (findings, error) {
	s.buf, s.from, s.emitted, s.pending, s.counted, s.number = s.buf[:0], 0, 0, 0, 0, 1
	s.findings = findings{}
	for first := true; ; first = false {
		end, eof, err := s.fill(ctx, f)
		if err != nil {
			return s.findings, err
		}
		if first && bytes.IndexByte(s.buf, 0) >= 0 {
			code, mark := sniff(s.buf[:min(len(s.buf), headerLength)])
			if !code.wide() {
				s.findings.binary = true
				return s.findings, nil
			}
			return s.searchWide(ctx, f, code, mark)
		}
		if s.prog == nil {
			return s.searchWhole(ctx, f, eof)
		}
		if s.lookAt(end) || eof {
			return s.findings, nil
		}
		s.slide(end)
	}
}

// fill reads on until the buffer has whole lines after from, and returns where they end.
func (s *searcher) fill(ctx context.Context, f io.Reader) (end int, eof bool, err error) {
	for {
		if err := ctx.Err(); err != nil {
			return 0, false, err
		}
		if len(s.buf) == cap(s.buf) {
			grown := make([]byte, len(s.buf), 2*cap(s.buf))
			copy(grown, s.buf)
			s.buf = grown
		}
		n, err := f.Read(s.buf[len(s.buf):cap(s.buf)])
		s.buf = s.buf[:len(s.buf)+n]
		s.findings.bytes += int64(n)
		if errors.Is(err, io.EOF) {
			return len(s.buf), true, nil
		}
		if err != nil {
			return 0, false, err
		}
		if i := bytes.LastIndexByte(s.buf[s.from:], '\n'); i >= 0 {
			return s.from + i + 1, false, nil
		}
		if len(s.buf)-s.from >= longestLine {
			s.long = true
			return len(s.buf), false, nil
		}
	}
}

// slide forgets what has been searched, but for lines that may be shown before a match.
func (s *searcher) slide(end int) {
	keep := end
	for range s.before {
		if keep == 0 || end-keep > maxContext {
			break
		}
		keep = bytes.LastIndexByte(s.buf[:keep-1], '\n') + 1
	}
	s.lineNumber(keep)
	s.buf = append(s.buf[:0], s.buf[keep:]...)
	s.from, s.counted, s.emitted = end-keep, s.counted-keep, max(0, s.emitted-keep)
	if cap(s.buf) > 2*chunk && len(s.buf) < chunk {
		s.buf = append(make([]byte, 0, chunk), s.buf...)
	}
}

// lineNumber is the number of the line at an offset, which never falls.
func (s *searcher) lineNumber(at int) int {
	if !s.lines {
		s.counted = at
		return 0
	}
	if at > s.counted {
		s.number += bytes.Count(s.buf[s.counted:at], []byte{'\n'})
		s.counted = at
	}
	return s.number
}

// lookAt searches the lines up to end, and reports whether that is enough.
func (s *searcher) lookAt(end int) (enough bool) {
	for s.from < end {
		from, to, ok := s.nextLine(s.buf[s.from:end])
		if !ok {
			break
		}
		from, to = s.from+from, s.from+to
		s.from = to + 1
		if s.count++; s.first {
			s.more = true
			return true
		}
		if s.lines {
			s.emit(from, to)
		}
		if s.count >= s.most {
			s.more = true
			return true
		}
	}
	s.from = end
	s.showAfter(end)
	return false
}

// nextLine is the first line of text that matches.
func (s *searcher) nextLine(text []byte) (from, to int, ok bool) {
	if !s.usesNeedle() {
		i := s.automaton.find(text)
		if i < 0 {
			return 0, 0, false
		}
		from, to = lineAround(text, i)
		return from, to, true
	}
	for at := 0; at < len(text); {
		i := s.needle.index(text[at:])
		if i < 0 {
			break
		}
		from, to = lineAround(text, at+i)
		if s.exact || s.automaton.find(text[from:to]) >= 0 {
			return from, to, true
		}
		at = to + 1
	}
	return 0, 0, false
}

// usesNeedle reports whether the needle is worth looking for before the expression.
func (e *expression) usesNeedle() bool {
	return len(e.needle.text) > 2 || e.needle.text != "" && (e.exact || e.needle.worth() > 50)
}

// emit shows a match and the lines around it.
func (s *searcher) emit(from, to int) {
	s.showAfter(from)
	start := from
	for range s.before {
		if start <= s.emitted {
			break
		}
		start = max(s.emitted, bytes.LastIndexByte(s.buf[:start-1], '\n')+1)
	}
	for start < from {
		start = s.show(start, false)
	}
	s.show(from, true)
	s.emitted, s.pending = to+1, s.after
}

// showAfter shows the lines after the last match that are before end.
func (s *searcher) showAfter(end int) {
	for s.pending > 0 && s.emitted < end {
		s.emitted = s.show(s.emitted, false)
		s.pending--
	}
}

// show adds the line at an offset, and returns where the next one begins.
func (s *searcher) show(at int, match bool) (next int) {
	_, to := lineAround(s.buf, at)
	s.hits = append(s.hits, hit{s.lineNumber(at), s.clip(s.buf[at:to], match), match})
	return to + 1
}

// clip is the part of a line that is shown: all of it, or what is around the match.
func (s *searcher) clip(text []byte, match bool) string {
	text = bytes.TrimSuffix(text, []byte{'\r'})
	if len(text) <= maxHitLine {
		shown, _ := decodeLine(text)
		return line(shown)
	}
	from := 0
	if at := s.whole.FindIndex(text); match && at != nil {
		from = max(0, min(at[0]-maxHitLine/5, len(text)-maxHitLine))
	}
	to := min(from+maxHitLine, len(text))
	for from > 0 && from < to && !utf8.RuneStart(text[from]) {
		from++
	}
	shown, _ := decodeLine(validPrefix(text[from:to]))
	shown = line(shown)
	if from > 0 {
		shown = fmt.Sprintf("[%d bytes cut] ", from) + shown
	}
	if to < len(text) {
		shown += fmt.Sprintf(" [%d bytes cut]", len(text)-to)
	}
	return shown
}

// searchWide searches a file in UTF-16, of which the buffer has the beginning.
func (s *searcher) searchWide(ctx context.Context, f io.Reader, code encoding, mark int) (findings, error) {
	text, err := s.rest(ctx, f)
	if err != nil || s.long {
		return s.findings, err
	}
	size := s.findings.bytes
	found, err := s.search(ctx, bytes.NewReader(bytes.ReplaceAll([]byte(code.decode(text[mark:])), []byte{0}, []byte("\ufffd"))))
	found.bytes = size
	return found, err
}

// rest reads a file to its end, if it is not too long to be held.
func (s *searcher) rest(ctx context.Context, f io.Reader) ([]byte, error) {
	text := bytes.Clone(s.buf)
	more, err := io.ReadAll(io.LimitReader(f, int64(maxWhole-len(text)+1)))
	s.findings.bytes += int64(len(more))
	if text = append(text, more...); len(text) > maxWhole {
		s.long, text = true, nil
	}
	return text, errors.Join(err, ctx.Err())
}

// searchWhole searches over lines.
func (s *searcher) searchWhole(ctx context.Context, f io.Reader, eof bool) (findings, error) {
	text := s.buf
	if !eof {
		var err error
		if text, err = s.rest(ctx, f); err != nil || s.long {
			return s.findings, err
		}
	}
	if s.needle.text != "" && s.needle.index(text) < 0 {
		return s.findings, nil
	}
	s.buf = text
	for at := 0; at <= len(text) && ctx.Err() == nil; {
		m := s.whole.FindIndex(text[at:])
		if m == nil {
			break
		}
		from, _ := lineAround(text, at+m[0])
		_, to := lineAround(text, max(at+m[0], at+m[1]-1))
		if from == len(text) && from > 0 {
			break // an empty match after the last line
		}
		s.count++
		if s.lines {
			s.emitSpan(from, to)
		}
		if s.more = s.first || s.count >= s.most; s.more {
			break
		}
		at = to + 1
	}
	s.showAfter(len(text))
	return s.findings, ctx.Err()
}

// emitSpan shows a match over several lines.
func (s *searcher) emitSpan(from, to int) {
	_, end := lineAround(s.buf, from)
	s.emit(from, end)
	for at := end + 1; at <= to && at < len(s.buf); {
		at = s.show(at, true)
		s.emitted = at
	}
}
