package proxy

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// crowd opens n connections of one client that are slow, or idle, in every way there is.
func (w *world) crowd(n int) {
	w.t.Helper()
	addr := fmt.Sprintf("%s:%d", good, w.port)
	session := tls.NewLRUClientSessionCache(1)
	inside := func(protocol string) net.Conn {
		c, err := tls.Dial("tcp", addr, &tls.Config{RootCAs: w.roots, ServerName: "allowed.example", NextProtos: []string{protocol}, ClientSessionCache: session})
		if err != nil {
			w.t.Fatal(err)
		}
		w.t.Cleanup(func() { c.Close() })
		return c
	}
	for i := range n {
		switch i % 5 {
		case 0: // nothing at all
			w.dial(addr)
		case 1: // half a head
			io.WriteString(inside("http/1.1"), "GET /public/a HTTP/1.1\r\nHost: allowed")
		case 2: // idle after a request
			c := inside("http/1.1")
			fmt.Fprintf(c, "GET /public/a HTTP/1.1\r\nHost: allowed.example:%d\r\n\r\n", w.port)
		case 3: // half a body
			c := inside("http/1.1")
			fmt.Fprintf(c, "POST /notes HTTP/1.1\r\nHost: allowed.example:%d\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", w.port)
		case 4: // idle HTTP/2
			c := inside("h2")
			io.WriteString(c, http2.ClientPreface)
			http2.NewFramer(c, c).WriteSettings()
		}
	}
}

// p99 is that of requests one after the other for a time.
func (w *world) p99(c *http.Client, lasting time.Duration) time.Duration {
	w.t.Helper()
	var took []time.Duration
	for first := time.Now(); time.Since(first) < lasting; {
		begun := time.Now()
		if status, _, _ := w.get(c, w.url("/public/a")); status != 200 {
			w.t.Fatalf("got %d", status)
		}
		if took = append(took, time.Since(begun)); len(took)%1000 == 0 {
			w.forget() // what this test keeps is not the proxy's
		}
	}
	slices.Sort(took)
	return took[len(took)*99/100]
}

// otherRun says for how long another run, in a process of its own, makes its requests.
const otherRun = "SCUPPER_OTHER_RUN"

// TestOtherRun is that run, with a proxy and a far side of its own. It says its p99.
func TestOtherRun(t *testing.T) {
	lasting := 100 * time.Millisecond
	if v := os.Getenv(otherRun); v != "" {
		var err error
		if lasting, err = time.ParseDuration(v); err != nil {
			t.Fatal(err)
		}
	}
	w := newWorld(t, nil)
	c := w.client(false)
	w.p99(c, lasting/10)
	fmt.Printf("p99 %v\n", w.p99(c, lasting))
}

// elsewhere is the p99 of another run.
func elsewhere(t *testing.T, lasting time.Duration) time.Duration {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestOtherRun$", "-test.count=1")
	cmd.Env = append(os.Environ(), otherRun+"="+lasting.String())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	_, rest, _ := strings.Cut(string(out), "p99 ")
	text, _, _ := strings.Cut(rest, "\n")
	p99, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	return p99
}

// TestCrowd: a crowd of slow and idle connections costs little memory, and another run
// little time. The environment makes it larger and longer, and holds the times to their
// bound: they say something only on a machine that does nothing else.
func TestCrowd(t *testing.T) {
	size, lasting, perConnection, large := 200, time.Second, 96, os.Getenv("SCUPPER_CROWD") != ""
	if large {
		size, lasting = 2000, time.Minute
	}
	quiet := elsewhere(t, lasting/4)
	w := newWorld(t, nil, limited(func(l *Limits) { *l = Limits{} }))
	w.control()
	before := inUse()
	w.crowd(size)
	grown := int64(inUse()) - int64(before)
	t.Logf("%d connections: %d KiB each, both ends of TLS; resident %d MiB", size, grown/int64(size)/1024, resident(t))
	if grown > int64(size*perConnection)<<10 {
		t.Errorf("%d connections hold %d KiB", size, grown>>10)
	}
	beside := elsewhere(t, lasting)
	t.Logf("p99 of another run: %v, without the crowd %v", beside, quiet)
	if large && beside > 3*quiet {
		t.Errorf("the p99 of another run is %.1f times as long", float64(beside)/float64(quiet))
	}
	r := resident(t)
	if t.Logf("resident at the end: %d MiB", r); large && r > 192 { // else other tests have left theirs
		t.Errorf("%d MiB are resident", r)
	}
}

// inUse is the memory of heap and stacks.
func inUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

// resident is VmRSS of this process, in MiB.
func resident(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return n / 1024
}
