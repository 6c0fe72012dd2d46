package differential

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/fcgi"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// origin is a server and what reached it, by the address that it came from.
type origin struct {
	name          string
	plain, secure netip.AddrPort
	credulous     bool   // it hands on a body that broke off as if that was its end
	access        string // an access log with one line for each request, where it has one

	mu      sync.Mutex
	arrived *sync.Cond
	entries map[netip.Addr][]entry
	total   int
}

func newOrigin(name string) *origin {
	o := &origin{name: name, entries: map[netip.Addr][]entry{}}
	o.arrived = sync.NewCond(&o.mu)
	return o
}

func (o *origin) put(peer netip.Addr, e entry) {
	slices.Sort(e.Headers)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.entries[peer] = append(o.entries[peer], e)
	o.total++
	o.arrived.Broadcast()
}

// take removes what came from peer. Until the deadline it waits for n complete ones.
func (o *origin) take(peer netip.Addr, n int, deadline time.Time) []entry {
	stop := time.AfterFunc(time.Until(deadline), o.arrived.Broadcast)
	defer stop.Stop()
	o.mu.Lock()
	defer o.mu.Unlock()
	for complete(o.entries[peer]) < n && time.Now().Before(deadline) {
		o.arrived.Wait()
	}
	got := o.entries[peer]
	delete(o.entries, peer)
	return got
}

func complete(entries []entry) (n int) {
	for _, e := range entries {
		if e.Complete {
			n++
		}
	}
	return n
}

// serve is the handler of Go's server and of everything that speaks FastCGI to us;
// reading says which target came, and where the server looks for it.
func (o *origin) serve(reading func(*http.Request) (target, resource string)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		target, resource := reading(r)
		e := entry{Method: r.Method, Target: target, Path: resource, Host: r.Host, Length: int64(len(body)), Sum: sum(body), Complete: err == nil, Doubtful: o.credulous}
		for name := range r.Header {
			e.Headers = append(e.Headers, strings.ToLower(name))
		}
		host, _, _ := net.SplitHostPort(r.RemoteAddr)
		peer, perr := netip.ParseAddr(host)
		if perr != nil {
			panic(fmt.Sprintf("%s: remote address %q", o.name, r.RemoteAddr))
		}
		o.put(peer, e)
		w.Header().Set("Content-Type", "text/plain")
		w.Write([]byte("ok\n"))
	})
}

// accounts compares the access log, where there is one, with what was handed on: a
// request that the server refused itself is in no other place.
func (o *origin) accounts(r *result) error {
	if o.access == "" {
		return nil
	}
	text, err := os.ReadFile(o.access)
	if err != nil {
		return err
	}
	lines, broken := bytes.Count(text, []byte("\n")), 0
	for _, n := range r.failed {
		broken += int(n)
	}
	if lines < o.total || lines > o.total+broken {
		return fmt.Errorf("%s: %d requests are in its access log, %d were handed on, %d broke off", o.name, lines, o.total, broken)
	}
	return nil
}

// keys are a certificate for the hosts of the policy, in files, and who signed it.
type keys struct {
	cert, key string
	pair      tls.Certificate
	roots     *x509.CertPool
}

func makeKeys(t testing.TB, dir string) keys {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "origins"}, DNSNames: []string{granted, other},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	k := keys{cert: filepath.Join(dir, "cert.pem"), key: filepath.Join(dir, "key.pem"), roots: x509.NewCertPool()}
	certPEM, keyPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
	write(t, k.cert, certPEM)
	write(t, k.key, keyPEM)
	k.roots.AppendCertsFromPEM(certPEM)
	if k.pair, err = tls.X509KeyPair(certPEM, keyPEM); err != nil {
		t.Fatal(err)
	}
	return k
}

func write(t testing.TB, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

func listen(t testing.TB) (net.Listener, netip.AddrPort) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	return ln, netip.MustParseAddrPort(ln.Addr().String())
}

// freeAddress is one that nothing listens on.
func freeAddress(t testing.TB) netip.AddrPort {
	t.Helper()
	ln, addr := listen(t)
	ln.Close()
	return addr
}

