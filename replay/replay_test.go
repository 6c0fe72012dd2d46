package replay_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"
	"scupper.dev/scupper/replay"
)

func TestMain(m *testing.M) {
	code, err := replay.Sealed(context.Background(), m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 3
	}
	os.Exit(code)
}

func start(t *testing.T, cfg replay.Config) *replay.Internet {
	t.Helper()
	in, err := replay.Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	return in
}

func client(t *testing.T, in *replay.Internet, h2 bool) *http.Client {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(in.CA()) {
		t.Fatal("CA is no PEM certificate")
	}
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: h2}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: 5 * time.Second}
}

func get(t *testing.T, c *http.Client, url string) string {
	t.Helper()
	resp, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	return fmt.Sprintf("%s %d %s", resp.Proto, resp.StatusCode, body)
}

func TestRequestsAreRecorded(t *testing.T) {
	in := start(t, replay.Config{HTTPPorts: []uint16{8081}, TLSPorts: []uint16{8443}})
	for _, tc := range []struct {
		url, proto string
		h2, tls    bool
	}{
		{"http://a.example.com/x%2Fy?q=1", "HTTP/1.1", false, false},
		{"http://a.example.com:8081/", "HTTP/1.1", false, false},
		{"https://a.example.com/", "HTTP/1.1", false, true},
		{"https://a.example.com:8443/", "HTTP/2.0", true, true},
		{"https://203.0.113.77/", "HTTP/2.0", true, true},
		{"https://[2001:db8::77]/", "HTTP/2.0", true, true},
	} {
		if err := in.Reset(); err != nil {
			t.Fatal(err)
		}
		if out := get(t, client(t, in, tc.h2), tc.url); !strings.HasPrefix(out, tc.proto+" 200") {
			t.Errorf("%s: got %q, want %s 200", tc.url, out, tc.proto)
		}
		got := in.Received()
		if len(got) != 1 || got[0].Proto != tc.proto || got[0].TLS != tc.tls || !strings.HasSuffix(tc.url, got[0].URI) {
			t.Errorf("%s: recorded %+v", tc.url, got)
		}
		if n := len(in.Connections()); n != 1 {
			t.Errorf("%s: got %d connections, want 1", tc.url, n)
		}
	}
}

func TestBodyAndTrailerAreRecorded(t *testing.T) {
	in := start(t, replay.Config{})
	r, _ := http.NewRequest("POST", "https://a.example.com/up", io.MultiReader(strings.NewReader("hello")))
	r.Trailer = http.Header{"X-Sum": {"1"}}
	resp, err := client(t, in, true).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	got := in.Received()
	const sum = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
	if len(got) != 1 || got[0].BodyLen != 5 || got[0].BodySHA256 != sum || got[0].BodyHead != "hello" || got[0].Trailer.Get("X-Sum") != "1" {
		t.Errorf("recorded %+v", got)
	}
}

func TestRequestIsOnRecordBeforeItsHandlerReturns(t *testing.T) {
	in := start(t, replay.Config{})
	entered, leave := make(chan struct{}), make(chan struct{})
	in.Handle("slow.example.com", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { close(entered); <-leave }))
	done := make(chan struct{})
	go func() { defer close(done); http.Get("http://slow.example.com/") }()
	<-entered
	if got := in.Received(); len(got) != 1 || got[0].Done {
		t.Errorf("recorded %+v, want one unfinished request", got)
	}
	close(leave)
	<-done
}

func TestBadCertificatesDoNotVerify(t *testing.T) {
	in := start(t, replay.Config{})
	c := client(t, in, false)
	get(t, c, "https://bad.example.com/") // the control: verifies before
	for _, f := range []replay.Fault{replay.SelfSigned, replay.Expired, replay.WrongName} {
		in.Present("bad.example.com", f)
		c.CloseIdleConnections()
		_, err := c.Get("https://bad.example.com/")
		if _, bad := errors.AsType[*tls.CertificateVerificationError](err); !bad {
			t.Errorf("fault %d: got %v, want a certificate error", f, err)
		}
	}
	if n := len(in.Received()); n != 1 {
		t.Errorf("%d requests received, want the control only", n)
	}
}

