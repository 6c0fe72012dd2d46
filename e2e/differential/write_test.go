package differential

import (
	"fmt"
	"strconv"
	"strings"
)

// bytes is m in HTTP/1.1, with everything that is to be wrong about it.
func (m *message) bytes() []string {
	var b []string
	add := func(parts ...string) { b = append(b, parts...) }
	if m.wrong["empty line first"] {
		add("\r\n")
	}
	if m.wrong["LF first"] {
		add("\n")
	}
	if m.wrong["leading space"] {
		add(" ")
	}
	add(m.method, m.blank())
	add(m.target()...)
	if m.version != "" {
		add(m.blank())
	}
	add(m.version)
	if m.wrong["trailing space"] {
		add(" ")
	}
	add(m.end())
	for i, line := range m.lines() {
		add(m.line(i, line), m.end())
	}
	if m.wrong["NUL in head"] {
		b[m.g.IntN(len(b))] += "\x00"
	}
	switch {
	case m.wrong["no blank line"]:
	case m.wrong["LF ends head"]:
		add("\n")
	default:
		add("\r\n")
	}
	add(m.payload()...)
	if m.wrong["cut"] {
		b = b[:1+m.g.IntN(len(b))]
	}
	return b
}

func (m *message) blank() string {
	switch {
	case m.wrong["two spaces"] && m.g.chance(50):
		return "  "
	case m.wrong["tab in line"]:
		return "\t"
	}
	return " "
}

func (m *message) end() string {
	switch {
	case m.wrong["bare LF"] && m.g.chance(30):
		return "\n"
	case m.wrong["bare CR"] && m.g.chance(30):
		return "\r"
	case m.wrong["CR CR LF"] && m.g.chance(30):
		return "\r\r\n"
	}
	return "\r\n"
}

// target is the request target in parts.
func (m *message) target() []string {
	g := m.g
	whole := m.way == absolute
	if m.wrong["other form"] {
		whole = !whole
	}
	var b []string
	if whole {
		scheme := "http"
		if m.way.tls() {
			scheme = "https"
		}
		if m.wrong["other form"] && g.chance(50) {
			scheme = g.of("HTTP", "https", "ftp", "", "ws", "hTTp", "http:http", "file", "http\t")
		}
		b = append(b, scheme, "://", m.authority)
	}
	for i, s := range strings.SplitAfter(m.path, "/") {
		if i > 40 {
			b[len(b)-1] += s
			continue
		}
		b = append(b, s)
	}
	return append(b, m.query)
}

// lines are the header fields as they should be.
func (m *message) lines() [][2]string {
	g := m.g
	var lines [][2]string
	host := m.authority
	if m.wrong["host differs"] {
		host = g.of(other, "evil.test", granted+":81", granted+".", "", strings.ToUpper(granted))
	}
	if !m.wrong["no host"] {
		lines = append(lines, [2]string{g.of("Host", "Host", "host", "HOST", "hOsT"), host})
	}
	if m.wrong["host twice"] {
		lines = append(lines, [2]string{"Host", g.of(host, other, "evil.test")})
	}
	lines = append(lines, m.fields...)
	lines = append(lines, m.framing()...)
	if m.wrong["field twice"] && len(lines) > 0 {
		lines = append(lines, lines[g.IntN(len(lines))])
	}
	if m.wrong["many fields"] {
		for i := range g.of2(100, 1500) {
			lines = append(lines, [2]string{"X-" + strconv.Itoa(i), "v"})
		}
	}
	if g.chance(30) {
		g.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	}
	return lines
}

