package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"scupper.dev/scupper/replay"
)

// Where the origin and the peers are, in a network namespace of our own.
const (
	originName = "origin.example.com"
	originAddr = "127.0.0.1:8443"
	originURL  = originName + ":8443"
	proxyAddr  = "127.0.0.1:3128"
	registry   = "npm.example.com"
)

// world is what all measurements share.
type world struct {
	processes
	dir, self, scupper string
	internet           *replay.Internet
	origin             *service
}

func newWorld(scupper string) (w *world, err error) {
	w = &world{}
	if w.self, err = os.Executable(); err != nil {
		return nil, err
	}
	if w.scupper, err = exec.LookPath(scupper); err != nil {
		return nil, err
	}
	if w.dir, err = os.MkdirTemp("", "scupper-bench-"); err != nil {
		return nil, err
	}
	if err := w.build(); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

func (w *world) build() (err error) {
	// Peers run as users of their own.
	if err := os.Chmod(w.dir, 0o755); err != nil {
		return err
	}
	if err := raiseLimits(); err != nil {
		return err
	}
	if w.internet, err = replay.Start(replay.Config{}); err != nil {
		return err
	}
	w.internet.Resolve(originName, replay.At(netip.MustParseAddrPort(originAddr).Addr()))
	if err := writeKeys(w); err != nil {
		return err
	}
	w.origin, err = w.start("origin", []string{w.self, "origin", "--listen", originAddr, "--certificate", w.at("origin.pem")}, originAddr)
	return err
}

// raiseLimits gives peers the descriptors that they may have.
func raiseLimits() error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	limit.Cur = limit.Max
	return syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
}

func (w *world) at(name string) string { return filepath.Join(w.dir, name) }

func (w *world) close() {
	if w.origin != nil {
		w.origin.stop()
	}
	if w.internet != nil {
		w.internet.Close()
	}
	os.RemoveAll(w.dir)
}

// folder makes an empty folder.
func (w *world) folder(name string) (string, error) {
	dir := w.at(name)
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	return dir, os.MkdirAll(dir, 0o755)
}

// service is a program that runs beside a measurement.
type service struct {
	cmd   *exec.Cmd
	ended chan struct{}
}

// start runs a program until it listens at the address. What it prints is in
// NAME.log.
func (w *world) start(name string, command []string, address string) (*service, error) {
	log, err := os.Create(w.at(name + ".log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = w.dir, log, log
	// A group of its own, so that its children can be ended with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &service{cmd, make(chan struct{})}
	go func() {
		defer close(s.ended)
		_ = cmd.Wait() // how it ends is in its log
	}()
	if err := s.listens(address); err != nil {
		s.stop()
		said, _ := os.ReadFile(log.Name())
		return nil, fmt.Errorf("start %s: %w: %s", name, err, tail(string(said)))
	}
	return s, nil
}

var (
	errEnded  = errors.New("it has ended")
	errSilent = errors.New("it does not listen")
)

func (s *service) listens(address string) error {
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		c, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			return c.Close()
		}
		select {
		case <-s.ended:
			return errEnded
		case <-time.After(5 * time.Millisecond):
		}
	}
	return errSilent
}

// stop ends the program and whatever of its group is left.
func (s *service) stop() {
	_ = syscall.Kill(s.cmd.Process.Pid, syscall.SIGTERM)
	select {
	case <-s.ended:
	case <-time.After(1500 * time.Millisecond):
	}
	_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
	<-s.ended
}

// command is a program that is killed with its whole group when ctx ends.
func command(ctx context.Context, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	return cmd
}

// tail is the end of a long text on one line.
func tail(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return text[max(0, len(text)-300):]
}