func ask(t *testing.T, network, server, name string, qtype uint16) (*dns.Msg, error) {
	t.Helper()
	m := new(dns.Msg)
	m.SetQuestion(dns.Fqdn(name), qtype)
	reply, _, err := (&dns.Client{Net: network, Timeout: 2 * time.Second}).Exchange(m, server)
	return reply, err
}

func TestAnyServerAnswersDNS(t *testing.T) {
	in := start(t, replay.Config{})
	for _, network := range []string{"udp", "tcp"} {
		for _, server := range []string{"8.8.8.8:53", "[2001:db8::53]:53", "127.0.0.1:53"} {
			reply, err := ask(t, network, server, "Names.example.com", dns.TypeA)
			if err != nil {
				t.Errorf("%s %s: %v", network, server, err)
				continue
			}
			if got := reply.Answer[0].(*dns.A).A.String(); got != in.Addr("names.example.com").String() {
				t.Errorf("%s %s: got %s, want %s", network, server, got, in.Addr("names.example.com"))
			}
		}
	}
	if got := in.Queries(); len(got) != 6 || got[0].Name != "names.example.com" || got[3].Server != "8.8.8.8:53" {
		t.Errorf("recorded %+v", got)
	}
}

func TestConfiguredAnswers(t *testing.T) {
	in := start(t, replay.Config{})
	public, private := netip.MustParseAddr("203.0.113.5"), netip.MustParseAddr("10.0.0.1")
	in.Resolve("rebind.example.com", replay.At(public), replay.At(private))
	in.Resolve("gone.example.com", replay.NXDomain())
	in.Resolve("broken.example.com", replay.Answer{Malformed: true})
	for i, want := range []netip.Addr{public, private, private} {
		reply, err := ask(t, "udp", "8.8.8.8:53", "rebind.example.com", dns.TypeA)
		if err != nil || reply.Answer[0].(*dns.A).A.String() != want.String() {
			t.Errorf("answer %d: got %v, %v, want %s", i, reply, err, want)
		}
	}
	if reply, err := ask(t, "udp", "8.8.8.8:53", "gone.example.com", dns.TypeA); err != nil || reply.Rcode != dns.RcodeNameError {
		t.Errorf("got %v, %v, want NXDOMAIN", reply, err)
	}
	if reply, err := ask(t, "udp", "8.8.8.8:53", "broken.example.com", dns.TypeA); err == nil {
		t.Errorf("got %v, want an error", reply)
	}
}

func TestNamesHaveDistinctPublicAddresses(t *testing.T) {
	in := start(t, replay.Config{})
	seen := map[netip.Addr]bool{}
	nets := []netip.Prefix{netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("198.51.100.0/24")}
	for i := range 508 {
		a, a6 := in.Addr(fmt.Sprintf("n%d.example.com", i)), in.Addr6(fmt.Sprintf("n%d.example.com", i))
		if seen[a] || seen[a6] || !nets[0].Contains(a) && !nets[1].Contains(a) || !netip.MustParsePrefix("2001:db8:2::/64").Contains(a6) {
			t.Fatalf("name %d: got %s and %s", i, a, a6)
		}
		seen[a], seen[a6] = true, true
	}
}