// goOrigin is net/http, over HTTP/2 where there is TLS.
func goOrigin(t testing.TB, k keys) *origin {
	t.Helper()
	o := newOrigin("go")
	serve := o.serve(func(r *http.Request) (target, resource string) { return r.RequestURI, r.URL.Path })
	server := func() *http.Server {
		s := &http.Server{Handler: serve, TLSConfig: &tls.Config{Certificates: []tls.Certificate{k.pair}}, ErrorLog: log.New(io.Discard, "", 0)}
		t.Cleanup(func() { s.Close() })
		return s
	}
	plain, addr := listen(t)
	secure, addr2 := listen(t)
	o.plain, o.secure = addr, addr2
	// One server for both would sometimes offer HTTP/2 and not speak it.
	go server().Serve(plain)
	go server().ServeTLS(secure, "", "")
	return o
}

// behind starts a server that hands what it understood to us over FastCGI. config is
// filled in and given to the command as FILE.
func behind(t testing.TB, o *origin, k keys, config string, command ...string) *origin {
	t.Helper()
	dir, err := os.MkdirTemp("", "scupper-"+o.name+"-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil { // a server may become another user
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "www"), 0o755); err != nil {
		t.Fatal(err)
	}
	ln, back := listen(t)
	go fcgi.Serve(ln, o.serve(variables))
	o.plain, o.secure, o.access = freeAddress(t), freeAddress(t), filepath.Join(dir, "access.log")
	text, err := os.ReadFile(filepath.Join("testdata", config))
	if err != nil {
		t.Fatal(err)
	}
	fill := strings.NewReplacer("@DIR@", dir, "@PLAIN@", o.plain.String(), "@SECURE@", o.secure.String(), "@BACK@", back.String(), "@CERT@", k.cert, "@KEY@", k.key)
	file := filepath.Join(dir, config)
	write(t, file, []byte(fill.Replace(string(text))))
	for i := range command {
		command[i] = strings.NewReplacer("@DIR@", dir, "FILE", file).Replace(command[i])
	}
	start(t, o, exec.Command(command[0], command[1:]...))
	return o
}

// scripted starts a server that prints what it understood, a line of JSON each.
func scripted(t testing.TB, name string, k keys, command ...string) *origin {
	t.Helper()
	o := newOrigin(name)
	o.plain, o.secure = freeAddress(t), freeAddress(t)
	cmd := exec.Command(command[0], append(command[1:], fmt.Sprint(o.plain.Port()), fmt.Sprint(o.secure.Port()), k.cert, k.key)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	start(t, o, cmd)
	go func() {
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var e struct {
				entry
				Peer netip.Addr `json:"peer"`
			}
			if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
				panic(fmt.Sprintf("%s printed %q: %v", name, lines.Text(), err))
			}
			o.put(e.Peer.Unmap(), e.entry)
		}
	}()
	return o
}

// start runs a server until the test ends and waits until it listens.
func start(t testing.TB, o *origin, cmd *exec.Cmd) {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	ctx, cancel := context.WithCancel(context.Background())
	if err := cmd.Start(); err != nil {
		t.Fatalf("start %s (scripts/setup installs it): %v", o.name, err)
	}
	go func() {
		cmd.Wait()
		cancel()
	}()
	t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-ctx.Done()
	})
	for _, addr := range []netip.AddrPort{o.plain, o.secure} {
		for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			c, err := net.Dial("tcp", addr.String())
			if err == nil {
				c.Close()
				break
			}
			if ctx.Err() != nil || time.Now().After(deadline) {
				t.Fatalf("%s does not listen on %s: %v\n%s", o.name, addr, err, &stderr)
			}
		}
	}
}

// variables are what the configurations in testdata pass on.
func variables(r *http.Request) (target, resource string) {
	env := fcgi.ProcessEnv(r)
	return env["TARGET"], env["RESOURCE"]
}

// origins are the servers that the differential tests ask.
func origins(t testing.TB, k keys) []*origin {
	t.Helper()
	return []*origin{
		goOrigin(t, k),
		nginxOrigin(t, k),
		apacheOrigin(t, k),
		scripted(t, "node", k, "node", "testdata/origin.js"),
		scripted(t, "python", k, "python3", "testdata/origin.py"),
	}
}

func nginxOrigin(t testing.TB, k keys) *origin {
	t.Helper()
	return behind(t, newOrigin("nginx"), k, "nginx.conf", "/usr/sbin/nginx", "-p", "@DIR@", "-e", "@DIR@/error.log", "-c", "FILE")
}

func apacheOrigin(t testing.TB, k keys) *origin {
	t.Helper()
	o := newOrigin("apache")
	o.credulous = true // FastCGI has no word for it, and mod_proxy_fcgi ends the body
	return behind(t, o, k, "apache.conf", "/usr/sbin/apache2", "-D", "FOREGROUND", "-f", "FILE")
}
