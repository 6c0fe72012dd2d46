package capability

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// Limits of a path. Matching variables over several segments takes a time that grows
// with the square or the cube of their number.
const (
	MaxPath     = 8 << 10 // bytes of the escaped path, as it comes and as it is sent
	MaxSegments = 128
)

// Path is the path of a request, split into segments, each decoded exactly once.
// The zero Path has no reading and matches nothing.
type Path struct {
	decoded string // segments joined by "/", without the leading one
	starts  []int  // where each segment begins in decoded, then len(decoded)+1
	slash   bool   // the path ends in "/"
}

var (
	errPathStart   = errors.New("a path begins with a slash")
	errPathCount   = errors.New("the path has too many segments")
	errPathLength  = errors.New("the path is too long")
	errPathByte    = errors.New("a path holds printable ASCII; everything else is percent-encoded")
	errPathEscape  = errors.New("a percent sign is followed by two hexadecimal digits")
	errPathControl = errors.New("a path does not hold control characters or backslashes, encoded or not")
	errPathUTF8    = errors.New("a path decodes to valid UTF-8")
	errPathDots    = errors.New("a path does not hold dot segments")
	errPathEmpty   = errors.New("a path does not hold empty segments")
)

// ParsePath splits an escaped path (RFC 3986 section 3.3) and decodes each segment
// once. It refuses dot segments in any spelling, empty inner segments, backslashes,
// control characters and invalid UTF-8 including overlong forms. An encoded slash,
// percent sign or semicolon stays in its segment as a character; only a variable
// whose pattern admits that character will match it.
func ParsePath(escaped string) (Path, error) {
	if len(escaped) > MaxPath {
		return Path{}, errPathLength
	}
	if escaped == "" || escaped[0] != '/' {
		return Path{}, errPathStart
	}
	rest := escaped[1:]
	p := Path{slash: strings.HasSuffix(escaped, "/")}
	if p.slash {
		rest = strings.TrimSuffix(rest, "/")
		if rest == "" && len(escaped) > 1 {
			return Path{}, errPathEmpty
		}
	}
	if rest == "" {
		return Path{slash: true, starts: []int{1}}, nil
	}
	if err := p.split(rest); err != nil {
		return Path{}, err
	}
	if 3*len(p.decoded) > MaxPath && len(p.String()) > MaxPath {
		return Path{}, errPathLength
	}
	return p, nil
}

func (p *Path) split(rest string) error {
	if !strings.ContainsAny(rest, "%") {
		p.decoded = rest
	}
	var b strings.Builder
	n := strings.Count(rest, "/") + 1
	if n > MaxSegments {
		return errPathCount
	}
	p.starts = make([]int, 0, n+1)
	for at := 0; ; {
		segment, more, found := strings.Cut(rest, "/")
		decoded, err := decodeSegment(segment)
		if err != nil {
			return err
		}
		p.starts = append(p.starts, at)
		at += len(decoded) + 1
		if p.decoded == "" {
			if b.Len() > 0 {
				b.WriteByte('/')
			}
			b.WriteString(decoded)
		}
		if !found {
			p.starts = append(p.starts, at)
			break
		}
		rest = more
	}
	if p.decoded == "" {
		p.decoded = b.String()
	}
	return nil
}

// decodeSegment decodes one segment once and refuses what it must not hold.
func decodeSegment(s string) (string, error) {
	for i := 0; i < len(s); i++ {
		if s[i] <= ' ' || s[i] >= 0x7f || s[i] == '#' || s[i] == '?' {
			return "", errPathByte
		}
	}
	decoded, ok := unescape(s)
	if !ok {
		return "", errPathEscape
	}
	for i := 0; i < len(decoded); i++ {
		if decoded[i] < ' ' || decoded[i] == 0x7f || decoded[i] == '\\' {
			return "", errPathControl
		}
	}
	if !utf8.ValidString(decoded) {
		return "", errPathUTF8
	}
	return decoded, checkDots(decoded)
}

// checkDots refuses empty and dot segments, also between slashes that were encoded
// and in front of path parameters: whoever decodes again, merges slashes or strips
// ";..." must not arrive elsewhere.
func checkDots(decoded string) error {
	for rest, more := decoded, true; more; {
		var part string
		part, rest, more = strings.Cut(rest, "/")
		if part == "" {
			return errPathEmpty
		}
		part, _, _ = strings.Cut(part, ";")
		if part == "." || part == ".." {
			return errPathDots
		}
	}
	return nil
}

// unescape decodes percent-encoding (RFC 3986 section 2.1) once.
func unescape(s string) (string, bool) {
	if strings.IndexByte(s, '%') < 0 {
		return s, true
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b = append(b, s[i])
			continue
		}
		if i+2 >= len(s) {
			return "", false
		}
		hi, lo := unhex(s[i+1]), unhex(s[i+2])
		if hi < 0 || lo < 0 {
			return "", false
		}
		b = append(b, byte(hi<<4|lo))
		i += 2
	}
	return string(b), true
}

func unhex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// Len is the number of segments; "/" has none.
func (p Path) Len() int {
	if len(p.starts) == 0 {
		return 0
	}
	return len(p.starts) - 1
}

// Segment is the decoded segment i.
func (p Path) Segment(i int) string { return p.decoded[p.starts[i] : p.starts[i+1]-1] }

// join is the segments i to j-1 with slashes between them; ok is false when one of
// them holds a slash itself, because then the joined form has two readings.
func (p Path) join(i, j int) (joined string, ok bool) {
	joined = p.decoded[p.starts[i] : p.starts[j]-1]
	return joined, strings.Count(joined, "/") == j-i-1
}

// Valid reports whether p came from ParsePath.
func (p Path) Valid() bool { return len(p.starts) > 0 }

// String is the path in the one encoding that scupper sends.
func (p Path) String() string {
	if !p.Valid() {
		return ""
	}
	b := make([]byte, 0, len(p.decoded)+8)
	for i := range p.Len() {
		b = appendEscaped(append(b, '/'), p.Segment(i))
	}
	if p.slash {
		b = append(b, '/')
	}
	return string(b)
}

// appendEscaped is the one encoder of path segments: unreserved characters and the
// delimiters that have no meaning inside a segment stand for themselves (RFC 3986
// section 3.3, without ";"), the rest is percent-encoded in upper case. A plus sign is
// encoded too, because object stores read a bare one as a blank.
func appendEscaped(b []byte, s string) []byte {
	const hex = "0123456789ABCDEF"
	for i := 0; i < len(s); i++ {
		c := s[i]
		if isAlnum(c) || strings.IndexByte("-._~!$&'()*,=:@", c) >= 0 {
			b = append(b, c)
			continue
		}
		b = append(b, '%', hex[c>>4], hex[c&15])
	}
	return b
}

func isAlnum(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