func TestPacketsToClosedPortsAreSeen(t *testing.T) {
	in := start(t, replay.Config{RawPorts: []uint16{2222}})
	if got := packets(t, in); len(got) != 0 {
		t.Fatalf("before anything was sent: %+v", got)
	}
	if c, err := net.Dial("tcp", "198.51.100.9:22"); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("closed port: got %v, %v", c, err)
	}
	for _, to := range []string{"198.51.100.9:443", "[2001:db8::9]:4444", "224.0.0.251:5353"} {
		c, err := net.Dial("udp", to)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(c, "x")
		c.Close()
	}
	var got []string
	for _, p := range packets(t, in) {
		got = append(got, fmt.Sprintf("%s %s %q", p.Protocol, p.Destination, p.Payload))
	}
	want := `[tcp 198.51.100.9:22 "" udp 198.51.100.9:443 "x" udp [2001:db8::9]:4444 "x" udp 224.0.0.251:5353 "x"]`
	if fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func packets(t *testing.T, in *replay.Internet) []replay.Packet {
	t.Helper()
	got, err := in.Packets()
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestRawPortRecordsBytes(t *testing.T) {
	in := start(t, replay.Config{RawPorts: []uint16{2222}})
	c, err := net.Dial("tcp", "198.51.100.9:2222")
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(c, "SSH-2.0-x")
	c.(*net.TCPConn).CloseWrite()
	io.ReadAll(c)
	got := in.Connections()
	if len(got) != 1 || string(got[0].Head) != "SSH-2.0-x" || got[0].Destination.String() != "198.51.100.9:2222" {
		t.Errorf("recorded %+v", got)
	}
}

// TestBytesThatAreNoTLS are on record too where TLS is expected.
func TestBytesThatAreNoTLS(t *testing.T) {
	in := start(t, replay.Config{Whole: true})
	c, err := net.Dial("tcp", "198.51.100.9:443")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	io.WriteString(c, "SSH-2.0-x\r\n")
	io.ReadAll(c)
	if got := in.Connections(); len(got) != 1 || string(got[0].Head) != "SSH-2.0-x\r\n" {
		t.Errorf("recorded %+v", got)
	}
}

func TestCloseEndsEverything(t *testing.T) {
	for range 2 { // the second start finds every port free
		in, err := replay.Start(replay.Config{RawPorts: []uint16{2222}})
		if err != nil {
			t.Fatal(err)
		}
		c, err := net.Dial("tcp", "198.51.100.9:2222")
		if err != nil {
			t.Fatal(err)
		}
		in.Close()
		c.SetReadDeadline(time.Now().Add(5 * time.Second))
		if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("connection is still open: %v", err)
		}
		c.Close()
	}
}

func TestStartRefusesANamespaceWithAnExit(t *testing.T) {
	if os.Geteuid() != 0 {
		return
	}
	out, err := exec.Command("ip", "link", "add", "exit0", "type", "veth", "peer", "name", "exit1").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Cleanup(func() { exec.Command("ip", "link", "del", "exit0").Run() })
	start(t, replay.Config{}).Close() // the control: a link that is down leads nowhere
	if out, err := exec.Command("ip", "link", "set", "exit0", "up").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if in, err := replay.Start(replay.Config{}); err == nil || !strings.Contains(err.Error(), "exit0") {
		t.Errorf("got %v, %v, want an error about exit0", in, err)
	}
}

func TestServeWritesLines(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	err := replay.Serve(ctx, replay.Config{}, dir, func(in *replay.Internet) {
		get(t, client(t, in, true), "https://a.example.com/")
		cancel()
	})
	if err != nil {
		t.Fatal(err)
	}
	log, _ := os.ReadFile(dir + "/received.jsonl")
	for _, want := range []string{`"query":{`, `"packet":{`, `"connection":{`, `"request":{`} {
		if !bytes.Contains(log, []byte(want)) {
			t.Errorf("no %s in %s", want, log)
		}
	}
	if _, err := os.Stat(dir + "/ca.pem"); err != nil {
		t.Error(err)
	}
}

// ordinary is a user id that this machine need not know.
const ordinary = 54321

// TestOrdinaryUser runs every other test as an ordinary user.
func TestOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		status, err := os.ReadFile("/proc/self/status")
		if err != nil || !bytes.Contains(status, []byte("CapPrm:\t0000000000000000\nCapEff:\t0000000000000000\n")) {
			t.Errorf("an ordinary user's sealed process has capabilities: %v\n%s", err, status)
		}
		return
	}
	dir, err := os.MkdirTemp("", "replay")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	program := filepath.Join(dir, "replay.test")
	copyProgram(t, program)
	if err := errors.Join(os.Chmod(dir, 0o755), os.Chown(dir, ordinary, ordinary)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+dir, "HOME="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: ordinary, Gid: ordinary}}
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.HasSuffix(out, []byte("PASS\n")) {
		t.Errorf("%v\n%s", err, out)
	}
}

func copyProgram(t *testing.T, to string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, b, 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestHostNameServicesAreHidden(t *testing.T) {
	entries, err := os.ReadDir("/run")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != "resolv.conf" && e.Name() != "systemd" && e.Name() != "resolvconf" {
			t.Errorf("/run/%s is visible", e.Name())
		}
	}
	conf, err := os.ReadFile("/etc/resolv.conf")
	if err != nil || string(conf) != "nameserver 127.0.0.1\n" {
		t.Errorf("resolver configuration: %q, %v", conf, err)
	}
}
