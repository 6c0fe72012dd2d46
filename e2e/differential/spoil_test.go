package differential

import (
	"fmt"
	"strings"
)

// spoilers each make one thing about a request odd. Some oddities are harmless.
var spoilers = [...]func(*message){
	spoilSegment, spoilSegment, spoilSegment, spoilPath, spoilPath, spoilQuery, spoilQuery, spoilMethod, spoilAuthority,
	spoilAuthority, spoilVersion, addField, addField, addField, spoilFraming, spoilFraming, spoilFraming, spoilBytes,
	spoilBytes, spoilBody, spoilHop,
}

func (m *message) add(name, value string) { m.fields = append(m.fields, [2]string{name, value}) }

// oddSegments are segments that parsers read in several ways.
var oddSegments = []string{
	".", "..", "%2e", "%2E%2e", ".%2e", "%2e.", "..;", "..;x=1", ".;", "", "%2f", "..%2f", "..%2fsecret", "%2e%2e%2fsecret", "..%5c", `\`, `..\`, `..\secret`,
	"a;x=1", ";", ";a", "%3b", "..%3b", "%00", "a%00b", "..%00", "%0d%0a", "%0a", "%09", "%c0%af", "%c0%ae%c0%ae", "%e0%80%af", "%ef%bc%8f", "%252e%252e", "%25252e",
	"%252f", "%7e", "+", "%20", "%", "%4", "%zz", "%u002e%u002e", "%%32%65", "\xc3\xa9", "%c3%a9", "%ff", "a%2fb", "PUBLIC", "*", ":", "a:b", "%23", "#", "#a", "?", "%3f",
	"%5c", "%5C..%5C", "..%c0%af", "..%ef%bc%8f", "...", "....", ". .", "%2e%20", "..%09", "\t", "a b", "~", "..~", "&", "=", "@", "user@", "//", "/.", "/..", "/../secret", "/./",
	"http:", "http://evil.test", "%68ttp:", "[", "]", "{", "}", "|", "^", "`", "\"", "<", ">", "'", "\x01", "\x7f", "\x80", "\x00", "\r", "%e2%80%ae", "%f0%9f%98%80",
	"%ed%a0%80", "%F4%90%80%80", "con", "a.", "a%2e", "A%2E%2E", "web.config::$DATA", "%2e%2e;", "..;%2f..", "%252f..", "..%25%32%66",
}

func spoilSegment(m *message) {
	segments := strings.Split(m.path, "/")
	at := m.g.IntN(len(segments) + 1)
	odd := m.g.of(oddSegments...)
	switch {
	case at > 0 && at < len(segments) && m.g.chance(50):
		segments[at] += odd
	case at > 0 && at < len(segments) && m.g.chance(30):
		segments[at] = odd
	default:
		segments = append(segments[:at:at], append([]string{odd}, segments[at:]...)...)
	}
	m.path = strings.Join(segments, "/")
}

