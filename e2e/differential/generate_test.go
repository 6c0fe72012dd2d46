package differential

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// generator makes samples. Equal seeds make equal samples.
type generator struct {
	*rand.Rand
	serial int // of the next body, so that bodies differ
}

func newGenerator(seed, stream uint64) *generator {
	return &generator{Rand: rand.New(rand.NewPCG(seed, stream))}
}

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

func (g *generator) of(words ...string) string { return words[g.IntN(len(words))] }

// ways is how often each way is tried, in percent.
var ways = []struct {
	way     way
	percent int
}{{plain, 40}, {secure, 12}, {absolute, 16}, {connectClear, 8}, {connectSecure, 6}, {frames, 13}, {connectFrames, 5}}

// sample makes one connection with up to four requests; the number of them is the
// second result.
func (g *generator) sample() (sample, int) {
	n := 1 + max(0, g.IntN(7)-3)
	left := g.IntN(100)
	for _, w := range ways {
		if left -= w.percent; left < 0 {
			return g.on(w.way, n), n
		}
	}
	return g.on(plain, n), n
}

func (g *generator) on(w way, n int) sample {
	s := sample{way: w}
	for i := range n {
		m := g.message(w)
		if w.http2() {
			s.parts = append(s.parts, m.stream()...)
			continue
		}
		if i < n-1 {
			m.keep()
		}
		s.parts = append(s.parts, m.bytes()...)
	}
	return s
}

// message is one request before it becomes bytes.
type message struct {
	g         *generator
	way       way
	method    string
	authority string // what the target or Host names
	path      string
	query     string // with its question mark
	version   string
	fields    [][2]string
	body      string
	chunked   bool
	trailers  [][2]string
	wrong     map[string]bool // what is deliberately wrong in its bytes
}

// message makes a request that the policy grants, or nearly one, and then spoils it
// up to three times.
func (g *generator) message(w way) *message {
	m := &message{g: g, way: w, method: "GET", authority: granted, version: "HTTP/1.1", wrong: map[string]bool{}}
	g.serial++
	g.purpose(m)
	spoil := []int{0, 0, 0, 1, 1, 1, 1, 2, 2, 3}[g.IntN(10)]
	for range spoil {
		spoilers[g.IntN(len(spoilers))](m)
	}
	return m
}

// purpose picks a function of the policy, or one that it does not have.
func (g *generator) purpose(m *message) {
	switch g.IntN(13) {
	case 0, 1, 2:
		m.path = "/public/" + g.segments()
	case 3, 4:
		m.method, m.path = "POST", "/notes"
		m.fill("application/octet-stream")
	case 11:
		m.method, m.path = "POST", "/json"
		m.fill("application/json")
		m.body = fmt.Sprintf(`{"n":%d}`, g.serial)
	case 5:
		m.path, m.query = "/search", g.search()
	case 6:
		m.path = fmt.Sprintf("/items/%d", g.IntN(1e6))
	case 7:
		m.method, m.path = "PUT", fmt.Sprintf("/items/%d/%s", g.IntN(100), g.of("a", "b%20c", "d"))
		m.fill(g.of("text/plain", "text/plain; charset=utf-8"))
	case 8:
		m.path = "/files/" + g.of("a", "a%20b", "a+b", "a;b", "100%25", "%C3%A9", "a%25b", "x%3By", "%7Ea", "(a)", "a'b", `a%22b`, "*", "a=b&c", "@", "a:b", "%2E%2Ea", "%3F", "%23", "a%2Bb", "~", "$&!,")
	case 9:
		m.method, m.path = g.of("HEAD", "DELETE"), "/public/"+g.segments()
	case 10:
		m.authority, m.path = other, "/elsewhere/"+g.segment()
	default:
		m.path = g.of("/secret", "/", "/public", "/publicx/a", "/PUBLIC/a", "/items/x", "/items/1/", "/notes/", "/elsewhere/a", "/search", "*", "/notes?x=1", "/admin/users", "/files/", "/files/a/b")
	}
	m.path = g.respell(m.path)
}

func (g *generator) segments() string {
	out := make([]string, 1+g.IntN(3))
	for i := range out {
		out[i] = g.segment()
	}
	return strings.Join(out, "/")
}

func (g *generator) segment() string {
	return g.of("a", "b", "index.html", "~user", "v1.2.3", "x_y", "-", "_", "...", "secret", "0", "A", "public", ".hidden", "a..b", "file.tar.gz")
}

// respell writes some characters of a path in another way that means the same.
func (g *generator) respell(path string) string {
	if g.chance(75) {
		return path
	}
	var b strings.Builder
	for i := range len(path) {
		if c := path[i]; c != '/' && c != '%' && (i < 1 || path[i-1] != '%') && (i < 2 || path[i-2] != '%') && g.chance(20) {
			fmt.Fprintf(&b, g.of("%%%02x", "%%%02X"), c)
			continue
		}
		b.WriteByte(path[i])
	}
	return b.String()
}

func (g *generator) search() string {
	pairs := []string{}
	for _, p := range []string{"q=" + g.of("a", "two+words", "%26", "a%3Db", "%C3%A9", "", "x%2By", "1;2", "a=b", "%25", "/", "?", "%2f..%2f"), fmt.Sprint("page=", g.IntN(50)), "sort=" + g.of("up", "down", "sideways")} {
		if g.chance(60) {
			pairs = append(pairs, p)
		}
	}
	g.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
	if len(pairs) == 0 {
		return ""
	}
	return "?" + strings.Join(pairs, "&")
}

// fill gives m a body, sometimes one that looks like a request.
func (m *message) fill(media string) {
	g := m.g
	m.body = fmt.Sprintf(`{"n":%d}`, g.serial)
	switch g.IntN(8) {
	case 0:
		m.body = fmt.Sprintf("GET /secret/%d HTTP/1.1\r\nHost: %s\r\n\r\n", g.serial, granted)
	case 1:
		m.body = fmt.Sprintf("0\r\n\r\nGET /public/smuggled-%d HTTP/1.1\r\nHost: %s\r\n\r\n", g.serial, granted)
	case 2:
		m.body += strings.Repeat("x", g.IntN(9000))
	}
	m.chunked = g.chance(40)
	m.fields = append(m.fields, [2]string{"Content-Type", media})
}

// keep takes out what would end the connection before the next request.
func (m *message) keep() {
	if m.g.chance(70) {
		delete(m.wrong, "cut")
	}
}
