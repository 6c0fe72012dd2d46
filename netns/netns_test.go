package netns

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

func TestEveryAddressReachesUs(t *testing.T) {
	b := newBox(t, `
out["v4"]=tcp("198.51.100.7",443)
out["v4 metadata"]=tcp("169.254.169.254",80)
out["v4 other port"]=tcp("203.0.113.255",8443)
out["v6"]=tcp("2001:db8::7",443,v6=True)
out["source"]=tcp("203.0.113.9",443,src=("198.51.100.50",0))
out["loopback source"]=tcp("203.0.113.9",443,src=("127.0.0.1",0))
out["source port"]=tcp("203.0.113.9",443,src=("198.51.100.50",8443))
out["explicit"]=tcp("100.64.0.1",3128)
out["explicit v6"]=tcp("fd00:64::1",3128,v6=True)
`)
	found := b.run()
	for _, name := range []string{"v4", "v4 metadata", "v4 other port", "v6", "source", "loopback source", "source port"} {
		b.want(found, name, "proxy")
	}
	b.want(found, "explicit", "explicit")
	b.want(found, "explicit v6", "explicit")
	for _, dst := range []string{"198.51.100.7:443", "169.254.169.254:80", "203.0.113.255:8443", "[2001:db8::7]:443"} {
		if !slices.Contains(b.accepted, netip.MustParseAddrPort(dst)) {
			t.Errorf("no connection with original destination %s among %v", dst, b.accepted)
		}
	}
	if len(b.packets) != 0 {
		t.Errorf("served connections were logged: %v", b.packets)
	}
}

func TestWhatNobodyServes(t *testing.T) {
	b := newBox(t, `
out["control"]=tcp("198.51.100.7",443)
out["tcp"]=tcp("198.51.100.7",22)
out["tcp v6"]=tcp("2001:db8::7",22,v6=True)
out["gateway"]=tcp("100.64.0.1",5432)
out["tproxy port"]=tcp("100.64.0.1",15001)
out["explicit elsewhere"]=tcp("198.51.100.7",3128)
out["udp"]=udp("198.51.100.7",443)
out["udp v6"]=udp("2001:db8::7",443,v6=True)
def multicast(f,host,opt=None):
    s=socket.socket(f,socket.SOCK_DGRAM)
    if opt: s.setsockopt(*opt)
    t=time.time()
    try: s.sendto(b"x",(host,5353)); r="sent"
    except OSError as e: r=errno.errorcode[e.errno]
    return [r,(time.time()-t)*1000]
multicast(socket.AF_INET,"224.0.0.251")
multicast(socket.AF_INET6,"ff02::fb")
multicast(socket.AF_INET,"255.255.255.255",(socket.SOL_SOCKET,socket.SO_BROADCAST,1))
`)
	found := b.run()
	b.want(found, "control", "proxy")
	refused := []string{"tcp", "tcp v6", "gateway", "tproxy port", "explicit elsewhere", "udp", "udp v6"}
	for _, name := range refused {
		b.want(found, name, "ECONNREFUSED")
	}
	b.fast(found, refused...)
	tcp := []string{"198.51.100.7:22", "[2001:db8::7]:22", "100.64.0.1:5432", "100.64.0.1:15001", "198.51.100.7:3128"}
	for _, dst := range tcp {
		if n := b.logged(unix.IPPROTO_TCP, dst); n != 1 {
			t.Errorf("NET-06 %d records of TCP to %s, want 1: %v", n, dst, b.packets)
		}
	}
	for _, dst := range []string{"198.51.100.7:443", "[2001:db8::7]:443", "224.0.0.251:5353", "[ff02::fb]:5353", "255.255.255.255:5353"} {
		if n := b.logged(unix.IPPROTO_UDP, dst); n != 1 {
			t.Errorf("NET-03, NET-11 %d records of UDP to %s, want 1: %v", n, dst, b.packets)
		}
	}
	if len(b.packets) != 10 {
		t.Errorf("%d records, want 10: %v", len(b.packets), b.packets)
	}
}

func TestDNSAnswersFromTheAddressAsked(t *testing.T) {
	b := newBox(t, `
out["udp"]=udp("8.8.8.8",53,b"q")
out["udp v6"]=udp("2001:db8::8",53,b"q",v6=True)
out["udp from elsewhere"]=udp("8.8.8.8",53,b"q",src=("198.51.100.50",0))
out["tcp"]=tcp("8.8.8.8",53)
out["tcp v6"]=tcp("2001:db8::8",53,v6=True)
out["gateway"]=udp("100.64.0.1",53,b"q")
out["loopback"]=udp("127.0.0.1",53,b"q")
`)
	found := b.run()
	for _, name := range []string{"udp", "udp v6", "udp from elsewhere", "gateway", "loopback"} {
		b.want(found, name, "dns:q")
	}
	b.want(found, "tcp", "dns")
	b.want(found, "tcp v6", "dns")
	if len(b.packets) != 0 {
		t.Errorf("served questions were logged: %v", b.packets)
	}
}

