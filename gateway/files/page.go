package files

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"
	"unicode/utf8"
)

// page collects the lines of a file from first to last, as far as they have room, and
// counts the others.
type page struct {
	ctx         context.Context
	first, last int64
	sum         hash.Hash // of the whole file

	out   strings.Builder
	full  bool
	read  int64 // bytes
	lines int64 // in all
	shown int64 // number of the last line in out
	cut   int64 // lines in out that are not whole
	other int64 // lines in out that are not UTF-8
	wide  int64 // lines in out that have UTF-8 sequences
	crlf  int64
	lf    int64
}

// scan goes through a file in an encoding of single bytes.
func (p *page) scan(f io.Reader, mark int) error {
	r := bufio.NewReaderSize(io.TeeReader(f, p.sum), 256<<10)
	skipped, err := r.Discard(mark)
	p.read += int64(skipped)
	for err == nil {
		if err = p.ctx.Err(); err != nil {
			return refuse(TimedOut, "the time was over after %d lines", p.lines)
		}
		err = p.scanLine(r)
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// scanLine takes the next line, of which it holds no more than can be shown.
func (p *page) scanLine(r *bufio.Reader) error {
	var kept []byte
	var length int64
	crlf := false
	for {
		piece, err := r.ReadSlice('\n')
		length += int64(len(piece))
		if room := maxLine*utf8.UTFMax + 1 - len(kept); room > 0 && p.wants(p.lines+1) {
			kept = append(kept, piece[:min(len(piece), room)]...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			crlf = piece[len(piece)-1] == '\r'
			continue
		}
		if length > 0 {
			p.read += length
			crlf = err == nil && (bytes.HasSuffix(piece, []byte("\r\n")) || len(piece) == 1 && crlf)
			p.ended(err == nil, crlf)
			end := 0
			if err == nil {
				end = 1
			}
			if crlf {
				end = 2
			}
			p.add(kept, length-int64(end))
		}
		return err
	}
}

// ended counts how a line ends.
func (p *page) ended(newline, crlf bool) {
	p.lines++
	switch {
	case crlf:
		p.crlf++
	case newline:
		p.lf++
	}
}

func (p *page) wants(line int64) bool { return line >= p.first && line <= p.last && !p.full }

// add shows a line, of which length bytes count; kept may have less or the line end.
func (p *page) add(kept []byte, length int64) {
	if !p.wants(p.lines) {
		return
	}
	kept = kept[:min(int64(len(kept)), length)]
	whole := int64(len(kept)) == length
	if !whole {
		kept = validPrefix(kept)
	}
	text, code := decodeLine(kept)
	if code != utf8Text {
		p.other++
	} else if len(text) != utf8.RuneCountInString(text) {
		p.wide++
	}
	p.show(text, length-int64(len(kept)))
}

// show appends a line; left is how many bytes of it are not in text.
func (p *page) show(text string, left int64) {
	runes := 0
	for i := range text {
		if runes == maxLine {
			left += int64(len(text) - i)
			text = text[:i]
			break
		}
		runes++
	}
	shown := fmt.Sprintf("%6d\t%s", p.lines, line(text))
	if left > 0 {
		shown += fmt.Sprintf(" [%d bytes cut]", left)
	}
	if p.out.Len()+len(shown)+1 > maxShown && p.shown > 0 {
		p.full = true
		return
	}
	if left > 0 {
		p.cut++
	}
	p.out.WriteString(shown + "\n")
	p.shown = p.lines
}

// validPrefix leaves out a character at the end that is not whole.
func validPrefix(text []byte) []byte {
	for i := 1; i <= utf8.UTFMax && i <= len(text); i++ {
		if b := text[len(text)-i]; utf8.RuneStart(b) {
			if !utf8.FullRune(text[len(text)-i:]) {
				return text[:len(text)-i]
			}
			break
		}
	}
	return text
}

// scanWide goes through a file in UTF-16, which is read whole.
func (p *page) scanWide(f io.Reader, code encoding, mark int) error {
	text, err := io.ReadAll(io.LimitReader(io.TeeReader(f, p.sum), maxWhole+1))
	if err != nil {
		return err
	}
	if len(text) > maxWhole {
		return refuse(TooLarge, "the file is written in UTF-16 and has more than %d bytes", maxWhole)
	}
	p.read = int64(len(text))
	for line := range strings.Lines(code.decode(text[mark:])) {
		bare, newline := strings.CutSuffix(line, "\n")
		bare, crlf := strings.CutSuffix(bare, "\r")
		p.ended(newline, newline && crlf)
		if p.wants(p.lines) {
			p.show(bare, 0)
		}
	}
	return nil
}

// ends names the line ends of the file.
func (p *page) ends() string {
	switch {
	case p.crlf > 0 && p.lf > 0:
		return "mixed"
	case p.crlf > 0:
		return "crlf"
	case p.lf > 0:
		return "lf"
	}
	return "none"
}