// framing is Content-Length, Transfer-Encoding, both or neither.
func (m *message) framing() [][2]string {
	g := m.g
	n := len(m.body)
	length := func(v string) [2]string {
		return [2]string{g.of("Content-Length", "Content-Length", "content-length"), v}
	}
	coding := func(v string) [2]string {
		return [2]string{g.of("Transfer-Encoding", "Transfer-Encoding", "transfer-encoding"), v}
	}
	decimal := strconv.Itoa(n)
	switch {
	case m.wrong["length short"]:
		return [][2]string{length(strconv.Itoa(max(0, n-1-g.IntN(5))))}
	case m.wrong["length long"]:
		return [][2]string{length(strconv.Itoa(n + 1 + g.IntN(100)))}
	case m.wrong["length odd"]:
		return [][2]string{length(g.of("+", "-", "0", "0x", " ", "\t", "00000000000000000000", "1e", "\v") + decimal + g.of("", "", ",", ", "+decimal, ".0", " 0", ";", "\r", "x", "\x00"))}
	case m.wrong["length twice"]:
		return [][2]string{length(decimal), length(strconv.Itoa(n + 1))}
	case m.wrong["length twice equal"]:
		return [][2]string{length(decimal), length(decimal)}
	case m.wrong["length and chunked"]:
		return [][2]string{length(decimal), coding("chunked")}
	case m.wrong["chunked and length"]:
		return [][2]string{coding("chunked"), length(decimal)}
	case m.wrong["coding odd"]:
		m.chunked = true
		return [][2]string{coding(g.of("chunked,", ",chunked", "chunked, chunked", "gzip, chunked", "chunked, gzip", "identity", "xchunked", "chunked;x", "\"chunked\"", "Chunked", "CHUNKED", "chunked\t", " chunked", "\vchunked", "chunked\x00", "chunked\r", "chunKed", "identity, chunked", "", "cow", "chunked identity", "x-chunked"))}
	case m.wrong["coding twice"]:
		return [][2]string{coding("chunked"), coding(g.of("chunked", "identity", "x"))}
	case m.wrong["no length"]:
		return nil
	case m.wrong["length of nothing"]:
		return [][2]string{length(g.of("0", "00", "-0", ""))}
	case m.wrong["coding of nothing"]:
		m.chunked = true
		return [][2]string{coding("chunked")}
	case m.chunked:
		return [][2]string{coding("chunked")}
	case n > 0 || m.method == "POST" || m.method == "PUT":
		return [][2]string{length(decimal)}
	}
	return nil
}

// line is one header line without its end.
func (m *message) line(i int, f [2]string) string {
	g := m.g
	here := i == 0 || g.chance(30)
	colon := ": "
	switch {
	case g.chance(10):
		colon = g.of(":", ":  ", ":\t")
	case m.wrong["space before colon"] && here:
		colon = " : "
	case m.wrong["tab before colon"] && here:
		colon = "\t: "
	case m.wrong["no colon"] && here:
		colon = g.of(" ", "", "=")
	case m.wrong["folded"] && here:
		colon = g.of(":\r\n ", ":\r\n\t", ": x\r\n ", ":\n ")
	case m.wrong["folded first"] && i == 0:
		return " " + f[0] + ": " + f[1]
	}
	return f[0] + colon + f[1]
}

// payload is the body as it is framed, in parts.
func (m *message) payload() []string {
	g := m.g
	if !m.chunked || m.wrong["length and chunked"] && g.chance(30) {
		return []string{m.body}
	}
	var b []string
	for rest := m.body; rest != ""; {
		n := min(len(rest), 1+g.IntN(max(1, len(m.body))))
		if m.wrong["many chunks"] {
			n = min(len(rest), 1)
		}
		b = append(b, m.chunk(rest[:n])...)
		rest = rest[n:]
	}
	if m.wrong["last chunk missing"] {
		return b
	}
	last := "0"
	if m.wrong["last chunk odd"] {
		last = g.of("00", "000000000000", "0;a=b", "0 ", "0x0", "-0", "+0", "", "0\t", "0;\n")
	}
	b = append(b, last, "\r\n")
	for _, t := range m.trailers {
		b = append(b, t[0]+": "+t[1]+"\r\n")
	}
	switch {
	case m.wrong["end missing"]:
	case m.wrong["end LF"]:
		b = append(b, "\n")
	default:
		b = append(b, "\r\n")
	}
	return b
}

func (m *message) chunk(text string) []string {
	g := m.g
	size := fmt.Sprintf(g.of("%x", "%X", "%x", "0%x"), len(text))
	end, close := "\r\n", "\r\n"
	switch {
	case m.wrong["chunk size odd"]:
		size = g.of("0x", "+", "-", " ", "\t", "0000000000000000", "f000000000000000", "1", "", "\v") + size + g.of("", "", " ", "\t", "_", "g", "h", "\x00", ".0")
	case m.wrong["chunk extension"]:
		size += g.of(";", " ;", "; ") + g.of("a=b", "a", "", `a="b"`, `a="\n"`, "a\rb", "a\nb", "a=\"\r\n0\r\n\r\n\"", strings.Repeat("x", g.of2(100, 5000)), "\x00", "\xff")
	case m.wrong["chunk line LF"]:
		end = g.of("\n", "\r", "\r\r\n", "\n\r\n")
	case m.wrong["chunk end LF"]:
		close = g.of("\n", "\r", "\r\r\n", "x\n")
	case m.wrong["chunk end missing"]:
		close = ""
	case m.wrong["chunk end long"]:
		close = g.of("\r\n\r\n", "x\r\n", "\r\n\n", " \r\n")
	}
	return []string{size, end, text, close}
}