func spoilPath(m *message) {
	g := m.g
	switch g.IntN(14) {
	case 0:
		m.path = "/" + m.path
	case 1:
		m.path += "/"
	case 2:
		m.path = strings.TrimPrefix(m.path, "/")
	case 3:
		m.path = strings.ToUpper(m.path)
	case 4:
		m.path = strings.Replace(m.path, "/", g.of(`\`, "%2f", "%5c", "//", "/./", "/x/../", "%2F", "∕", "/;/", "/%2e/"), 1)
	case 5:
		m.path = "/public/.." + m.path
	case 6:
		m.path += strings.Repeat(g.of("/a", "/..", "a", "%41", "/%2e"), g.of2(20, 3000))
	case 7:
		m.path = g.of("", "*", "?", "//", "///", "/.", "/..", "/%", "http:/public/a", "://", "public/a", "@/public/a")
	case 8:
		m.path = "/public/" + g.of("a#/../../secret", "a?/../secret", "a;/../../secret", "a/..%2f..%2fsecret", "%2e%2e/%2e%2e/secret")
	case 9:
		i := g.IntN(len(m.path) + 1)
		m.path = m.path[:i] + string(rune(g.IntN(256))) + m.path[i:]
	case 10:
		i := g.IntN(len(m.path) + 1)
		m.path = m.path[:i] + fmt.Sprintf("%%%02x", g.IntN(256)) + m.path[i:]
	case 11:
		m.path = "/" + granted + m.path
	case 12:
		m.path = "//" + other + m.path
	default:
		m.path = "/%70ublic/" + g.segments()
	}
}

// of2 is mostly up to a, sometimes up to b.
func (g *generator) of2(a, b int) int {
	if g.chance(90) {
		return 1 + g.IntN(a)
	}
	return 1 + g.IntN(b)
}

func spoilQuery(m *message) {
	g := m.g
	if m.query == "" {
		m.query = "?"
	}
	switch g.IntN(6) {
	case 0:
		m.query += "&" + g.of("x=1", "q=2", "page=3", "q", "=", "=a", "", "&", "q[]=1", "Q=1", "q%00=1", "q=%00", "q=%0d%0a", "_method=DELETE", "%71=z", "page=1e3", "sort=up", "sort=up;x=1", "utm=1", "q=\xff", "q=%ff", "access_token=x")
	case 1:
		m.query = strings.ReplaceAll(m.query, "&", g.of(";", "&amp;", "&&", "%26", ",", "|", "&;"))
	case 2:
		m.query += g.of("?", "?a=b", "#", "#a", "%23", "%", "%4", "%zz", "\\", "/../secret", " ", "+", "\t")
	case 3:
		m.query = "?" + strings.Repeat(g.of("q=1&", "a=b&", "&"), g.of2(5, 400)) + "page=1"
	case 4:
		m.query = g.of("?", "??", "?&", "?=", "?page", "?page=", "?page=%31", "?p%61ge=1", "?page=1&page=2", "?sort=UP", "?q=a%26page%3D2", "%3Fpage=1", ";page=1")
	default:
		i := 1 + g.IntN(len(m.query))
		m.query = m.query[:i] + string(rune(g.IntN(256))) + m.query[i:]
	}
}

func spoilMethod(m *message) {
	m.method = m.g.of("get", "Get", "HEAD", "OPTIONS", "DELETE", "PUT", "POST", "PATCH", "TRACE", "CONNECT", "PRI", "FOO", "G", "GET,POST", "G\tT", "GET\x00", "", "\xc3\x89", "PROPFIND", "M-SEARCH", strings.Repeat("X", m.g.of2(30, 5000)), "GET\v", "\"GET\"", "POST ")
}

func spoilAuthority(m *message) {
	g := m.g
	switch g.IntN(8) {
	case 0:
		m.authority = g.of("API.EXAMPLE.COM", "api.example.com.", "Api.Example.Com", "api.example.com:80", "api.example.com:443", "api.example.com:080", "api.example.com:", "API.example.com.:80")
	case 1:
		m.authority = g.of(other, "evil.test", "localhost", "127.0.0.1", "[::1]", "", ".", "..", "169.254.169.254", "2130706433", "0x7f.1", "api.example.com..", ".api.example.com")
	case 2:
		m.authority = g.of("user@", "user:pw@", "evil.test@", "@", "%40", "evil.test#", "evil.test\\@", "evil.test,", "x") + m.authority
	case 3:
		m.authority += g.of(":8080", ":0", ":65616", ":-1", ":99999", "/", "/secret", "?", "#", "@evil.test", ",evil.test", ", evil.test", " ", " evil.test", "\t", "\x00", "%00", "%2e", ".evil.test", "\\", ":80:80", ":+80", ":80x", "[::1]", "\xc3\xa9", "%25eth0")
	case 4:
		m.wrong["no host"] = true
	case 5:
		m.wrong["host twice"] = true
	case 6:
		m.wrong["host differs"] = true
	default:
		m.wrong["other form"] = true
	}
}

func spoilVersion(m *message) {
	m.version = m.g.of("HTTP/1.0", "HTTP/1.0", "HTTP/1.2", "HTTP/2.0", "HTTP/0.9", "HTTP/3", "http/1.1", "", "HTTP/1.1 ", "HTTP/01.1", "HTTP/1.10", "HTTP/1.1\t", "HTTP /1.1", "HTTPS/1.1", "HTTP/1", "HTTP/1.32", "ICY", "HTTP/1.1 x")
}

func addField(m *message) {
	g := m.g
	m.add(g.of(
		"X-HTTP-Method-Override", "X-Method-Override", "X-HTTP-Method", "X-Original-URL", "X-Rewrite-URL", "X-Forwarded-Host", "X-Forwarded-For", "X-Forwarded-Proto", "Forwarded", "X-Host",
		"Accept", "Accept-Encoding", "User-Agent", "Cookie", "Authorization", "Range", "If-None-Match", "Expect", "TE", "Trailer", "Content-Encoding", "Content-Type", "Content-Location",
		"X-Accel-Redirect", "X-Sendfile", "Proxy", "Max-Forwards", "Via", "Referer", "Origin", "X_HTTP_METHOD_OVERRIDE", "Content_Length", "Transfer_Encoding", "Host_", "", "X Y", "X-\xc3\xa9", "X-Nul\x00", "X(", "Location",
		"Sec-WebSocket-Key", "HTTP2-Settings", "Keep-Alive", "Proxy-Connection", "Proxy-Authorization", "X-"+strings.Repeat("a", g.of2(20, 300)),
	), g.of(
		"DELETE", "/secret", "evil.test", "a", "", "*/*", "gzip", "identity", "100-continue", "100-Continue, x", "trailers", "chunked", "application/json", "text/plain, application/json", "bytes=0-1",
		"\xff\xfe", "a\x00b", "a\rb", "\"", "a\x0bb", "a\x7fb", "%0d%0aX-A: b", strings.Repeat("v", g.of2(100, 70000)), "\t", "a,b,c", "0",
	))
}

func spoilHop(m *message) {
	g := m.g
	m.add("Connection", g.of("close", "keep-alive", "Upgrade", "upgrade, HTTP2-Settings", "Host", "Content-Length", "Transfer-Encoding", "close, Content-Type", "TE", "keep-alive, close", "Content-Length, close", "x", "", ",", "Upgrade, close", "\"close\""))
	if g.chance(40) {
		m.add("Upgrade", g.of("websocket", "h2c", "foo", "TLS/1.0", "HTTP/2.0", "h2c, websocket", ""))
	}
}

// spoilFraming is about how long the body is said to be.
func spoilFraming(m *message) {
	g := m.g
	if g.chance(30) {
		m.fill("application/octet-stream")
	}
	m.wrong[g.of(
		"length short", "length long", "length odd", "length odd", "length twice", "length twice equal", "length and chunked", "length and chunked", "chunked and length",
		"coding odd", "coding odd", "coding odd", "coding twice", "no length", "length of nothing", "coding of nothing",
	)] = true
}

// spoilBytes is about lines and blanks.
func spoilBytes(m *message) {
	m.wrong[m.g.of(
		"bare LF", "bare LF", "bare CR", "folded", "folded first", "space before colon", "tab before colon", "no colon", "leading space", "two spaces", "tab in line", "empty line first", "LF first",
		"LF ends head", "CR CR LF", "NUL in head", "trailing space", "cut", "cut", "many fields", "field twice", "no blank line",
	)] = true
}

// spoilBody is about chunks and trailers.
func spoilBody(m *message) {
	g := m.g
	if m.body == "" {
		m.method, m.path = "POST", "/notes"
		m.fill("application/octet-stream")
	}
	m.chunked = true
	if g.chance(40) {
		m.trailers = append(m.trailers, [2]string{
			g.of("X-Sum", "Host", "Content-Length", "Transfer-Encoding", "Authorization", "Connection", "", ":path", "X Y", "GET /secret HTTP/1.1"),
			g.of("a", "5", "chunked", "evil.test", "", "a\rb", "a\x00", strings.Repeat("t", g.of2(10, 5000))),
		})
		return
	}
	m.wrong[g.of("chunk size odd", "chunk size odd", "chunk extension", "chunk extension", "chunk line LF", "chunk end LF", "chunk end missing", "chunk end long", "last chunk odd", "last chunk missing", "end missing", "end LF", "many chunks")] = true
}
