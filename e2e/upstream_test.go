package e2e

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// corporate is squid, as a company has it: CONNECT only, for who has a password.
type corporate struct {
	w       *world
	address string
	process *exec.Cmd
	read    int // lines of its log that were looked at
}

const squidConfig = `http_port ADDRESS
auth_param basic program DIR/auth
auth_param basic children 1 startup=1 idle=1
acl users proxy_auth REQUIRED
acl tunnel method CONNECT
http_access deny !tunnel
http_access allow users
http_access deny all
cache deny all
logformat asked %rm %ru %>Hs
access_log stdio:DIR/access asked
buffered_logs off
cache_log DIR/log
pid_filename none
coredump_dir DIR
netdb_filename none
pinger_enable off
shutdown_lifetime 0 seconds
visible_hostname proxy.example.com
positive_dns_ttl 1 seconds
`

const squidAuth = `#!/bin/sh
while read -r user password; do
  [ "$user:$password" = scupper:s3cr3t-of-proxy ] && echo OK || echo ERR
done
`

// startSquid runs squid as the user of the world, outside every sandbox.
func startSquid(w *world) *corporate {
	w.t.Helper()
	c := &corporate{w: w, address: freeAddress(w.t)}
	dir := w.at("squid")
	if err := os.Mkdir(dir, 0o700); err != nil {
		w.t.Fatal(err)
	}
	w.user.own(w.t, dir)
	fill := strings.NewReplacer("ADDRESS", c.address, "DIR", dir)
	config := w.user.file(w.t, w.at("squid/conf"), []byte(fill.Replace(squidConfig)))
	if err := os.Chmod(w.user.file(w.t, w.at("squid/auth"), []byte(squidAuth)), 0o700); err != nil {
		w.t.Fatal(err)
	}
	c.process = exec.Command("/usr/sbin/squid", "-N", "-f", config)
	c.process.Dir, c.process.SysProcAttr = dir, w.user.attributes()
	c.process.Env = []string{"PATH=/usr/sbin:/usr/bin:/bin", "HOME=" + dir}
	if err := c.process.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(c.stop)
	c.await()
	return c
}

func (c *corporate) stop() {
	if c.process.ProcessState == nil {
		c.process.Process.Kill()
		c.process.Wait()
	}
}

// await returns when squid accepts connections.
func (c *corporate) await() {
	c.w.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if conn, err := net.Dial("tcp", c.address); err == nil {
			conn.Close()
			return
		}
	}
	log, _ := os.ReadFile(c.w.at("squid/log"))
	c.w.t.Fatalf("squid does not listen:\n%s", log)
}

// asked looks for exactly these lines in squid's log since the last look, in any order:
// method, target, status.
func (c *corporate) asked(want ...string) {
	c.w.t.Helper()
	content, err := os.ReadFile(c.w.at("squid/access"))
	if err != nil {
		c.w.t.Fatal(err)
	}
	lines := slices.DeleteFunc(strings.Split(string(content), "\n"), func(line string) bool {
		return line == "" || strings.HasPrefix(line, "- error:transaction-end-before-headers") // await's
	})
	got := append([]string{}, lines[c.read:]...)
	c.read = len(lines)
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(append([]string{}, want...), got); diff != "" {
		c.w.t.Errorf("squid was asked something else (-want +got):\n%s", diff)
	}
}

// behind is a policy whose way outside is address, with the password in a file.
func (w *world) behind(address, password, grants string) {
	w.t.Helper()
	if err := os.MkdirAll(w.at("secret"), 0o700); err != nil {
		w.t.Fatal(err)
	}
	w.user.own(w.t, w.at("secret"))
	file := w.user.file(w.t, w.at("secret/password"), []byte(password+"\n"))
	w.policy(grants + fmt.Sprintf(`
upstream {
  proxy = "http://%s"
  proxy_credential {
    user          = "scupper"
    password_file = %q
  }
}
`, address, file))
}

const privateAddress = `
grant "private" {
  reason     = "test"
  owner      = "test"
  host       = "10.0.0.9"
  scheme     = "http"
  credential = anonymous
  allow {
    methods = ["GET"]
    path    = "/public/{name}"
  }
}
`

// TestUpstreamProxy goes outside through squid, and nowhere without it.
func TestUpstreamProxy(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	squid := startSquid(w)
	const password = "s3cr3t-of-proxy"
	w.behind(squid.address, password, bothSchemes+privateAddress)

	t.Run("what is granted goes through it", func(t *testing.T) {
		const tls, clear = "https://api.example.com/public/a", "http://plain.example.com/public/b"
		a := w.control(curl(tls)).wantStatus(200).wantVersion("2").farSide("GET " + tls).wantAllowed(1)
		squid.asked("CONNECT api.example.com:443 200")
		a.wantStderr("not in force: address check")
		if first := a.log[0].raw; !strings.Contains(first, `"name":"address check","in_force":false`) {
			t.Errorf("the first record does not say it: %s", first)
		}
		w.control(curl(clear)).wantStatus(200).farSide("GET " + clear)
		squid.asked("CONNECT plain.example.com:80 200")
		if strings.Contains(a.log.String()+a.stderr, password) {
			t.Errorf("CRED-17 the password is shown: %s %s", a.stderr, a.log)
		}
	})
	t.Run("what is refused does not reach it", func(t *testing.T) {
		w.attack(curl("https://api.example.com/private")).refused(403, "path_not_granted")
		w.attack(curl(explicitly("https://other.example.com/public/a")...)).wantExit(56).wantReason("no_grant").farSideNothing()
		w.attack(curl("http://10.0.0.9/public/a")).refused(403, "network_not_granted")
		squid.asked()
	})
	t.Run("the command cannot have the password", func(t *testing.T) {
		if a := w.control(shell("env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline; exit 0")).farSideNothing(); strings.Contains(a.stdout, password) {
			t.Errorf("it is in the sandbox: %s", a.stdout)
		}
		w.attack(command("cat", w.at("secret/password"))).wantFailure().wantReasons().farSideNothing()
	})
	t.Run("nor the folder that holds it", func(t *testing.T) {
		w.flags = []string{"--ro", w.at("secret")}
		defer func() { w.flags = nil }()
		w.attack(shell("true")).wantExit(2).wantReasons().farSideNothing().wantStderr("password")
	})
	t.Run("wrong password", func(t *testing.T) {
		w.behind(squid.address, "wrong-password", publicAPI)
		a := w.attack(curl("https://api.example.com/public/a")).wantStatus(502).wantAllowed(1).farSideNothing()
		if !strings.Contains(a.body, `"reason":"upstream_proxy_credential"`) || strings.Contains(a.body+a.log.String(), "wrong-password") {
			t.Errorf("got %s", a.body)
		}
		squid.asked("CONNECT api.example.com:443 407")
		w.behind(squid.address, password, publicAPI)
	})
	t.Run("down", func(t *testing.T) {
		squid.stop()
		a := w.attack(curl("https://api.example.com/public/a")).wantStatus(502).wantAllowed(1).farSideNothing()
		if !strings.Contains(a.body, `"reason":"upstream_proxy_unreachable"`) {
			t.Errorf("got %s", a.body)
		}
	})
	t.Run("no password", func(t *testing.T) {
		w.behind(squid.address, "", publicAPI)
		w.attack(shell("true")).wantExit(2).wantReasons().farSideNothing().wantStderr("password of the upstream proxy")
	})
}
