package netns

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/net/ipv4"
	"golang.org/x/net/ipv6"
	"golang.org/x/sys/unix"
)

// box is one namespace whose sockets the test serves, and what they received.
type box struct {
	t        *testing.T
	sockets  Sockets
	cmd      *exec.Cmd
	control  *os.File
	output   bytes.Buffer
	mu       sync.Mutex
	accepted []netip.AddrPort
	peers    []netip.AddrPort
	packets  []Packet
	done     sync.WaitGroup
	hold     chan struct{} // closed when the packet log may be read
}

const prelude = `
import socket,time,json,errno,struct,sys
out={}
def tcp(host,port,src=None,v6=False,timeout=2):
    s=socket.socket(socket.AF_INET6 if v6 else socket.AF_INET,socket.SOCK_STREAM); s.settimeout(timeout)
    if src: s.bind(src)
    t=time.time()
    try:
        s.connect((host,port)); r=s.recv(100).decode()
    except OSError as e: r=errno.errorcode.get(e.errno,str(e))
    return [r,(time.time()-t)*1000]
def udp(host,port,data=b"x",v6=False,timeout=2,src=None):
    s=socket.socket(socket.AF_INET6 if v6 else socket.AF_INET,socket.SOCK_DGRAM); s.settimeout(timeout)
    if src: s.bind(src)
    t=time.time()
    try:
        s.connect((host,port)); s.send(data); r=s.recv(100).decode()
    except OSError as e: r=errno.errorcode.get(e.errno,str(e))
    return [r,(time.time()-t)*1000]
`

// attempt is what one helper of the prelude returned.
type attempt struct {
	what string
	ms   float64
}

func (a *attempt) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&a.what, &a.ms})
}

func newBox(t *testing.T, script string) *box {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "ours"), os.NewFile(uintptr(fds[1]), "theirs")
	b := &box{t: t, control: ours}
	b.cmd = exec.Command("/proc/self/exe", stageWord, "-c", prelude+script+"\nprint(json.dumps(out))")
	b.cmd.ExtraFiles = []*os.File{theirs}
	b.cmd.Stdout, b.cmd.Stderr = &b.output, os.Stderr
	host := os.Geteuid()
	if host == 0 {
		host = 165534
	}
	b.cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNET | unix.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: host, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: host, Size: 1}},
		Pdeathsig:   unix.SIGKILL,
	}
	if os.Geteuid() == 0 {
		b.cmd.SysProcAttr.Credential, b.cmd.SysProcAttr.GidMappingsEnableSetgroups = &syscall.Credential{}, true
	}
	if err := b.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	b.sockets, err = receive(fds[0])
	if err != nil {
		b.cmd.Wait()
		t.Fatal(err)
	}
	t.Cleanup(func() { b.sockets.Close() })
	return b
}

func receive(fd int) (Sockets, error) {
	message, oob := make([]byte, 32), make([]byte, 256)
	n, oobn, flags, _, err := unix.Recvmsg(fd, message, oob, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return Sockets{}, err
	}
	return Parse(message[:n], oob[:oobn], flags)
}

// run serves the sockets, lets the attacker go and returns what it found.
func (b *box) run() map[string]attempt {
	b.t.Helper()
	b.serve()
	if _, err := b.control.Write([]byte("go")); err != nil {
		b.t.Fatal(err)
	}
	if err := b.cmd.Wait(); err != nil {
		b.t.Fatalf("attacker: %v", err)
	}
	b.control.Close()
	b.sockets.Packets.Stop()
	b.done.Wait()
	found := map[string]attempt{}
	if err := json.Unmarshal(b.output.Bytes(), &found); err != nil {
		b.t.Fatalf("%v: %s", err, b.output.Bytes())
	}
	return found
}

func (b *box) serve() {
	for _, l := range b.sockets.TCP {
		go b.answer(l, "proxy")
	}
	for _, l := range b.sockets.Explicit {
		go b.answer(l, "explicit")
	}
	for _, l := range b.sockets.DNSTCP {
		go b.answer(l, "dns")
	}
	go echo4(b.sockets.DNSUDP[0])
	if len(b.sockets.DNSUDP) > 1 {
		go echo6(b.sockets.DNSUDP[1])
	}
	b.done.Go(func() {
		if b.hold != nil {
			<-b.hold
		}
		for {
			p, err := b.sockets.Packets.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				b.t.Errorf("packet log: %v", err)
				return
			}
			b.packets = append(b.packets, p)
		}
	})
}

func (b *box) answer(l net.Listener, word string) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		if b.hold != nil {
			close(b.hold)
		}
		b.mu.Lock()
		b.accepted = append(b.accepted, netip.MustParseAddrPort(c.LocalAddr().String()))
		b.peers = append(b.peers, netip.MustParseAddrPort(c.RemoteAddr().String()))
		b.mu.Unlock()
		io.WriteString(c, word)
		c.Close()
	}
}

func echo4(c *net.UDPConn) {
	p := ipv4.NewPacketConn(c)
	p.SetControlMessage(ipv4.FlagDst, true)
	buf := make([]byte, 512)
	for {
		n, cm, from, err := p.ReadFrom(buf)
		if err != nil {
			return
		}
		p.WriteTo(append([]byte("dns:"), buf[:n]...), &ipv4.ControlMessage{Src: cm.Dst}, from)
	}
}

func echo6(c *net.UDPConn) {
	p := ipv6.NewPacketConn(c)
	p.SetControlMessage(ipv6.FlagDst, true)
	buf := make([]byte, 512)
	for {
		n, cm, from, err := p.ReadFrom(buf)
		if err != nil {
			return
		}
		p.WriteTo(append([]byte("dns:"), buf[:n]...), &ipv6.ControlMessage{Src: cm.Dst}, from)
	}
}

// logged counts the packets of a protocol to an address.
func (b *box) logged(proto uint8, dst string) (n int) {
	for _, p := range b.packets {
		if p.Proto == proto && p.Dst.String() == dst {
			n++
		}
	}
	return n
}

func (b *box) want(found map[string]attempt, name, what string) {
	b.t.Helper()
	got, ok := found[name]
	if !ok || got.what != what {
		b.t.Errorf("%s: got %q, want %q", name, got.what, what)
	}
	if got.ms > 1000 {
		b.t.Errorf("%s stalled for %.1f ms", name, got.ms)
	}
}

// fast looks at how long refusals took: half of them at most 50 ms, since the machine may be busy.
func (b *box) fast(found map[string]attempt, names ...string) {
	b.t.Helper()
	var took []float64
	for _, name := range names {
		took = append(took, found[name].ms)
	}
	slices.Sort(took)
	if median := took[len(took)/2]; median > 50 {
		b.t.Errorf("a refusal takes %.1f ms, want at most 50; all: %v", median, took)
	}
}
