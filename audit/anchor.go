package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/syslog"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// anchorTime is how long one anchor may take for one head.
const anchorTime = 5 * time.Second

// Anchor is a place elsewhere where signed heads are left, so that a tail which is cut
// off is missed there. One field names it.
type Anchor struct {
	File     string // heads are appended to it
	HTTP     string // an address that takes heads by POST
	Syslog   string // "local", or HOST:PORT by UDP
	Required bool   // nothing is allowed while it takes no heads
}

// String names the anchor.
func (a Anchor) String() string {
	switch {
	case a.File != "":
		return "file " + a.File
	case a.HTTP != "":
		return "http " + a.HTTP
	}
	return "syslog " + a.Syslog
}

// leave hands over one signed head.
func (a Anchor) leave(ctx context.Context, signed []byte, h Head) error {
	switch {
	case a.File != "":
		return a.append(signed)
	case a.HTTP != "":
		return a.post(ctx, signed)
	}
	return a.log(h)
}

func (a Anchor) append(signed []byte) error {
	f, err := os.OpenFile(a.File, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(writeLine(f, append(bytes.Clone(signed), '\n')), f.Sync(), f.Close())
}

func (a Anchor) post(ctx context.Context, signed []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, a.HTTP, bytes.NewReader(signed))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "text/plain; charset=utf-8")
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer client.CloseIdleConnections()
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	answer.Body.Close()
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("it answered %s", answer.Status)
	}
	return nil
}

func (a Anchor) log(h Head) error {
	network, address := "udp", a.Syslog
	if address == "local" {
		network, address = "", ""
	}
	w, err := syslog.Dial(network, address, syslog.LOG_NOTICE|syslog.LOG_AUTHPRIV, "scupper")
	if err != nil {
		return err
	}
	return errors.Join(w.Notice("log head "+h.Log+" "+h.String()), w.Close())
}

// anchors are those of a run.
type anchors struct {
	list   []Anchor
	sealer *sealer
	append func(*Record) error

	missing atomic.Int64 // since when a required one takes no heads, in nanoseconds by the clock of now; 0: it does
	mu      sync.Mutex
	failed  map[Anchor]string // why; those that work are not in it
}

// drop leaves the newest head at every anchor. An error means that a required one did
// not take it.
func (a *anchors) drop() error {
	head, signed := a.sealer.newestHead()
	if signed == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), anchorTime)
	defer cancel()
	errs := make([]error, len(a.list))
	var wg sync.WaitGroup
	for i, anchor := range a.list {
		wg.Go(func() { errs[i] = bounded(ctx, func() error { return anchor.leave(ctx, signed, head) }) })
	}
	wg.Wait()
	var required error
	for i, anchor := range a.list {
		a.note(anchor, errs[i])
		if errs[i] != nil && anchor.Required {
			required = fmt.Errorf("anchor %s: %w", anchor, errs[i])
		}
	}
	if required == nil {
		a.missing.Store(0)
	} else {
		a.missing.CompareAndSwap(0, time.Now().UnixNano())
	}
	return required
}

// bounded does not wait for f longer than ctx lasts: files hang too.
func bounded(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return errors.New("it does not answer")
	}
}

// note remembers whether an anchor works, and records that it does no more.
func (a *anchors) note(anchor Anchor, err error) {
	a.mu.Lock()
	_, before := a.failed[anchor]
	if err == nil {
		delete(a.failed, anchor)
	} else {
		a.failed[anchor] = err.Error()
	}
	a.mu.Unlock()
	if err != nil && !before {
		_ = a.append(&Record{Event: AnchorFailed, Anchor: capped(anchor.String(), maxSentence), Error: capped(err.Error(), maxSentence)}) // counted by the log
	}
}

// absent is for how long a required anchor has taken no heads.
func (a *anchors) absent() time.Duration {
	if a == nil {
		return 0
	}
	at := a.missing.Load()
	if at == 0 {
		return 0
	}
	return max(time.Duration(time.Now().UnixNano()-at), 1)
}

// failures says which anchors do not work and why.
func (a *anchors) failures() (all []string) {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, anchor := range a.list {
		if why, bad := a.failed[anchor]; bad {
			all = append(all, "anchor "+Printable(anchor.String())+": "+Printable(why))
		}
	}
	return all
}

// openAnchors leaves the first head where one is required; without that nothing begins.
func (g *Guard) openAnchors() error {
	if g.sealer == nil || len(g.config.Anchors) == 0 {
		return nil
	}
	g.anchors = &anchors{list: g.config.Anchors, sealer: g.sealer, append: g.log.append, failed: make(map[Anchor]string)}
	for _, a := range g.config.Anchors {
		if !a.Required {
			continue
		}
		if err := g.sealer.seal(); err != nil {
			return err
		}
		return g.anchors.drop()
	}
	return nil
}

// tendAnchors leaves heads on a timer, until Close.
func (g *Guard) tendAnchors() {
	defer close(g.anchored)
	if g.anchors == nil {
		return
	}
	tick := time.NewTicker(g.config.AnchorEvery)
	defer tick.Stop()
	for {
		select {
		case <-g.stop:
			return
		case <-tick.C:
			_ = g.sealer.seal() // what is new is left the next time
			_ = g.anchors.drop()
		}
	}
}

// closeAnchors leaves the last head.
func (g *Guard) closeAnchors() error {
	<-g.anchored
	if g.anchors == nil {
		return nil
	}
	if err := g.anchors.drop(); err != nil {
		return fmt.Errorf("leave the last head of the audit log: %w", err)
	}
	return nil
}
