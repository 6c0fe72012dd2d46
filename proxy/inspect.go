package proxy

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"

	"scupper.dev/scupper/capability"
)

var errTrailing = errors.New("there is something behind the coded body")

// prepareBody makes the body to send: the client's as it flows, or, where the grant
// demands inspection, the bytes that the inspector wrote anew. A small one is read to its
// end first. False: the exchange has failed.
func (x *exchange) prepareBody() bool {
	if !x.q.Body.Present {
		return true
	}
	x.pace()
	rule := x.d.Allow.Body
	x.body, x.length = x.upload(x.r.Body, rule.Max), x.q.Body.Length
	if rule.Inspector == nil {
		return !x.small() || x.readAhead(rule)
	}
	if !x.hold(rule) {
		return false
	}
	sent, err := x.whole(rule)
	if x.foreignTrailer() {
		x.fail(*denied(capability.ForeignCredential))
		return false
	}
	if err != nil {
		x.q.Body.Mismatch = err.Error()
		x.fail(*denied(capability.BodyNotGranted)) // unless reading it failed first
		return false
	}
	x.sendWhole(sent)
	return true
}

// sendWhole makes sent the body to send.
func (x *exchange) sendWhole(sent []byte) {
	x.body, x.length = x.upload(io.NopCloser(bytes.NewReader(sent)), int64(len(sent))), int64(len(sent))
	x.body.done.Store(true) // the client's, that is
}

// forms of a body that inspection has in memory: as it came, decoded, written anew.
const forms = 3

// hold waits for room for a body, which the exchange then has to its end. Whoever keeps
// many bodies waiting keeps itself waiting.
func (x *exchange) hold(rule *capability.BodyRule) bool {
	most := min(rule.Max, int64(x.p.cfg.Limits.Held/forms))
	if n := x.q.Body.Length; n >= 0 && x.q.Body.Encoding == "" {
		most = min(most, n)
	}
	if err := x.p.held.Acquire(x.r.Context(), forms*most); err != nil {
		x.fail(clientFailure(x.r, err))
		return false
	}
	x.held = forms * most
	return true
}

// whole reads the body, takes its coding off and has it inspected. Neither form may be
// longer than the maximum.
func (x *exchange) whole(rule *capability.BodyRule) ([]byte, error) {
	body, err := io.ReadAll(&capped{x: x, from: x.r.Body, left: rule.Max})
	if err != nil {
		return nil, err
	}
	if x.q.Body.Encoding == "gzip" {
		if body, err = x.unzip(body, rule.Max); err != nil {
			return nil, err
		}
	}
	if err := x.p.turns.Acquire(x.r.Context(), 1); err != nil {
		x.fail(failure{kind: errClientGone, cause: err})
		return nil, err
	}
	defer x.p.turns.Release(1)
	return rule.Inspector.Inspect(body)
}

// unzip takes exactly one gzip member apart (RFC 1952).
func (x *exchange) unzip(coded []byte, most int64) ([]byte, error) {
	in := bytes.NewReader(coded)
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	body, err := io.ReadAll(&capped{x: x, from: z, left: most})
	if err == nil && in.Len() > 0 {
		err = errTrailing
	}
	return body, err
}

// capped reads up to left bytes; more of them fail the exchange.
type capped struct {
	x    *exchange
	from io.Reader
	left int64
}

func (c *capped) Read(buf []byte) (int, error) {
	if int64(len(buf))-1 > c.left {
		buf = buf[:c.left+1]
	}
	n, err := c.from.Read(buf)
	if c.left -= int64(n); c.left < 0 {
		return 0, c.x.cut(capability.BodyTooLarge)
	}
	if err != nil && err != io.EOF && c.from == io.Reader(c.x.r.Body) {
		c.x.fail(clientFailure(c.x.r, err))
	}
	return n, err
}
