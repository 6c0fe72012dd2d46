package probe

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Lures says where bait is laid.
type Lures struct {
	TempDirs []string            // directories of the host for temporary files; each gets a socket, the last one a file too
	Env      func(string) string // of the host: where its services are
}

// Bait lies outside and notices who takes it.
type Bait struct {
	Scene   Scene
	mu      sync.Mutex
	reached []string
	serving sync.WaitGroup
	end     []func(time.Time) error // sets the moment at which serving ends
	close   []func() error
}

// Lay puts out bait: listeners on loopback, unix sockets with a path and without, a
// file, a process, a variable of this process's environment and a descriptor that
// children inherit. The caller calls Close.
func Lay(l Lures) (*Bait, error) {
	b := &Bait{Scene: Scene{Secret: "scupper-probe-" + rand.Text(), Variable: "SCUPPER_PROBE_SECRET"}}
	b.Scene.Services = services(l.Env)
	for _, lay := range []func() error{b.listen, b.abstract, b.process, b.variable, func() error { return b.files(l.TempDirs) }} {
		if err := lay(); err != nil {
			return nil, errors.Join(fmt.Errorf("lay bait: %w", err), b.Close())
		}
	}
	return b, nil
}

// grace is how long Reached waits for what has arrived and was not yet seen.
const grace = 50 * time.Millisecond

// Reached lists the bait that somebody has reached, by name. The listeners serve nobody
// afterwards.
func (b *Bait) Reached() []string {
	for _, end := range b.end {
		// Fails for what is closed already.
		_ = end(time.Now().Add(grace))
	}
	b.serving.Wait()
	slices.Sort(b.reached)
	return slices.Compact(slices.Clone(b.reached))
}

// Close takes all bait away.
func (b *Bait) Close() error {
	var errs []error
	for _, f := range slices.Backward(b.close) {
		errs = append(errs, f())
	}
	b.close = nil
	b.serving.Wait()
	return errors.Join(errs...)
}

func (b *Bait) take(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reached = append(b.reached, name)
}

// listen opens the same port on both loopback addresses, for TCP and UDP. Where there is
// no IPv6, there is no bait there.
func (b *Bait) listen() error {
	l, err := b.accept("tcp", "127.0.0.1:0", "TCP listener")
	if err != nil {
		return err
	}
	b.Scene.Port = uint16(l.Addr().(*net.TCPAddr).Port)
	if _, err := b.accept("tcp", address("::1", b.Scene.Port), "TCP listener"); err != nil && !noIPv6(err) {
		return err
	}
	for _, host := range []string{"127.0.0.1", "::1"} {
		if err := b.answer(address(host, b.Scene.Port)); err != nil && !noIPv6(err) {
			return err
		}
	}
	return nil
}

func noIPv6(err error) bool {
	return errors.Is(err, unix.EADDRNOTAVAIL) || errors.Is(err, unix.EAFNOSUPPORT)
}

func (b *Bait) accept(network, at, name string) (net.Listener, error) {
	l, err := net.Listen(network, at)
	if err != nil {
		return nil, err
	}
	b.close = append(b.close, l.Close)
	if d, ok := l.(interface{ SetDeadline(time.Time) error }); ok {
		b.end = append(b.end, d.SetDeadline)
	}
	b.serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			b.take(name)
			c.Close()
		}
	})
	return l, nil
}

// answer sends back each datagram.
func (b *Bait) answer(at string) error {
	c, err := net.ListenPacket("udp", at)
	if err != nil {
		return err
	}
	b.close, b.end = append(b.close, c.Close), append(b.end, c.SetReadDeadline)
	b.serving.Go(func() {
		buffer := make([]byte, 64)
		for {
			n, from, err := c.ReadFrom(buffer)
			if err != nil {
				return
			}
			b.take("UDP socket")
			c.WriteTo(buffer[:n], from)
		}
	})
	return nil
}

func (b *Bait) abstract() error {
	b.Scene.Abstract = "@" + b.Scene.Secret
	_, err := b.accept("unix", b.Scene.Abstract, "abstract unix socket")
	return err
}

// process starts one that waits until its input ends.
func (b *Bait) process() error {
	cmd := exec.Command("cat")
	input, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	b.close = append(b.close, func() error { return errors.Join(input.Close(), cmd.Wait()) })
	b.Scene.PID, b.Scene.Command = cmd.Process.Pid, "cat"
	return nil
}

func (b *Bait) variable() error {
	b.close = append(b.close, func() error { return os.Unsetenv(b.Scene.Variable) })
	return os.Setenv(b.Scene.Variable, b.Scene.Secret)
}

// files puts a socket into each directory, and into the last a file that is left open
// for children, as careless launchers do.
func (b *Bait) files(dirs []string) error {
	for _, parent := range dirs {
		dir, err := os.MkdirTemp(parent, "scupper-probe-")
		if err != nil {
			return err
		}
		b.close = append(b.close, func() error { return os.RemoveAll(dir) })
		path := filepath.Join(dir, "socket")
		if _, err := b.accept("unix", path, "unix socket in "+parent); err != nil {
			return err
		}
		if err := errors.Join(os.Chmod(dir, 0o755), os.Chmod(path, 0o666)); err != nil {
			return err
		}
		b.Scene.Sockets = append(b.Scene.Sockets, path)
		b.Scene.File = filepath.Join(dir, b.Scene.Secret)
	}
	if b.Scene.File == "" {
		return nil
	}
	if err := os.WriteFile(b.Scene.File, []byte("bait\n"), 0o644); err != nil {
		return err
	}
	return b.leaveOpen(b.Scene.File)
}

// high is above every descriptor that a launcher passes on purpose.
const high = 200

func (b *Bait) leaveOpen(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD, high)
	if err != nil {
		return err
	}
	b.close = append(b.close, func() error { return syscall.Close(fd) })
	return nil
}

// services are the sockets of this host that would be worth reaching, whether or not
// they exist.
func services(env func(string) string) []string {
	paths := []string{"/run/docker.sock", "/var/run/docker.sock", "/run/containerd/containerd.sock", "/run/podman/podman.sock", "/run/dbus/system_bus_socket", "/run/systemd/private"}
	if env == nil {
		return paths
	}
	for name, prefix := range map[string]string{"SSH_AUTH_SOCK": "", "DOCKER_HOST": "unix://", "DBUS_SESSION_BUS_ADDRESS": "unix:path="} {
		if path, ok := strings.CutPrefix(env(name), prefix); ok && filepath.IsAbs(path) {
			paths = append(paths, path)
		}
	}
	return paths
}
