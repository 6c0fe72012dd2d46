package differential

import (
	"strconv"
	"strings"
)

// stream is m as a stream of HTTP/2, in the parts that sample describes. What is wrong
// in the bytes of HTTP/1.1 is wrong in fields here.
func (m *message) stream() []string {
	g := m.g
	b := []string{"S"}
	field := func(name, value string) { b = append(b, "H"+name+"\x00"+value) }
	scheme := "https"
	if m.wrong["other form"] {
		scheme = g.of("http", "HTTPS", "ftp", "", "https:", "https://evil.test/?", "x")
	}
	pseudo := [][2]string{{":method", m.method}, {":scheme", scheme}, {":authority", m.authority}, {":path", m.path + m.query}}
	if m.wrong["no host"] {
		at := g.IntN(4)
		pseudo = append(pseudo[:at], pseudo[at+1:]...)
	}
	if m.wrong["host twice"] {
		pseudo = append(pseudo, pseudo[g.IntN(len(pseudo))])
	}
	if m.version != "HTTP/1.1" {
		pseudo = append(pseudo, [2]string{g.of(":version", ":protocol", ":status", ":foo", ":Method", ":"), g.of(m.version, "websocket", "200")})
	}
	late := m.wrong["bare CR"] || m.wrong["leading space"]
	for _, f := range pseudo {
		if late && f[0] == ":path" {
			continue
		}
		field(f[0], f[1])
	}
	if m.wrong["host differs"] {
		field("host", g.of(other, "evil.test", granted, granted+":443", ""))
	}
	for i, f := range append(m.fields, m.lengths()...) {
		name, value := m.spell(f[0], f[1], i)
		field(name, value)
	}
	if late {
		field(":path", m.path+m.query)
	}
	return append(b, m.data()...)
}

// lengths are the fields that say how long the body is.
func (m *message) lengths() [][2]string {
	n := len(m.body)
	for what := range m.wrong {
		if strings.Contains(what, "length") || strings.Contains(what, "coding") {
			return m.framing()
		}
	}
	if n > 0 && !m.chunked {
		return [][2]string{{"content-length", strconv.Itoa(n)}}
	}
	return nil
}

// spell writes a field as HTTP/2 wants it, or not.
func (m *message) spell(name, value string, i int) (string, string) {
	g := m.g
	here := i == 0 || g.chance(50)
	lower := strings.ToLower(name)
	switch {
	case m.wrong["space before colon"] && here:
		return lower + " ", value
	case m.wrong["no colon"] && here:
		return lower + ":", value
	case m.wrong["folded"] && here:
		return lower, value + "\r\n x"
	case m.wrong["bare LF"] && here:
		return lower, value + "\nx-smuggled: a"
	case m.wrong["CR CR LF"] && here:
		return lower + "\r\nx-smuggled", value
	case m.wrong["NUL in head"] && here:
		return lower, value + "\x00"
	case m.wrong["trailing space"] && here:
		return lower, " " + value + " "
	case m.wrong["field twice"] && here:
		return name, value
	}
	return lower, value
}

// data is the body in frames, and trailers.
func (m *message) data() []string {
	g := m.g
	var b []string
	for rest := m.body; rest != ""; {
		n := min(len(rest), 1+g.IntN(len(m.body)), 16384)
		b = append(b, "D"+rest[:n])
		rest = rest[n:]
	}
	for _, t := range m.trailers {
		b = append(b, "T"+strings.ToLower(t[0])+"\x00"+t[1])
	}
	if m.wrong["cut"] && len(b) > 0 {
		b = b[:len(b)-1]
	}
	return b
}
