package proxy

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"
)

func TestUpstreamCertificate(t *testing.T) {
	far := newFarCA(t)
	stranger := newFarCA(t)
	rows := []struct {
		name string
		cert tls.Certificate
	}{
		{"TLS-06 unknown CA", stranger.issue(t, time.Now().Add(time.Hour), "allowed.example")},
		{"TLS-06 expired", far.issue(t, time.Now().Add(-time.Hour), "allowed.example")},
		{"TLS-06 wrong name", far.issue(t, time.Now().Add(time.Hour), "other.example")},
	}
	each(t, secured(), func(t *testing.T, by option) {
		for _, row := range rows {
			for _, protocol := range []string{"http/1.1", "h2"} {
				t.Run(row.name+" "+protocol, func(t *testing.T) {
					w := newWorld(t, nil, by, func(w *world) {
						w.tls = startOriginWith(t, &row.cert)
						w.config.UpstreamRoots = far.pool
						w.config.Overrides[0].To = w.tls.addr
					})
					if status, body := w.fetch(protocol, "/public/a"); status != 502 || !strings.Contains(body, errUpstreamCertificate) {
						t.Errorf("got %d %s", status, body)
					}
					w.unasked()
					if got := w.requestsFinished(1)[0].Outcome; got.Error != errUpstreamCertificate || got.Status != 0 {
						t.Errorf("outcome: %+v", got)
					}
				})
			}
		}
	})
}

func TestUpstreamFailures(t *testing.T) {
	refusing := listen(t, "127.0.0.1:0")
	nobody := netip.MustParseAddrPort(refusing.Addr().String())
	refusing.Close()
	t.Run("nobody listens", func(t *testing.T) {
		w := newWorld(t, nil, func(w *world) { w.config.Overrides[0].To = nobody })
		status, body, _ := w.get(w.client(false), w.url("/public/a"))
		if status != 502 || !strings.Contains(body, errUpstreamUnreachable) {
			t.Errorf("got %d %s", status, body)
		}
		if got := w.finished(1)[0].Outcome.Error; got != errUpstreamUnreachable {
			t.Errorf("outcome: %q", got)
		}
	})
	t.Run("the answer is not HTTP", func(t *testing.T) {
		ln := listen(t, "127.0.0.1:0")
		go func() {
			for {
				c, err := ln.Accept()
				if err != nil {
					return
				}
				bufio.NewReader(c).ReadString('\n')
				fmt.Fprint(c, "this is not HTTP\r\n\r\n")
				c.Close()
			}
		}()
		w := newWorld(t, nil, func(w *world) { w.config.Overrides[2].To = netip.MustParseAddrPort(ln.Addr().String()) })
		status, body, _ := w.get(w.client(false), w.clearURL("/public/a"))
		if status != 502 || !strings.Contains(body, errUpstreamBroken) {
			t.Errorf("got %d %s", status, body)
		}
	})
	t.Run("the name does not resolve", func(t *testing.T) {
		w := newWorld(t, nil, func(w *world) {
			w.config.Overrides, w.config.Resolver = nil, &answers{list: [][]string{{}}}
		})
		status, body, _ := w.get(w.client(false), w.url("/public/a"))
		if status != 502 || !strings.Contains(body, errUpstreamName) {
			t.Errorf("got %d %s", status, body)
		}
	})
}
