"""What the end-to-end tests try from inside a sandbox.

attempt() prints one line of JSON for each try: what was tried, what came of it, and
how many milliseconds that took. A result is a text or an exception's name.
"""
import functools, json, re, socket, ssl, struct, time

GATEWAY = "100.64.0.1"
PATIENCE = 2  # seconds: a refusal that takes longer is a stall


def attempt(what, f, times=1):
    """Tries times times and prints the last result and the median duration."""
    took = []
    for _ in range(times):
        begin = time.monotonic()
        try:
            came = f()
        except Exception as e:
            came = getattr(e, "reason", None) or getattr(e, "strerror", None) or str(e) or type(e).__name__
        took.append((time.monotonic() - begin) * 1000)
    print(json.dumps({"what": what, "came": came, "ms": sorted(took)[len(took) // 2]}), flush=True)


def family(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def tcp(address, port, data=b""):
    """Connects, sends, and waits for the end or for an answer."""
    with socket.create_connection((address, port), PATIENCE) as s:
        s.sendall(data)
        return "answer" if s.recv(1) else "closed"


def udp(address, port, data=b"x", connected=True):
    """Sends one datagram and waits for an answer or an error."""
    with socket.socket(family(address), socket.SOCK_DGRAM) as s:
        s.settimeout(PATIENCE)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        if connected:
            s.connect((address, port))
            s.send(data)
            return "answer" if s.recv(1) else "empty"
        s.sendto(data, (address, port))
        return "sent"


def question(name, qtype=1, ident=7):
    """A DNS message; name is text, or the encoded labels."""
    if isinstance(name, str):
        name = b"".join(bytes([len(l)]) + l.encode() for l in name.split(".")) + b"\0"
    return struct.pack(">6H", ident, 0x100, 1, 0, 0, 0) + name + struct.pack(">2H", qtype, 1)


def verdict(reply):
    """What a DNS answer says: NOERROR with addresses, or the response code."""
    code, answers = reply[3] & 15, struct.unpack(">H", reply[6:8])[0]
    names = {0: "NOERROR", 1: "FORMERR", 3: "NXDOMAIN", 5: "REFUSED"}
    return names.get(code, str(code)) + (" %d" % answers if code == 0 else "")


def dns(name, qtype=1, server=GATEWAY):
    with socket.socket(family(server), socket.SOCK_DGRAM) as s:
        s.settimeout(PATIENCE)
        s.connect((server, 53))
        s.send(question(name, qtype))
        return verdict(s.recv(4096))


def dns_tcp(*names, server=GATEWAY):
    """Asks for all names in one segment and reads as many answers."""
    with socket.create_connection((server, 53), PATIENCE) as s:
        messages = [question(n, ident=i) for i, n in enumerate(names)]
        s.sendall(b"".join(struct.pack(">H", len(m)) + m for m in messages))
        stream, found = s.makefile("rb"), {}
        for _ in names:
            reply = stream.read(struct.unpack(">H", stream.read(2))[0])
            found[struct.unpack(">H", reply[:2])[0]] = verdict(reply)
        return ", ".join(found[i] for i in range(len(names)))


def said(stream):
    """The status and the reason of an HTTP answer, and whether the connection ends."""
    head = b""
    while b"\r\n\r\n" not in head:
        b = stream.recv(65536)
        if not b:
            return "closed" if not head else "cut: %r" % head
        head += b
    head, body = head.split(b"\r\n\r\n", 1)
    length = re.search(rb"(?i)content-length: (\d+)", head)
    while length and len(body) < int(length[1]):
        body += stream.recv(65536)
    reason = re.search(rb'"reason":"(\w+)"', body)
    return head.split(b" ")[1].decode() + (" " + reason[1].decode() if reason else "")


def explicit(data):
    """Sends bytes to the proxy that clients can be told of."""
    with socket.create_connection((GATEWAY, 3128), PATIENCE) as s:
        s.sendall(data)
        return said(s)


def plain(name, data, port=80):
    """Sends bytes to port 80 of a name."""
    with socket.create_connection((name, port), PATIENCE) as s:
        s.sendall(data)
        return said(s)


@functools.cache
def trust():
    return ssl.create_default_context()


def tls(name, data, port=443, sni=None, tunnel=False):
    """Sends bytes inside TLS to a name, through the other proxy if tunnel."""
    to = (GATEWAY, 3128) if tunnel else (name, port)
    with socket.create_connection(to, PATIENCE) as s:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if tunnel:
            s.sendall(b"CONNECT %s:%d HTTP/1.1\r\nHost: %s:%d\r\n\r\n" % (name.encode(), port, name.encode(), port))
            answer = said(s)
            if not answer.startswith("200"):
                return answer
        with trust().wrap_socket(s, server_hostname=sni or name) as t:
            t.sendall(data)
            return said(t)


def get(host, target="/", extra=b""):
    """A request as bytes; host and target may be bytes."""
    host = host if isinstance(host, bytes) else host.encode()
    target = target if isinstance(target, bytes) else target.encode()
    return b"GET " + target + b" HTTP/1.1\r\nHost: " + host + b"\r\n" + extra + b"\r\n"


def ws_frame(op, payload=b"", fin=True, claimed=None, mask=b"abcd"):
    """A frame of a WebSocket client; claimed is a length that does not come."""
    n = len(payload) if claimed is None else claimed
    head = bytes([op | (0x80 if fin else 0)])
    bit = 0x80 if mask else 0
    head += bytes([bit | n]) if n < 126 else bytes([bit | 127]) + struct.pack(">Q", n)
    return head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(payload)) if mask else head + payload


def ws_read(s):
    """The operation and the payload of a short frame of the server."""
    head = s.recv(2, socket.MSG_WAITALL) if not isinstance(s, ssl.SSLSocket) else s.recv(1) + s.recv(1)
    if len(head) < 2:
        return None, b""
    payload = b""
    while len(payload) < head[1]:
        payload += s.recv(head[1] - len(payload))
    return head[0] & 15, payload


def websocket(name, path, frames=b"", extra=b"", tunnel=False):
    """Asks for a WebSocket, sends frames, and reads until the other side ends."""
    to = (GATEWAY, 3128) if tunnel else (name, 443)
    with socket.create_connection(to, PATIENCE) as s:
        if tunnel:
            s.sendall(b"CONNECT %s:443 HTTP/1.1\r\nHost: %s:443\r\n\r\n" % (name.encode(), name.encode()))
            answer = said(s)
            if not answer.startswith("200"):
                return answer
        with trust().wrap_socket(s, server_hostname=name) as t:
            t.sendall(get(name, path, b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                          b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" + extra))
            answer = said(t)
            if not answer.startswith("101"):
                return answer
            t.sendall(frames)
            while True:
                try:
                    op, payload = ws_read(t)
                except (ConnectionError, ssl.SSLError):
                    return answer + " cut"
                if op is None:
                    return answer + " ended"
                answer += " %s" % (payload.decode() if op == 1 else {8: "close", 9: "ping", 10: "pong"}.get(op, op))
                if op == 8:
                    return answer


def extended_connect(name, path):
    """Asks for a WebSocket over HTTP/2 (RFC 8441) and reads why not."""
    context = ssl.create_default_context()
    context.set_alpn_protocols(["h2"])
    fields = [(":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "https"), (":path", path), (":authority", name), ("sec-websocket-version", "13")]
    block = b"".join(b"\0" + bytes([len(n)]) + n.encode() + bytes([len(v)]) + v.encode() for n, v in fields)
    frame = lambda kind, flags, stream, payload: struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload
    with socket.create_connection((name, 443), PATIENCE) as s, context.wrap_socket(s, server_hostname=name) as t:
        t.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, b"") + frame(1, 4, 1, block))
        came = b""
        while True:
            b = t.recv(65536)
            came += b
            reason = re.search(rb'"reason":"(\w+)"', came)
            if reason:
                return reason[1].decode()
            if not b:
                return "closed"
