package main

import (
	"bufio"
	"errors"
	"fmt"
	"time"
)

// multiplexer keeps a number of streams in flight on one HTTP/2 connection.
type multiplexer struct {
	*framer
	load    *load
	block   []byte // the header block of every request
	next    uint32 // stream
	began   map[uint32]time.Time
	left    int64 // requests that may be made
	credit  uint32
	times   latencies
	measure bool
}

var (
	errNoH2  = errors.New("HTTP/2 was not agreed on")
	errSpent = errors.New("all requests are made")
)

// streams is workload W4.
func (l *load) streams() (score, error) {
	conn, err := l.connect("h2")
	if err != nil {
		return score{}, err
	}
	defer conn.NetConn().Close()
	if conn.ConnectionState().NegotiatedProtocol != "h2" {
		return score{}, errNoH2
	}
	m := &multiplexer{
		framer: &framer{in: bufio.NewReaderSize(conn, 64<<10), out: bufio.NewWriterSize(conn, 64<<10)},
		load:   l, block: requestBlock("/v1/items/42"), next: 1, began: map[uint32]time.Time{}, left: l.most,
	}
	if err := m.open(); err != nil {
		return score{}, err
	}
	if err := m.until(time.Now().Add(l.warm)); err != nil && !errors.Is(err, errSpent) {
		return score{}, err
	}
	l.mark(lineBegin)
	began := time.Now()
	m.measure = true
	if err := m.until(began.Add(l.measured)); err != nil && !errors.Is(err, errSpent) {
		l.failures.add(err)
	}
	took := time.Since(began)
	l.mark(lineEnd)
	return score{Requests: m.times.count, Took: took, Median: m.times.quantile(0.5), P99: m.times.quantile(0.99)}, nil
}

// open says what an HTTP/2 client says first (RFC 9113 section 3.4) and asks once
// on every stream.
func (m *multiplexer) open() error {
	m.preface()
	for range m.load.connections {
		m.ask()
	}
	return m.out.Flush()
}

func (m *multiplexer) ask() {
	m.left--
	m.began[m.next] = time.Now()
	m.write(frame{kind: kindHeaders, flags: flagEndStream | flagEndHeaders, stream: m.next, payload: m.block})
	m.next += 2
}

// until answers the peer's frames and asks anew on each finished stream.
func (m *multiplexer) until(end time.Time) error {
	for time.Now().Before(end) {
		f, err := m.read()
		if err != nil {
			return err
		}
		if err := m.take(f); err != nil {
			return err
		}
		if m.left <= 0 {
			return errSpent
		}
		if m.in.Buffered() == 0 {
			if err := m.out.Flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *multiplexer) take(f frame) error {
	switch f.kind {
	case kindSettings, kindPing:
		m.acknowledge(f)
	case kindHeaders:
		if !f.ok() {
			return fmt.Errorf("an answer is not 200: header block begins with %#x", f.payload[:min(1, len(f.payload))])
		}
	case kindData:
		m.give(uint32(len(f.payload)))
	case kindReset, kindGoAway:
		return fmt.Errorf("the other side ended stream %d", f.stream)
	}
	if f.ends() {
		m.finish(f.stream)
	}
	return nil
}

func (m *multiplexer) finish(stream uint32) {
	began, known := m.began[stream]
	if !known {
		return
	}
	delete(m.began, stream)
	if m.measure {
		m.times.add(time.Since(began))
	}
	m.ask()
}

// give lets the peer send as much again as has been read, not for every frame.
func (m *multiplexer) give(read uint32) {
	if m.credit += read; m.credit > 1<<20 {
		m.window(m.credit)
		m.credit = 0
	}
}
