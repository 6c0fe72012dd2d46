package audit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"
)

// headFile is the newest signed head of a run, in its folder.
const headFile = "head"

func headOf(dir, run string) string { return filepath.Join(dir, run, headFile) }

// sealer signs heads of one log. They go into the run's folder and, where those who can
// write there cannot, into the installation's record.
type sealer struct {
	dir, run string
	key      *Key
	entry    *registered
	log      *log

	mu     sync.Mutex
	head   Head
	signed []byte

	sealing sync.Mutex
	halt    sync.Once
	stop    chan struct{}
	stopped chan struct{}
	ready   chan struct{} // unfit is set
	unfit   error         // why nothing can be signed
}

// key is that of the installation, or nil without one.
func (c *Config) key() (*Key, error) {
	if c.State == "" {
		return nil, nil
	}
	return OpenKey(c.State)
}

// newSealer registers the run, before anything of its log is there. It is nil without
// a key.
func newSealer(c Config, key *Key, run string) (*sealer, error) {
	if key == nil {
		return nil, nil
	}
	s := &sealer{dir: c.Dir, run: run, key: key, stop: make(chan struct{}), stopped: make(chan struct{}), ready: make(chan struct{})}
	var err error
	if s.entry, err = enrol(c.State, c.Dir, run); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *sealer) sign(t *tree) ([]byte, Head, error) {
	signer, err := s.key.signer()
	if err != nil {
		return nil, Head{}, fmt.Errorf("sign a head: %w", err)
	}
	root, err := t.root()
	if err != nil {
		return nil, Head{}, fmt.Errorf("sign a head: %w", err)
	}
	h := Head{Log: s.key.name + "/" + s.run, Size: t.n, Root: root}
	signed, err := note.Sign(&note.Note{Text: h.text()}, signer)
	if err != nil {
		return nil, Head{}, fmt.Errorf("sign a head: %w", err)
	}
	return signed, h, nil
}

// public is the key's name; nobody needs more to find its public part.
func (s *sealer) public() string {
	if s == nil {
		return ""
	}
	return s.key.name + "+" + s.key.number
}

// start seals what is new from time to time. A disk that hangs holds up nothing else.
func (s *sealer) start(l *log, every time.Duration) {
	if s == nil {
		return
	}
	s.log = l
	go func() {
		defer close(s.stopped)
		_, s.unfit = s.key.signer()
		close(s.ready)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-s.stop:
				return
			case <-tick.C:
				_ = s.seal() // the next one may succeed; the last one is answered for
			}
		}
	}()
}

// fit waits until it is known whether the key can sign, and says why it cannot.
func (s *sealer) fit() error {
	if s == nil {
		return nil
	}
	<-s.ready
	return s.unfit
}

// seal signs the log as it is now, if there is anything new, while that is put on the
// disk. A head must not be ahead of the disk, or a power cut would look like a crime.
func (s *sealer) seal() error {
	s.sealing.Lock()
	defer s.sealing.Unlock()
	t, fresh := s.log.snapshot()
	synced := make(chan error, 1)
	go func() { synced <- s.log.flush() }()
	if s.size() == t.n {
		return <-synced
	}
	signed, h, err := s.sign(&t)
	if err == nil {
		err = errors.Join(s.writeLeaves(fresh), os.WriteFile(s.newHead(), signed, 0o600))
	}
	if err = errors.Join(err, <-synced); err != nil {
		s.log.keepLeaves(fresh)
		return err
	}
	err = errors.Join(os.Rename(s.newHead(), headOf(s.dir, s.run)), s.entry.put(signed))
	s.mu.Lock()
	s.head, s.signed = h, signed
	s.mu.Unlock()
	return err
}

func (s *sealer) newHead() string { return headOf(s.dir, s.run) + ".new" }

// writeLeaves writes each to its place, so that writing twice does no harm.
func (s *sealer) writeLeaves(fresh []leaves) error {
	for _, c := range fresh {
		f, err := os.OpenFile(leavesFile(s.dir, s.run, c.segment), os.O_WRONLY|os.O_CREATE, 0o600)
		if err != nil {
			return err
		}
		_, err = f.WriteAt(c.hashes, c.first*int64(len(Head{}.Root)))
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}

func (s *sealer) size() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.head.Size
}

// newestHead is the newest one and its signed form, nil when there is none yet.
func (s *sealer) newestHead() (Head, []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.head, s.signed
}

// newest is the newest head in one word, or empty.
func (s *sealer) newest() string {
	if s == nil {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.signed == nil {
		return ""
	}
	return s.head.String()
}

// last is the function that seals a log which is written no more, or nil. complete
// means that it has all its records.
func (s *sealer) last() func(complete bool) error {
	if s == nil {
		return nil
	}
	s.halt.Do(func() { close(s.stop) })
	return func(complete bool) error {
		<-s.stopped
		err := s.seal()
		if err = errors.Join(err, s.entry.close(complete && err == nil)); err != nil {
			return fmt.Errorf("sign the audit log: %w", err)
		}
		return nil
	}
}

// leave gives up a run that has not begun.
func (s *sealer) leave() error {
	if s == nil || s.entry == nil {
		return nil
	}
	return errors.Join(os.Remove(s.entry.open), s.entry.close(false))
}

// snapshot is the tree as it is now, and the leaves that no file has yet; they are the
// caller's to keep.
func (l *log) snapshot() (tree, []leaves) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fresh := l.leaves
	l.leaves = nil
	return l.tree, fresh
}

// keepLeaves takes leaves back that could not be written.
func (l *log) keepLeaves(old []leaves) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leaves = append(old, l.leaves...)
}
