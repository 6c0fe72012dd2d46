package e2e

import (
	"testing"
	"time"
)

// atOnce is how long a refusal may take, as the client measures it.
const atOnce = 50 * time.Millisecond

// packets runs the tries of script under a policy with a grant: nothing of them may
// reach the far side, and each is refused at once.
func (w *world) packets(script string) *attempt {
	w.t.Helper()
	w.policy(publicAPI)
	const url = "https://api.example.com/public/a"
	w.control(curl(url)).wantStatus(200).farSide("GET " + url).wantAllowed(1)
	return w.attack(w.probe(script)).eachWithin(atOnce).farSideNothing()
}

// TestPacketsStayInside tries what is not HTTP through a grant.
func TestPacketsStayInside(t *testing.T) {
	u := ordinaryUser(t)
	t.Run("NET-01 QUIC falls back to TCP", func(t *testing.T) {
		w := newWorld(t, u)
		w.policy(publicAPI)
		// The first bytes of an Initial packet of RFC 9000 section 17.2.2, padded to 1,200.
		w.attack(w.probe(`
name = socket.gethostbyname("api.example.com")
initial = bytes.fromhex("c300000001088394c8f03e5157080000449e") + bytes(1182)
attempt("QUIC", lambda: udp(name, 443, initial), 3)
attempt("QUIC v6", lambda: udp(socket.getaddrinfo("api.example.com", 443, socket.AF_INET6)[0][4][0], 443, initial), 3)
attempt("TCP", lambda: tls("api.example.com", get("api.example.com", "/public/a")))
`)).wantTries("QUIC: Connection refused", "QUIC v6: Connection refused", "TCP: 200").
			wantDenials("packet protocol_not_granted udp 198.18.0.1:443", "packet protocol_not_granted udp [fd00:64:198::c612:1]:443").
			wantPackets(6).farSide("GET https://api.example.com/public/a")
	})
	t.Run("NET-02 ICMP", func(t *testing.T) {
		newWorld(t, u).packets(`
for name, kind in ("raw", socket.SOCK_RAW), ("datagram", socket.SOCK_DGRAM):
    attempt(name, lambda: socket.socket(socket.AF_INET, kind, socket.IPPROTO_ICMP) and "made", 3)
    attempt(name + " v6", lambda: socket.socket(socket.AF_INET6, kind, socket.IPPROTO_ICMPV6) and "made", 3)
`).wantTries("raw: Protocol not supported", "raw v6: Protocol not supported", "datagram: Protocol not supported", "datagram v6: Protocol not supported").
			wantDenials()
	})
	t.Run("NET-03 unconnected UDP", func(t *testing.T) {
		newWorld(t, u).packets(`
for to in ("198.51.100.9", 4444), ("2001:db8::9", 4444), ("198.51.100.9", 123), ("100.64.0.1", 514):
    attempt(to[0], lambda: udp(*to, connected=False), 3)
def sendmsg():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        return "sent" if s.sendmsg([b"a", b"b"], [], 0, ("203.0.113.7", 9)) else "nothing"
attempt("sendmsg", sendmsg, 3)
`).wantTries("198.51.100.9: sent", "2001:db8::9: sent", "198.51.100.9: sent", "100.64.0.1: sent", "sendmsg: sent").wantDenials(
			"packet protocol_not_granted udp 198.51.100.9:4444", "packet protocol_not_granted udp [2001:db8::9]:4444",
			"packet protocol_not_granted udp 198.51.100.9:123", "packet protocol_not_granted udp 100.64.0.1:514", "packet protocol_not_granted udp 203.0.113.7:9").
			wantPackets(15)
	})
	t.Run("NET-03 flood", func(t *testing.T) {
		// Each is recorded or counted, and the flood does not hide what comes after it.
		a := newWorld(t, u).packets(`
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
    for port in range(10000, 12000):
        s.sendto(b"x", ("198.51.100.9", port))
time.sleep(1.1)
attempt("after", lambda: udp("203.0.113.7", 9), 1)
`).wantTries("after: Connection refused").wantPackets(2001)
		if n := len(a.log.denials()); n < 10 || n > 1000 {
			t.Errorf("%d records for 2,001 packets, want tens or hundreds", n)
		}
	})
	t.Run("NET-04 raw sockets", func(t *testing.T) {
		newWorld(t, u).packets(`
for name, args in ("IP", (socket.AF_INET, socket.SOCK_RAW, 255)), ("TCP", (socket.AF_INET, socket.SOCK_RAW, 6)), ("MPTCP", (socket.AF_INET, socket.SOCK_STREAM, 262)), ("SCTP", (socket.AF_INET, socket.SOCK_STREAM, 132)), ("UDP-Lite", (socket.AF_INET, socket.SOCK_DGRAM, 136)), ("packet", (17, socket.SOCK_RAW, 768)), ("vsock", (40, socket.SOCK_STREAM)):
    attempt(name, lambda: socket.socket(*args) and "made", 3)
def fast_open():
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as s:
        s.settimeout(PATIENCE)
        s.sendto(b"secret", 0x20000000, ("198.51.100.9", 22)) # MSG_FASTOPEN
        return "answer" if s.recv(1) else "closed"
attempt("data in the SYN", fast_open, 3)
`).wantTries("IP: Protocol not supported", "TCP: Protocol not supported", "MPTCP: Protocol not supported", "SCTP: Protocol not supported", "UDP-Lite: Protocol not supported", "packet: Address family not supported by protocol", "vsock: Address family not supported by protocol", "data in the SYN: Operation now in progress").
			wantDenials("packet port_not_granted tcp 198.51.100.9:22").wantPackets(3)
	})
	t.Run("NET-05 IPv6", func(t *testing.T) {
		newWorld(t, u).packets(`
hello = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
attempt("22", lambda: tcp("2001:db8::9", 22), 3)
attempt("443 silent", lambda: tcp("2001:db8::9", 443), 3)
attempt("443", lambda: tls("2001:db8::9", hello), 3)
attempt("853", lambda: tcp("fd00:64::1", 853), 3)
attempt("link-local", lambda: tcp("fe80::1%lo", 80, hello), 3)
attempt("itself", lambda: tcp("::1", 443), 3)
`).wantTries("22: Connection refused", "443 silent: closed", "443: TLSV1_UNRECOGNIZED_NAME", "853: Connection refused", "link-local: Connection refused", "itself: Connection refused").
			wantDenials("packet port_not_granted tcp [2001:db8::9]:22", "connect address_not_granted [2001:db8::9]:443",
				"packet port_not_granted tcp [fd00:64::1]:853", "packet port_not_granted tcp [fe80::1]:80").
			wantPackets(9)
	})
	t.Run("NET-06 other ports", func(t *testing.T) {
		newWorld(t, u).packets(`
for to in ("100.64.0.1", 22), ("100.64.0.1", 5432), ("100.64.0.1", 15001), ("100.64.0.1", 8080), ("fd00:64::1", 15001), ("198.51.100.9", 6379), ("198.51.100.9", 853), ("198.51.100.9", 3128), ("100.64.0.2", 22), ("100.64.0.2", 3128), ("fd00:64::2", 443):
    attempt("%s %d" % to, lambda: tcp(*to), 3)
attempt("100.64.0.1 443", lambda: tcp("100.64.0.1", 443), 3)
for own in "127.0.0.1", "0.0.0.0":
    attempt(own + " 443", lambda: tcp(own, 443), 3)
for own in b"100.64.0.1:3128", b"127.0.0.1:443", b"[::1]:443", b"localhost:443":
    attempt("CONNECT " + own.decode(), lambda: explicit(b"CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n" % (own, own)), 3)
`).wantTries("100.64.0.1 22: Connection refused", "100.64.0.1 5432: Connection refused", "100.64.0.1 15001: Connection refused", "100.64.0.1 8080: Connection refused",
			"fd00:64::1 15001: Connection refused", "198.51.100.9 6379: Connection refused", "198.51.100.9 853: Connection refused", "198.51.100.9 3128: Connection refused",
			"100.64.0.2 22: Connection refused", "100.64.0.2 3128: Connection refused", "fd00:64::2 443: Connection refused", "100.64.0.1 443: closed",
			"127.0.0.1 443: Connection refused", "0.0.0.0 443: Connection refused", "CONNECT 100.64.0.1:3128: 403 address_not_granted",
			"CONNECT 127.0.0.1:443: 403 address_not_granted", "CONNECT [::1]:443: 403 address_not_granted", "CONNECT localhost:443: 403 no_grant").
			wantDenials("packet port_not_granted tcp 100.64.0.1:22", "packet port_not_granted tcp 100.64.0.1:5432", "packet port_not_granted tcp 100.64.0.1:15001",
				"packet port_not_granted tcp 100.64.0.1:8080", "packet port_not_granted tcp [fd00:64::1]:15001", "packet port_not_granted tcp 198.51.100.9:6379",
				"packet port_not_granted tcp 198.51.100.9:853", "packet port_not_granted tcp 198.51.100.9:3128", "connect address_not_granted 100.64.0.1:443",
				"connect address_not_granted 100.64.0.1:3128", "connect address_not_granted 127.0.0.1:443", "connect address_not_granted [::1]:443", "connect no_grant localhost:443").
			wantPackets(24)
	})
	t.Run("NET-10 CONNECT to mail, SSH and databases", func(t *testing.T) {
		newWorld(t, u).packets(`
for port in 22, 25, 6379:
    for host in "api.example.com", "evil.example.net":
        attempt("%s %d" % (host, port), lambda: explicit(b"CONNECT %s:%d HTTP/1.1\r\nHost: %s:%d\r\n\r\n" % ((host.encode(), port) * 2)), 3)
`).wantTries("api.example.com 22: 403 port_not_granted", "evil.example.net 22: 403 no_grant", "api.example.com 25: 403 port_not_granted",
			"evil.example.net 25: 403 no_grant", "api.example.com 6379: 403 port_not_granted", "evil.example.net 6379: 403 no_grant").
			wantDenials("connect port_not_granted api.example.com:22", "connect port_not_granted api.example.com:25", "connect port_not_granted api.example.com:6379",
				"connect no_grant evil.example.net:22", "connect no_grant evil.example.net:25", "connect no_grant evil.example.net:6379")
	})
	t.Run("NET-11 multicast and broadcast", func(t *testing.T) {
		newWorld(t, u).packets(`
for to in ("224.0.0.251", 5353), ("239.255.255.250", 1900), ("255.255.255.255", 67), ("198.51.100.255", 9), ("ff02::fb", 5353), ("ff05::1:3", 547):
    attempt(to[0], lambda: udp(*to, connected=False), 3)
attempt("TCP", lambda: tcp("224.0.0.1", 443), 3)
def itself():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as a, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as b:
        a.bind(("127.0.0.1", 0)); a.settimeout(PATIENCE); b.sendto(b"own", a.getsockname())
        return a.recv(9).decode()
attempt("itself", itself)
`).wantTries("224.0.0.251: sent", "239.255.255.250: sent", "255.255.255.255: sent", "198.51.100.255: sent", "ff02::fb: sent", "ff05::1:3: sent", "TCP: Network is unreachable", "itself: own").
			wantDenials("packet protocol_not_granted udp 224.0.0.251:5353", "packet protocol_not_granted udp 239.255.255.250:1900",
				"packet protocol_not_granted udp 255.255.255.255:67", "packet protocol_not_granted udp 198.51.100.255:9",
				"packet protocol_not_granted udp [ff02::fb]:5353", "packet protocol_not_granted udp [ff05::1:3]:547").
			wantPackets(18)
	})
}

