package main

import (
	"bufio"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

var errNotKept = errors.New("the connection was not kept")

// getter is one connection that asks again as soon as it is answered.
type getter struct {
	load  *load
	phase *atomic.Int32
	left  int64 // requests that it may make
	full  func()
	times latencies
}

// Phases of a load that lasts a time.
const (
	warming int32 = iota
	measuring
	over
)

// get keeps every connection busy for a time.
func (l *load) get() (score, error) {
	var phase atomic.Int32
	var group sync.WaitGroup
	full := make(chan struct{})
	once := sync.OnceFunc(func() { close(full) })
	getters := make([]*getter, l.connections)
	for i := range getters {
		getters[i] = &getter{load: l, phase: &phase, left: l.most / int64(l.connections), full: once}
		group.Go(getters[i].run)
	}
	sleep(l.warm, full)
	l.mark(lineBegin)
	began := time.Now()
	phase.Store(measuring)
	sleep(l.measured, full)
	phase.Store(over)
	took := time.Since(began)
	l.mark(lineEnd)
	group.Wait()
	var all latencies
	for _, g := range getters {
		all.merge(&g.times)
	}
	return score{Requests: all.count, Took: took, Median: all.quantile(0.5), P99: all.quantile(0.99)}, nil
}

func sleep(d time.Duration, full <-chan struct{}) {
	select {
	case <-time.After(d):
	case <-full:
	}
}

func (g *getter) run() {
	for attempt := 0; attempt < 5 && g.phase.Load() != over; attempt++ {
		conn, err := g.load.connect("http/1.1")
		if err == nil {
			err = g.ask(conn)
			conn.NetConn().Close()
		}
		if err != nil {
			g.load.failures.add(err)
		}
	}
	g.full()
}

// ask uses one connection until the time is over or something fails.
func (g *getter) ask(conn *tls.Conn) error {
	request := fmt.Appendf(nil, "GET /v1/items/42 HTTP/1.1\r\nHost: %s\r\nUser-Agent: bench\r\nAccept: */*\r\n\r\n", originURL)
	answers := bufio.NewReaderSize(conn, 16<<10)
	for phase := g.phase.Load(); phase != over; phase = g.phase.Load() {
		if g.left--; g.left < 0 {
			g.full()
			return nil
		}
		began := time.Now()
		if _, err := conn.Write(request); err != nil {
			return err
		}
		a, err := readAnswer(answers)
		if err != nil {
			return err
		}
		if a.status != http.StatusOK || a.bytes != 1024 {
			return fmt.Errorf("status %d with %d bytes", a.status, a.bytes)
		}
		if phase == measuring {
			g.times.add(time.Since(began))
		}
		if a.last {
			return errNotKept
		}
	}
	return nil
}
