package audit

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"scupper.dev/scupper/capability"
)

// hanging is a file system in memory, served through /dev/fuse, whose operations all
// hang when the test wants it.
type hanging struct {
	device *os.File
	mu     sync.Mutex
	held   chan struct{} // operations wait until it is closed; nil: they do not
	nodes  map[uint64]*inode
	next   uint64
}

type inode struct {
	children map[string]uint64 // nil: a file
	data     []byte
}

// Operations (include/uapi/linux/fuse.h).
const (
	opLookup, opForget, opGetattr, opSetattr  = 1, 2, 3, 4
	opMkdir, opUnlink, opRename, opOpen       = 9, 10, 12, 14
	opRead, opWrite, opRelease, opFsync       = 15, 16, 18, 20
	opFlush, opInit, opOpendir, opReaddir     = 25, 26, 27, 28
	opReleasedir, opCreate, opInterrupt       = 29, 35, 36
	opBatchForget, opRename2                  = 42, 45
	fuseBigWrites, setattrSize, writeInLength = 1 << 5, 1 << 3, 40
)

// serveHanging mounts one at dir, in a mount namespace of the test's own.
func serveHanging(t *testing.T, dir string) *hanging {
	t.Helper()
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		t.Fatal(err)
	}
	// Blocking, and not by the poller: a request that hangs shall hang.
	fd, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatalf("this test needs /dev/fuse: %v", err)
	}
	h := &hanging{device: os.NewFile(uintptr(fd), "/dev/fuse"), nodes: map[uint64]*inode{1: {children: map[string]uint64{}}}, next: 2}
	options := fmt.Sprintf("fd=%d,rootmode=40000,user_id=%d,group_id=%d", fd, os.Getuid(), os.Getgid())
	if err := unix.Mount("test", dir, "fuse", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		t.Fatalf("mount FUSE: %v", err)
	}
	go h.serve(fd)
	t.Cleanup(func() {
		h.release()
		_ = unix.Unmount(dir, unix.MNT_FORCE) // who still waits for an answer gets an error
		_ = unix.Unmount(dir, unix.MNT_DETACH)
	})
	return h
}

func (h *hanging) serve(fd int) {
	buf := make([]byte, 1<<20)
	for {
		n, err := unix.Read(fd, buf)
		if errors.Is(err, unix.EINTR) || errors.Is(err, unix.ENOENT) {
			continue
		}
		if err != nil {
			return
		}
		go h.handle(fd, bytes.Clone(buf[:n]))
	}
}

func (h *hanging) hang() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.held = make(chan struct{})
}

func (h *hanging) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.held != nil {
		close(h.held)
		h.held = nil
	}
}

// handle answers one request.
func (h *hanging) handle(fd int, in []byte) {
	le := binary.LittleEndian
	op, unique, node, body := le.Uint32(in[4:]), le.Uint64(in[8:]), le.Uint64(in[16:]), in[40:]
	if op == opForget || op == opBatchForget || op == opInterrupt {
		return
	}
	h.mu.Lock()
	held := h.held
	h.mu.Unlock()
	if held != nil {
		<-held
	}
	h.mu.Lock()
	out, errno := h.answer(op, node, body)
	h.mu.Unlock()
	head := make([]byte, 16, 16+len(out))
	le.PutUint32(head, uint32(16+len(out)))
	le.PutUint32(head[4:], uint32(-int32(errno)))
	le.PutUint64(head[8:], unique)
	_, _ = unix.Write(fd, append(head, out...)) // a request that was interrupted has no taker
}

func (h *hanging) answer(op uint32, id uint64, body []byte) ([]byte, syscall.Errno) {
	le := binary.LittleEndian
	n := h.nodes[id]
	if n == nil && op != opInit {
		return nil, unix.ENOENT
	}
	switch op {
	case opInit:
		out := make([]byte, 64)
		le.PutUint32(out, 7)
		le.PutUint32(out[4:], 31)
		le.PutUint32(out[12:], fuseBigWrites)
		le.PutUint32(out[20:], 128<<10)
		return out, 0
	case opLookup:
		return h.found(n, name(body))
	case opGetattr:
		return append(make([]byte, 16), h.attr(id)...), 0
	case opSetattr:
		if size := int(le.Uint64(body[16:])); le.Uint32(body)&setattrSize != 0 {
			n.data = append(n.data, make([]byte, max(0, size-len(n.data)))...)[:size]
		}
		return append(make([]byte, 16), h.attr(id)...), 0
	case opMkdir:
		h.make(n, name(body[8:]), map[string]uint64{})
		return h.found(n, name(body[8:]))
	case opCreate:
		h.make(n, name(body[16:]), nil)
		out, errno := h.found(n, name(body[16:]))
		return append(out, make([]byte, 16)...), errno
	case opOpen, opOpendir:
		return make([]byte, 16), 0
	case opUnlink:
		delete(n.children, name(body))
		return nil, 0
	case opRename, opRename2:
		return nil, h.rename(n, body, op)
	case opRead:
		at, size := le.Uint64(body[8:]), uint64(le.Uint32(body[16:]))
		all := uint64(len(n.data))
		return n.data[min(at, all):min(at+size, all)], 0
	case opWrite:
		return n.write(int(le.Uint64(body[8:])), body[writeInLength:][:le.Uint32(body[16:])]), 0
	case opReaddir:
		return n.list(le.Uint64(body[8:])), 0
	case opRelease, opReleasedir, opFlush, opFsync:
		return nil, 0
	}
	return nil, unix.ENOSYS
}

