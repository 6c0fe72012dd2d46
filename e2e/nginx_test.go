package e2e

import (
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// startNginx serves locations as host of the world. nginx runs as whoever runs the
// tests, with everything it writes in a folder of its own.
func startNginx(w *world, host, locations string) {
	w.t.Helper()
	dir := serverFolder(w.t)
	address := freeAddress(w.t)
	const template = `daemon off; master_process off; pid DIR/pid; error_log DIR/error.log;
events { worker_connections 64; }
http {
  access_log off; server_tokens off;
  client_body_temp_path DIR/body; fastcgi_temp_path DIR/fastcgi; proxy_temp_path DIR/proxy; scgi_temp_path DIR/scgi; uwsgi_temp_path DIR/uwsgi;
  server { listen ADDRESS; LOCATIONS }
}
`
	config := strings.NewReplacer("DIR", dir, "ADDRESS", address, "LOCATIONS", locations).Replace(template)
	path := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		w.t.Fatal(err)
	}
	startServer(w.t, "tcp", address, exec.Command("/usr/sbin/nginx", "-p", dir, "-e", filepath.Join(dir, "error.log"), "-c", path))
	w.inet.Forward(host, &url.URL{Scheme: "http", Host: address})
}

func serverFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "scupper-server-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// startServer runs cmd until the test ends and returns when it accepts connections.
func startServer(t *testing.T, network, address string, cmd *exec.Cmd) {
	t.Helper()
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, cmd.Env...)
	cmd.SysProcAttr, cmd.WaitDelay = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}, time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }() // killed below
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-ended })
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		c, err := net.Dial(network, address)
		if err == nil {
			c.Close()
			return
		}
		select {
		case <-ended:
			t.Fatalf("%s ended:\n%s", cmd, &said)
		case <-time.After(10 * time.Millisecond):
		}
	}
	t.Fatalf("%s does not listen after 10 s:\n%s", cmd, &said)
}
