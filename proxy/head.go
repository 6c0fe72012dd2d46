package proxy

import (
	"bytes"
	"strconv"
	"strings"

	"scupper.dev/scupper/capability"
)

// head is what matters of a request head for finding the next one.
type head struct {
	connect bool
	upgrade bool // to a WebSocket, if that is granted
	chunked bool
	length  int64

	line            requestLine
	host            []byte
	hosts, lengths  int
	codings, fields int
	coding, declare []byte
}

type requestLine struct{ method, target, version []byte }

// readHead reads a head, its lines each ended by CRLF, by the letter of RFC 9112. It
// refuses what other parsers are known to read differently.
func readHead(b []byte, l *link) (head, capability.Reason) {
	var h head
	line, rest, ok := cutLine(b)
	if !ok || !h.line.parse(line) {
		return h, capability.MalformedRequest
	}
	if !isTarget(h.line.target) {
		return h, h.line.unclean()
	}
	for len(rest) > 0 {
		if line, rest, ok = cutLine(rest); !ok || !isField(line) {
			return h, capability.MalformedRequest
		}
		h.note(line)
	}
	if !h.framed() {
		return h, capability.MalformedRequest
	}
	if !allBytes(h.host, isHostByte) {
		return h, capability.MalformedHost
	}
	h.connect = string(h.line.method) == "CONNECT" && l.outside()
	return h, h.agrees(l)
}

// unclean says where the bytes are that no target may have.
func (l *requestLine) unclean() capability.Reason {
	rest := l.target
	if rest[0] == '/' {
		return capability.MalformedPath
	}
	if _, after, ok := bytes.Cut(rest, []byte("://")); ok {
		rest = after
	}
	if end := bytes.IndexAny(rest, "/?#"); end >= 0 && isTarget(rest[:end]) {
		return capability.MalformedPath
	}
	return capability.MalformedHost
}

// cutLine cuts at the next CRLF; a line feed or carriage return alone ends nothing.
func cutLine(b []byte) (line, rest []byte, ok bool) {
	i := bytes.IndexByte(b, '\n')
	if i < 1 || b[i-1] != '\r' {
		return nil, nil, false
	}
	line = b[:i-1]
	return line, b[i+1:], bytes.IndexByte(line, '\r') < 0
}

// parse wants method SP target SP HTTP/1.1 or HTTP/1.0 and no other space.
func (r *requestLine) parse(line []byte) bool {
	var ok1, ok2 bool
	r.method, line, ok1 = bytes.Cut(line, []byte(" "))
	r.target, r.version, ok2 = bytes.Cut(line, []byte(" "))
	known := string(r.version) == "HTTP/1.1" || string(r.version) == "HTTP/1.0"
	return ok1 && ok2 && known && len(r.method) > 0 && len(r.target) > 0 && allBytes(r.method, isTokenByte)
}

// isField reports whether line is name ":" value without folding (RFC 9112 section 5).
func isField(line []byte) bool {
	i := bytes.IndexByte(line, ':')
	return i > 0 && allBytes(line[:i], isTokenByte) && allBytes(line[i+1:], isValueByte)
}

// note keeps the fields that frame a request or say where it goes.
func (h *head) note(line []byte) {
	i := bytes.IndexByte(line, ':')
	name, value := line[:i], bytes.Trim(line[i+1:], " \t")
	h.fields++
	switch {
	case is(name, "upgrade"):
		h.upgrade = is(value, "websocket")
	case is(name, "host"):
		h.host = value
		h.hosts++
	case is(name, "content-length"):
		h.declare = value
		h.lengths++
	case is(name, "transfer-encoding"):
		h.coding = value
		h.codings++
	}
}

func is(name []byte, lower string) bool {
	return len(name) == len(lower) && strings.EqualFold(string(name), lower)
}

// framed reports whether the body has one length (RFC 9112 section 6.3).
func (h *head) framed() bool {
	modern := string(h.line.version) == "HTTP/1.1"
	if h.hosts > 1 || modern && h.hosts == 0 || h.lengths > 1 || h.codings > 1 || h.lengths > 0 && h.codings > 0 {
		return false
	}
	if h.codings == 1 {
		h.chunked = true
		return modern && is(h.coding, "chunked")
	}
	if h.lengths == 1 {
		n, err := strconv.ParseUint(string(h.declare), 10, 62)
		h.length = int64(n)
		return err == nil && h.declare[0] != '+'
	}
	return true
}

// agrees wants a target that names a host itself to name the one in Host. net/http
// drops that field without a look.
func (h *head) agrees(l *link) capability.Reason {
	if h.hosts == 0 || h.line.target[0] == '/' || h.line.target[0] == '*' {
		return capability.Granted
	}
	named, implied := string(h.line.target), l.scheme.DefaultPort()
	if _, rest, ok := strings.Cut(named, "://"); ok {
		named = rest[:max(0, strings.IndexAny(rest+"/", "/?#"))]
		if l.outside() {
			implied = capability.HTTP.DefaultPort()
		}
	}
	a, err := parseAuthority(named, implied)
	b, err2 := parseAuthority(string(h.host), implied)
	switch {
	case err != nil || err2 != nil:
		return capability.MalformedHost
	case a.host != b.host:
		return capability.AuthorityMismatch
	case a.port != b.port && (!h.connect || strings.Contains(string(h.host), ":")): // some clients leave it out
		return capability.AuthorityMismatch
	}
	return capability.Granted
}

func chunkSize(line []byte) (int64, bool) {
	digits, extension, _ := bytes.Cut(line, []byte(";"))
	if len(digits) == 0 || len(digits) > 15 || !allBytes(digits, isHexByte) || !allBytes(extension, isValueByte) {
		return 0, false
	}
	n, err := strconv.ParseInt(string(digits), 16, 64)
	return n, err == nil
}

func allBytes(b []byte, class func(byte) bool) bool {
	for _, c := range b {
		if !class(c) {
			return false
		}
	}
	return true
}

// isTarget: visible ASCII with whole percent escapes; net/http answers the rest itself.
func isTarget(b []byte) bool {
	for i, c := range b {
		if c <= ' ' || c >= 0x7f || c == '%' && (i+2 >= len(b) || !isHexByte(b[i+1]) || !isHexByte(b[i+2])) {
			return false
		}
	}
	return true
}

func isValueByte(c byte) bool { return c >= ' ' && c != 0x7f || c == '\t' }

// isHostByte: what capability.ParseHost may find a host and port in.
func isHostByte(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || strings.IndexByte("-.:[]", c) >= 0
}

func isHexByte(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// isTokenByte: tchar of RFC 9110 section 5.6.2.
func isTokenByte(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}
