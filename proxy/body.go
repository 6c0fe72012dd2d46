package proxy

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"net/http"
	"sync"
	"sync/atomic"

	"scupper.dev/scupper/capability"
)

// chunk is the size of the pooled buffers that bodies pass through, in bytes.
const chunk = 32 << 10

func newBuffers() *sync.Pool { return &sync.Pool{New: func() any { return new([chunk]byte) }} }

// uploadBody is the client's body on its way upstream: counted, and cut where it grows
// over what the grant takes.
type uploadBody struct {
	x    *exchange
	from io.ReadCloser
	left int64
	done atomic.Bool // the client's was read to its end
	sent atomic.Bool // this one was
	shut atomic.Bool // the upstream wants no more of it

	finder finder
	hash   hash.Hash // SHA-256 of what was read
}

func (x *exchange) upload(from io.ReadCloser, most int64) *uploadBody {
	return &uploadBody{x: x, from: from, left: most, finder: finder{texts: x.p.cfg.Policy().Placeholders()}, hash: sha256.New()}
}

// digest is the hash of a body that was read to its end, else empty: the reader may be
// another goroutine.
func (b *uploadBody) digest() string {
	if b == nil || !b.sent.Load() {
		return ""
	}
	return hex.EncodeToString(b.hash.Sum(nil))
}

// readAheadMax is the length in bytes up to which a declared body is read to its end
// before anything of its request goes upstream. There are origins that take for whole
// what was cut: of a request that is refused in the middle, they shall know nothing.
const readAheadMax = 64 << 10

func (x *exchange) small() bool { return x.length >= 0 && x.length <= readAheadMax }

// readAhead reads a small body. It holds memory as inspection does, and waits for it.
func (x *exchange) readAhead(rule *capability.BodyRule) bool {
	if err := x.p.held.Acquire(x.r.Context(), x.length); err != nil {
		x.fail(clientFailure(x.r, err))
		return false
	}
	x.held = x.length
	sent, err := io.ReadAll(&capped{x: x, from: x.r.Body, left: rule.Max})
	if err != nil {
		return false
	}
	if x.foreignTrailer() {
		x.fail(*denied(capability.ForeignCredential))
		return false
	}
	x.sendWhole(sent)
	return true
}

// early makes an answer that comes before the end of its request the last one of the
// connection.
func (x *exchange) early(h http.Header) {
	if x.body != nil && !x.body.done.Load() {
		endAfter(x.r, h)
	}
}

// Read never returns a byte that is over the maximum.
func (b *uploadBody) Read(buf []byte) (int, error) {
	if int64(len(buf))-1 > b.left {
		buf = buf[:b.left+1]
	}
	n, err := b.from.Read(buf)
	if int64(n) > b.left {
		return 0, b.x.cut(capability.BodyTooLarge)
	}
	b.left -= int64(n)
	if n > 0 { // no more of it once it was sent: then another goroutine may look
		b.finder.look(buf[:n])
		b.hash.Write(buf[:n])
		if !b.x.spend(int64(n), 0) {
			return 0, b.x.failed.Load()
		}
	}
	if err == io.EOF && b.x.foreignTrailer() {
		return 0, b.x.cut(capability.ForeignCredential)
	}
	if err == io.EOF {
		b.done.Store(true)
		b.sent.Store(true)
	} else if err != nil && !b.shut.Load() {
		b.x.fail(clientFailure(b.x.r, err))
	}
	return n, err
}

// Close lets a Read that goes on fail without blame: an origin may answer before it has
// read everything.
func (b *uploadBody) Close() error {
	b.shut.Store(true)
	return b.from.Close()
}

// cut fails the exchange for reason and is the error that aborts the transfer.
func (x *exchange) cut(reason capability.Reason) error {
	f := x.fail(*denied(reason))
	return &f
}

// downloadBody is the upstream's body on its way to the client. It copies itself, with
// a pooled buffer, and flushes wherever the stream could pause.
type downloadBody struct {
	x       *exchange
	from    io.ReadCloser
	resp    *http.Response
	flusher http.Flusher
}

func (x *exchange) download(resp *http.Response) io.ReadCloser {
	f, _ := x.w.(http.Flusher)
	return &downloadBody{x: x, from: resp.Body, resp: resp, flusher: f}
}

// WriteTo is what io.Copy calls.
func (b *downloadBody) WriteTo(w io.Writer) (total int64, err error) {
	buf := b.x.p.buffers.Get().(*[chunk]byte)
	defer b.x.p.buffers.Put(buf)
	if b.resp.ContentLength < 0 {
		b.flush() // an event stream may say nothing for long after its head
	}
	for {
		n, rerr := b.Read(buf[:])
		if n > 0 {
			if _, err := w.Write(buf[:n]); err != nil {
				b.x.fail(failure{kind: errClientGone, cause: err})
				return total, err
			}
			if total += int64(n); total != b.resp.ContentLength && rerr == nil {
				b.flush()
			}
		}
		if rerr == io.EOF {
			return total, nil
		}
		if rerr != nil {
			return total, rerr
		}
	}
}

// Read counts what it returns.
func (b *downloadBody) Read(buf []byte) (int, error) {
	n, err := b.from.Read(buf)
	if n > 0 && !b.x.spend(0, int64(n)) {
		return 0, b.x.failed.Load()
	}
	if err == io.EOF {
		b.x.trailer(b.resp.Trailer)
	} else if err != nil {
		b.x.fail(classify(err))
	}
	return n, err
}

func (b *downloadBody) Close() error { return b.from.Close() }

func (b *downloadBody) flush() {
	if b.flusher != nil {
		b.flusher.Flush()
	}
}
