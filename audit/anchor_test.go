package audit

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"scupper.dev/scupper/capability"
)

// anchored starts a signed run with anchors.
func anchored(t *testing.T, every time.Duration, list ...Anchor) (*Guard, Trust, error) {
	t.Helper()
	state := t.TempDir()
	if _, err := MakeKey(state, false); err != nil {
		t.Fatal(err)
	}
	g, err := New(Config{
		Dir: t.TempDir(), State: state, Policy: grants(t, capability.Limits{}), PolicyText: []byte(policyText), FlushEvery: time.Hour,
		Anchors: list, AnchorEvery: every,
	})
	return g, trustOf(t, state), err
}

func TestAnchors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "heads")
	var posted atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		posted.Store(string(body))
	}))
	defer server.Close()
	logged, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer logged.Close()
	g, trust, err := anchored(t, 20*time.Millisecond, Anchor{File: file}, Anchor{HTTP: server.URL, Required: true}, Anchor{Syslog: logged.LocalAddr().String()})
	if err != nil {
		t.Fatal(err)
	}
	heads := func() int { text, _ := os.ReadFile(file); return strings.Count(string(text), g.Run()) }
	if heads() != 1 {
		t.Error("there was no head when the run began")
	}
	if d := g.Authorize(ask(t, "GET", "api.example.com", "/repos/app")); !d.Allowed() {
		t.Fatal(d.Reason)
	}
	waitFor(t, func() bool { return heads() > 2 })
	if err := g.Close(0); err != nil {
		t.Fatal(err)
	}
	s := g.Summary()
	if len(s.Unanchored) != 0 || len(events(records(t, g), AnchorFailed)) != 0 {
		t.Errorf("got %v", s.Unanchored)
	}
	for _, text := range []string{file, s.Head} {
		kept, err := ReadHeads(text, trust.Keys)
		if err != nil || len(kept) == 0 || kept[len(kept)-1].String() != s.Head {
			t.Fatalf("got %v, %v; want %s", kept, err, s.Head)
		}
		with := Trust{Keys: trust.Keys, Expect: kept}
		if _, err := Verify(g.config.Dir, g.run, with); err != nil {
			t.Error(err)
		}
	}
	if h, err := openHeadText(posted.Load().(string), trust); err != nil || h.String() != s.Head {
		t.Errorf("posted %v, %v", h, err)
	}
	buffer := make([]byte, 1024)
	n, _, err := logged.ReadFrom(buffer)
	if err != nil || !strings.Contains(string(buffer[:n]), g.Run()+":") {
		t.Errorf("syslog got %q, %v", buffer[:n], err)
	}
	// AUD-02: the log and everything that this installation knows is cut back; the anchor is not.
	cut, again := signedTwice(t, g)
	if _, err := Verify(cut, g.run, Trust{Keys: trust.Keys}); err != nil {
		t.Fatal("control:", err)
	}
	if _, err := Verify(cut, g.run, Trust{Keys: trust.Keys, Expect: again}); err == nil {
		t.Error("the tail is cut, and the head from elsewhere does not tell")
	}
	t.Run("AUD-02 an old head is added to those kept elsewhere", func(t *testing.T) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		first := strings.Join(strings.SplitAfter(string(text), "\n\n")[:2], "")
		write(t, file, append(text, first...))
		kept, err := ReadHeads(file, trust.Keys)
		if err != nil || len(kept) < 3 || kept[len(kept)-1].String() != kept[0].String() {
			t.Fatal(kept, err)
		}
		if _, err := Verify(g.config.Dir, g.run, Trust{Keys: trust.Keys, Expect: kept}); err != nil {
			t.Error("control:", err)
		}
		if _, err := Verify(cut, g.run, Trust{Keys: trust.Keys, Expect: kept}); err == nil {
			t.Error("the tail is cut, and the last head of the file does not tell")
		}
	})
}

func openHeadText(text string, trust Trust) (Head, error) {
	keys, err := verifiers(trust.Keys)
	if err != nil {
		return Head{}, err
	}
	return openHead([]byte(text), keys)
}

// signedTwice is a copy of the log of g without its last record, signed by someone who
// has the key, and the head that was true before.
func signedTwice(t *testing.T, g *Guard) (dir string, before []Head) {
	t.Helper()
	h, err := ParseHead(g.Summary().Head)
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(g.config.Dir)); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(segmentFile(dir, g.run, 1))
	if err != nil {
		t.Fatal(err)
	}
	at := strings.LastIndexByte(strings.TrimSuffix(string(raw), "\n"), '\n') + 1
	write(t, segmentFile(dir, g.run, 1), raw[:at])
	tr := new(tree)
	for line := range strings.Lines(string(raw[:at])) {
		if err := tr.add(leaf([]byte(line))); err != nil {
			t.Fatal(err)
		}
	}
	signed, _, err := g.sealer.sign(tr)
	if err != nil {
		t.Fatal(err)
	}
	write(t, headOf(dir, g.run), signed)
	return dir, []Head{h}
}

// A failing anchor is recorded and told, and holds up nothing.
func TestAnchorFails(t *testing.T) {
	g, _, err := anchored(t, 10*time.Millisecond, Anchor{File: filepath.Join(t.TempDir(), "none", "heads")})
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return len(g.Summary().Unanchored) == 1 })
	if d := g.Authorize(ask(t, "GET", "api.example.com", "/repos/app")); !d.Allowed() {
		t.Error(d.Reason)
	}
	if err := g.Close(0); err != nil {
		t.Error(err)
	}
	if got := events(records(t, g), AnchorFailed); len(got) != 1 || !strings.Contains(got[0].Anchor, "file ") || got[0].Error == "" {
		t.Errorf("recorded %+v", got)
	}
}

// Without a required anchor nothing begins, and nothing is allowed while it fails.
func TestRequiredAnchor(t *testing.T) {
	var broken atomic.Bool
	broken.Store(true)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if broken.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	anchor := Anchor{HTTP: server.URL, Required: true}
	if _, _, err := anchored(t, time.Hour, anchor); err == nil || !strings.Contains(err.Error(), "503") {
		t.Errorf("began: %v", err)
	}
	broken.Store(false)
	g, _, err := anchored(t, 5*time.Millisecond, anchor)
	if err != nil {
		t.Fatal(err)
	}
	get := ask(t, "GET", "api.example.com", "/repos/app")
	if d := g.Authorize(get); !d.Allowed() {
		t.Fatal(d.Reason)
	}
	broken.Store(true)
	waitFor(t, func() bool { return !g.Authorize(get).Allowed() })
	wantUnavailable(t, g.Authorize(get))
	wantUnavailable(t, g.Authorize(ask(t, "GET", "api.example.com", "/repos/other")))
	broken.Store(false)
	waitFor(t, func() bool { return g.Authorize(get).Allowed() })
	broken.Store(true)
	if err := g.Close(0); err == nil || errors.Is(err, errHung) {
		t.Errorf("closed without its last head: %v", err)
	}
}