func TestShadowing(t *testing.T) {
	b := newBox(t, `
import threading
def listen(host,port,f=socket.AF_INET):
    s=socket.socket(f,socket.SOCK_STREAM); s.setsockopt(socket.SOL_SOCKET,socket.SO_REUSEADDR,1); s.setsockopt(socket.SOL_SOCKET,socket.SO_REUSEPORT,1)
    try: s.bind((host,port)); s.listen()
    except OSError as e: return errno.errorcode[e.errno]
    def loop():
        while True:
            c,_=s.accept(); c.send(b"shadow"); c.close()
    threading.Thread(target=loop,daemon=True).start(); return "bound"
for name,a in {"low":("0.0.0.0",443),"dns":("8.8.8.8",53),"explicit":("100.64.0.1",3128),"high":("0.0.0.0",8443),"exact":("198.51.100.7",8443),"unlisted":("198.51.100.7",9000),"transparent":("100.64.0.1",15001)}.items():
    out["bind "+name]=[listen(*a),0]
out["high"]=tcp("203.0.113.1",8443)
out["exact"]=tcp("198.51.100.7",8443)
out["unlisted"]=tcp("198.51.100.7",9000)
out["loopback"]=tcp("127.0.0.1",8443)
out["own address"]=tcp("100.64.0.2",8443)
`)
	found := b.run()
	b.want(found, "bind low", "EACCES")
	b.want(found, "bind dns", "EACCES")
	b.want(found, "bind explicit", "EADDRINUSE")
	b.want(found, "bind transparent", "EADDRINUSE")
	b.want(found, "bind high", "bound")
	b.want(found, "high", "proxy")
	b.want(found, "exact", "proxy")
	b.want(found, "unlisted", "ECONNREFUSED")
	b.want(found, "loopback", "shadow")
	b.want(found, "own address", "shadow")
	if n := b.logged(unix.IPPROTO_TCP, "198.51.100.7:9000"); n != 1 {
		t.Errorf("%d records of the unlisted port, want 1: %v", n, b.packets)
	}
}

func TestLostPacketsAreCounted(t *testing.T) {
	const sent = 20000
	b := newBox(t, `
s=socket.socket(socket.AF_INET,socket.SOCK_DGRAM)
for i in range(20000):
    try: s.sendto(b"x"*100,("198.51.100.7",4444))
    except OSError: pass
out["go on"]=tcp("198.51.100.7",443)
for i in range(50):
    try: s.sendto(b"later",("198.51.100.7",4445))
    except OSError: pass
    time.sleep(0.02)
`)
	b.hold = make(chan struct{})
	b.run()
	var seen, lost uint32
	for _, p := range b.packets {
		if p.Lost == 0 && p.Dst.Port() == 4444 {
			seen++
		}
		lost += p.Lost
	}
	if lost == 0 || seen == 0 || seen+lost < sent || seen+lost > sent+50 {
		t.Errorf("seen %d + lost %d = %d, want %d and both above 0", seen, lost, seen+lost, sent)
	}
}

func TestPing(t *testing.T) {
	b := newBox(t, `
def ping(kind):
    try:
        s=socket.socket(socket.AF_INET,kind,socket.IPPROTO_ICMP); return ["opened",0]
    except OSError as e: return [errno.errorcode[e.errno],0]
out["ping socket"]=ping(socket.SOCK_DGRAM)
out["raw socket"]=ping(socket.SOCK_RAW)
`)
	found := b.run()
	b.want(found, "ping socket", "EACCES")
	b.want(found, "raw socket", "EPERM")
}

func TestPingOfOneWhoMay(t *testing.T) {
	t.Setenv(keepEnv, "1")
	b := newBox(t, `
s=socket.socket(socket.AF_INET,socket.SOCK_RAW,socket.IPPROTO_ICMP); s.settimeout(0.2)
def ping(host):
    s.sendto(bytes.fromhex("0800e5ca12340001")+b"data",(host,0))
    try: s.recv(100); return ["answered",0]
    except socket.timeout: return ["silence",0]
out["echo"]=ping("198.51.100.7")
r=socket.socket(socket.AF_INET,socket.SOCK_RAW,132); r.sendto(b"x"*20,("198.51.100.7",0))
`)
	found := b.run()
	b.want(found, "echo", "silence")
	for _, proto := range []uint8{unix.IPPROTO_ICMP, unix.IPPROTO_SCTP} {
		if n := b.logged(proto, "198.51.100.7:0"); n != 1 {
			t.Errorf("NET-02 %d records of protocol %d, want 1: %v", n, proto, b.packets)
		}
	}
}

func TestWithoutIPv6(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "one")
	// The namespace's user is another one.
	if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.WriteFile(file, []byte("1\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	t.Setenv(oldKernelEnv, file)
	b := newBox(t, `
out["v4"]=tcp("198.51.100.7",443)
out["v6"]=tcp("2001:db8::7",443,v6=True)
out["v6 udp"]=udp("2001:db8::7",53,v6=True)
out["dns"]=udp("8.8.8.8",53,b"q")
`)
	if len(b.sockets.TCP) != 1 || len(b.sockets.DNSUDP) != 1 {
		t.Errorf("%d and %d sockets, want one of each", len(b.sockets.TCP), len(b.sockets.DNSUDP))
	}
	found := b.run()
	b.want(found, "v4", "proxy")
	b.want(found, "dns", "dns:q")
	b.want(found, "v6", "ENETUNREACH")
	b.want(found, "v6 udp", "ENETUNREACH")
}