func name(b []byte) string { s, _, _ := bytes.Cut(b, []byte{0}); return string(s) }

func (h *hanging) make(in *inode, called string, children map[string]uint64) {
	h.nodes[h.next] = &inode{children: children}
	in.children[called] = h.next
	h.next++
}

func (h *hanging) found(in *inode, called string) ([]byte, syscall.Errno) {
	id, ok := in.children[called]
	if !ok {
		return nil, unix.ENOENT
	}
	out := make([]byte, 40)
	binary.LittleEndian.PutUint64(out, id)
	return append(out, h.attr(id)...), 0
}

func (h *hanging) attr(id uint64) []byte {
	le, n, out := binary.LittleEndian, h.nodes[id], make([]byte, 88)
	mode := uint32(unix.S_IFREG | 0o600)
	if n.children != nil {
		mode = unix.S_IFDIR | 0o700
	}
	le.PutUint64(out, id)
	le.PutUint64(out[8:], uint64(len(n.data)))
	le.PutUint32(out[60:], mode)
	le.PutUint32(out[64:], 1)
	le.PutUint32(out[68:], uint32(os.Getuid()))
	le.PutUint32(out[72:], uint32(os.Getgid()))
	return out
}

func (h *hanging) rename(from *inode, body []byte, op uint32) syscall.Errno {
	to, names := h.nodes[binary.LittleEndian.Uint64(body)], body[8:]
	if op == opRename2 {
		names = body[16:]
	}
	old := name(names)
	id, ok := from.children[old]
	if !ok || to == nil {
		return unix.ENOENT
	}
	delete(from.children, old)
	to.children[name(names[len(old)+1:])] = id
	return 0
}

func (n *inode) write(at int, text []byte) []byte {
	n.data = append(n.data, make([]byte, max(0, at+len(text)-len(n.data)))...)
	copy(n.data[at:], text)
	out := make([]byte, 8)
	binary.LittleEndian.PutUint32(out, uint32(len(text)))
	return out
}

func (n *inode) list(after uint64) (out []byte) {
	le := binary.LittleEndian
	for i, called := range slices.Sorted(maps.Keys(n.children)) {
		if uint64(i) < after {
			continue
		}
		e := make([]byte, 24, 24+len(called)+7)
		le.PutUint64(e, n.children[called])
		le.PutUint64(e[8:], uint64(i+1))
		le.PutUint32(e[16:], uint32(len(called)))
		e = append(e, called...)
		out = append(out, append(e, make([]byte, -len(e)&7)...)...)
	}
	return out
}

// TestHungFileSystem: AUD-05, on a real file system that stops answering. Requests are
// refused within the deadline, none passes without a record, and all recovers.
func TestHungFileSystem(t *testing.T) {
	dir := os.Getenv(inNamespace)
	if dir == "" {
		runInNamespace(t)
		return
	}
	h := serveHanging(t, dir)
	for _, durability := range []Durability{Commit, Fsync} {
		t.Run("AUD-05 "+string(durability), func(t *testing.T) {
			state := t.TempDir()
			if _, err := MakeKey(state, false); err != nil {
				t.Fatal(err)
			}
			const deadline = 300 * time.Millisecond
			g := newGuard(t, func(c *Config) {
				c.Dir, c.State, c.Durability, c.WriteTimeout = dir, state, durability, deadline
				c.FlushEvery, c.SealEvery = 10*time.Millisecond, 10*time.Millisecond
			})
			get := ask(t, "GET", "api.example.com", "/repos/app")
			allowed := allowedOf(g, get, 20)
			if allowed != 20 {
				t.Fatalf("control: %d of 20 allowed", allowed)
			}
			h.hang()
			begun := time.Now()
			if n := allowedOf(g, get, 50); n > 1 { // what hangs first may be a sync, after the record
				t.Errorf("%d allowed while the disk hung", n)
			} else {
				allowed += n
			}
			wantUnavailable(t, g.Authorize(get))
			if took := time.Since(begun); took > 10*deadline {
				t.Errorf("the refusals took %s", took)
			}
			h.release()
			waitFor(t, func() bool { return g.log.unavailable() == 0 && allowedOf(g, get, 1) == 1 })
			allowed++
			if err := g.Close(0); err != nil {
				t.Fatal(err)
			}
			all := records(t, g)
			if n := len(events(all, Decided)) - len(events(all, Withdrawn)); n != allowed {
				t.Errorf("%d decisions hold by the record, %d were allowed", n, allowed)
			}
			if v, err := Verify(dir, g.run, trustOf(t, state)); err != nil || !v.Closed {
				t.Errorf("%+v, %v", v, err)
			}
		})
	}
	t.Run("AUD-05 at the end", func(t *testing.T) {
		g := newGuard(t, func(c *Config) { c.Dir, c.WriteTimeout = dir, 100*time.Millisecond })
		h.hang()
		begun := time.Now()
		if err := g.Close(0); !errors.Is(err, errHung) || time.Since(begun) > 5*time.Second {
			t.Errorf("after %s: %v", time.Since(begun), err)
		}
		h.release()
	})
}

// allowedOf asks n times at once and counts.
func allowedOf(g *Guard, r *capability.Request, n int) int {
	var mu sync.Mutex
	var wg sync.WaitGroup
	allowed := 0
	for range n {
		wg.Go(func() {
			if g.Authorize(r).Allowed() {
				mu.Lock()
				defer mu.Unlock()
				allowed++
			}
		})
	}
	wg.Wait()
	return allowed
}