// TestProxyVariables: there are none, and whoever ignores or unsets them gets no
// further.
func TestProxyVariables(t *testing.T) {
	for _, u := range users(t) {
		t.Run("NET-04 "+u.name, func(t *testing.T) {
			w := newWorld(t, u)
			w.policy(publicAPI)
			const url = "https://api.example.com/public/a"
			w.control(shell("env | grep -i _proxy || echo none")).wantStdout("none").farSideNothing().wantAllowed(0)
			w.control(curl("--noproxy", "*", url)).wantStatus(200).farSide("GET " + url).wantAllowed(1)
			w.attack(curl("--noproxy", "*", "https://api.example.com/private")).refused(403, "path_not_granted")
			w.attack(curl("--noproxy", "*", "https://evil.example.net/")).wantExit(6).wantDenials("name no_grant evil.example.net").farSideNothing()
			address := w.inet.Addr("api.example.com").String()
			w.attack(curl("--noproxy", "*", "--resolve", "api.example.com:443:"+address, url)).wantExit(35).wantDenials("connect address_not_granted " + address + ":443").farSideNothing()
			w.attack(curl("--noproxy", "*", "-k", "https://"+address+"/public/a")).wantExit(35).wantDenials("connect address_not_granted " + address + ":443").farSideNothing()
		})
	}
}
