package trim

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"scupper.dev/scupper/gateway"
)

// Limits of a store.
const (
	// MaxWhole is how much of one text is kept, in bytes.
	MaxWhole = 64 << 20
	// MaxKept is how much of all texts is kept, in bytes; the oldest ones go first.
	MaxKept = 512 << 20
	// maxFiles is how many texts are kept.
	maxFiles = 256
)

// Store keeps the wholes of trimmed results, each in a file that has no name any more:
// nothing is left of them when the process ends, however it does. It is the gateway's
// Rest. The nil Store keeps nothing.
type Store struct {
	dir string

	mu    sync.Mutex
	kept  map[key]*spool
	order []key // the oldest first
	bytes int64
}

// key is a handle and the role that has it.
type key struct{ role, handle string }

// NewStore makes a store whose files are in dir; empty is the directory for temporary
// files. The caller closes it.
func NewStore(dir string) (*Store, error) {
	s := &Store{dir: dir, kept: make(map[key]*spool)}
	f, err := s.create()
	if err != nil {
		return nil, err
	}
	return s, f.Close()
}

// create makes a file without a name.
func (s *Store) create() (*os.File, error) {
	f, err := os.CreateTemp(s.dir, "scupper-result-")
	if err != nil {
		return nil, fmt.Errorf("create file for a result: %w", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(fmt.Errorf("remove name of file for a result: %w", err), f.Close())
	}
	return f, nil
}

// Collect is a collector whose whole the store can keep.
func (s *Store) Collect(limit int64, keep gateway.Part) *Collector {
	c := NewCollector(limit, keep)
	if s != nil {
		c.spool = &spool{store: s}
	}
	return c
}

// Keep makes the whole of a collector readable for role under handle, and tells how many
// bytes of it there are; 0: none.
func (s *Store) Keep(c *Collector, role, handle string) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s == nil || c.spool == nil {
		return 0
	}
	if c.spool.size == 0 {
		c.spool.write(c.head) // short enough for memory, and yet not shown as a whole
	}
	return s.keep(c.spool, key{role, handle})
}

func (s *Store) keep(p *spool, k key) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.file == nil {
		return 0
	}
	if old := s.kept[k]; old != nil && old != p {
		s.drop(k)
	}
	if s.kept[k] == nil {
		s.kept[k], p.kept = p, true
		s.order = append(s.order, k)
		s.bytes += p.size
	}
	for len(s.order) > 1 && (len(s.order) > maxFiles || s.bytes > MaxKept) {
		s.drop(s.order[0])
	}
	return p.size
}

// drop forgets one text.
func (s *Store) drop(k key) {
	p := s.kept[k]
	delete(s.kept, k)
	for i := range s.order {
		if s.order[i] == k {
			s.order = append(s.order[:i], s.order[i+1:]...)
			break
		}
	}
	s.bytes -= p.size
	_ = p.file.Close() // it has no name, so that this ends it
}

// Open is the whole behind a handle that this role was given. The caller closes it.
func (s *Store) Open(role, handle string) (io.ReadSeekCloser, bool) {
	if s == nil {
		return nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.kept[key{role, handle}]
	if p == nil {
		return nil, false
	}
	fd, err := unix.FcntlInt(p.file.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, false
	}
	f := os.NewFile(uintptr(fd), "result")
	return &whole{io.NewSectionReader(f, 0, p.size), f}, true
}

// whole reads a file that others read as well, and that may be dropped meanwhile.
type whole struct {
	*io.SectionReader
	file *os.File
}

func (w *whole) Close() error { return w.file.Close() }

// Close drops every text.
func (s *Store) Close() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.order) > 0 {
		s.drop(s.order[0])
	}
	return nil
}

// spool is the file of one collector, made when it is first written to.
type spool struct {
	store  *Store
	file   *os.File
	size   int64
	kept   bool // by the store, which closes it
	failed bool // there is no room for it, for instance: there is no whole then
}

func (p *spool) write(b []byte) {
	b = b[:min(int64(len(b)), MaxWhole-p.size)]
	if p.failed || len(b) == 0 {
		return
	}
	if p.file == nil {
		var err error
		if p.file, err = p.store.create(); err != nil {
			p.failed = true
			return
		}
	}
	n, err := p.file.Write(b)
	p.size += int64(n)
	if err != nil {
		p.failed = true
	}
}

// close ends a spool that nobody keeps.
func (p *spool) close() {
	if p == nil || p.file == nil {
		return
	}
	_ = p.file.Close() // it has no name, so that this ends it
	p.file = nil
}
