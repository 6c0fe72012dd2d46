package trim

import (
	"bytes"
	"crypto/sha256"
	"hash"
	"sync"
	"unicode/utf8"

	"scupper.dev/scupper/gateway"
)

// MinLimit is the least that a result may have to show, in bytes: room for the marker,
// the notes and a line.
const MinLimit = 1024

// A Collector takes a text as it is produced and keeps what will be shown of it: its
// beginning and its end in memory, the whole in a file of the store once it is longer
// than that. The zero value is not usable; its methods are safe for concurrent use.
type Collector struct {
	mu     sync.Mutex
	limit  int
	keep   gateway.Part
	head   []byte // the first bytes, up to limit
	tail   ring   // the last bytes, up to limit
	whole  int64  // bytes written
	chars  int64  // characters of them that are complete
	lines  int64  // line feeds
	torn   []byte // the beginning of a character at the end
	digest hash.Hash
	spool  *spool // nil: there is none
}

// NewCollector is a collector for a text of which limit bytes may be shown.
func NewCollector(limit int64, keep gateway.Part) *Collector {
	n := int(max(limit, MinLimit))
	return &Collector{limit: n, keep: keep, digest: sha256.New(), tail: ring{size: n}}
}

// Write takes the next bytes. It never fails: what cannot be kept is counted.
func (c *Collector) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.digest.Write(b)
	c.count(b)
	if c.spool != nil {
		if c.whole <= int64(c.limit) && c.whole+int64(len(b)) > int64(c.limit) {
			c.spool.write(c.head)
		}
		if c.whole+int64(len(b)) > int64(c.limit) {
			c.spool.write(b)
		}
	}
	c.whole += int64(len(b))
	if free := c.limit - len(c.head); free > 0 {
		c.head = append(c.head, b[:min(free, len(b))]...)
	}
	c.tail.write(b)
	return len(b), nil
}

// count counts the characters of b, of which the last may still be under way.
func (c *Collector) count(b []byte) {
	c.lines += int64(bytes.Count(b, []byte{'\n'}))
	for len(c.torn) > 0 && len(b) > 0 {
		c.torn = append(c.torn, b[0])
		b = b[1:]
		c.settle()
	}
	from := max(0, len(b)-utf8.UTFMax+1)
	for i := from; i < len(b); i++ {
		if !utf8.RuneStart(b[i]) || utf8.FullRune(b[i:]) {
			continue
		}
		c.torn = append(c.torn, b[i:]...)
		b = b[:i]
		break
	}
	c.chars += int64(utf8.RuneCount(b))
}

// settle counts what of the torn character has turned out to be one.
func (c *Collector) settle() {
	for len(c.torn) > 0 && utf8.FullRune(c.torn) {
		_, size := utf8.DecodeRune(c.torn)
		c.torn = c.torn[size:]
		c.chars++
	}
}

// Whole is how many bytes were written so far.
func (c *Collector) Whole() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.whole
}

// Text is what is shown of the text so far.
func (c *Collector) Text() Text {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := Text{Whole: c.whole}
	c.digest.Sum(t.Digest[:0])
	c.cut(&t)
	return t
}

// ring keeps the last bytes written to it.
type ring struct {
	size  int
	b     []byte
	start int // of the oldest byte, once it is full
}

func (r *ring) write(b []byte) {
	if len(b) >= r.size {
		r.b, r.start = append(r.b[:0], b[len(b)-r.size:]...), 0
		return
	}
	if free := r.size - len(r.b); free > 0 {
		n := min(free, len(b))
		r.b = append(r.b, b[:n]...)
		b = b[n:]
	}
	for len(b) > 0 {
		n := copy(r.b[r.start:], b)
		r.start = (r.start + n) % r.size
		b = b[n:]
	}
}

// bytes are what it keeps, in order.
func (r *ring) bytes() []byte { return append(bytes.Clone(r.b[r.start:]), r.b[:r.start]...) }

// Close lets the whole go, unless the store keeps it. What is shown stays readable.
func (c *Collector) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.spool != nil && !c.spool.kept {
		c.spool.close()
	}
	c.spool = nil
}
