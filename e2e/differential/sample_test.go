package differential

import (
	"fmt"
	"slices"
	"strings"
)

// way is how a case reaches scupper.
type way int

const (
	plain         way = iota // cleartext to a leased address
	secure                   // TLS to a leased address, HTTP/1.1
	absolute                 // cleartext to scupper as a proxy
	connectClear             // CONNECT, then cleartext
	connectSecure            // CONNECT, then TLS and HTTP/1.1
	frames                   // TLS to a leased address, HTTP/2
	connectFrames            // CONNECT, then TLS and HTTP/2
)

var wayNames = []string{"plain", "secure", "absolute", "connectClear", "connectSecure", "frames", "connectFrames"}

func (w way) String() string { return wayNames[w] }

func (w way) tls() bool { return w == secure || w == connectSecure || w.http2() }

func (w way) http2() bool { return w == frames || w == connectFrames }

// explicit: the case speaks to scupper as to a proxy.
func (w way) explicit() bool {
	return w == absolute || w == connectClear || w == connectSecure || w == connectFrames
}

// sample is one connection: what is sent on it, in parts that can be left out one by
// one. Of HTTP/1.1 the parts are the bytes. Of HTTP/2 each is a letter and a text: "S"
// begins a stream, "H" is a header field, "D" a DATA frame, "T" a trailer field; name
// and value of a field are divided by a NUL.
type sample struct {
	way   way
	parts []string
}

// raw is what goes over an HTTP/1.1 connection.
func (s sample) raw() string { return strings.Join(s.parts, "") }

// literal is s in Go, to be pasted into the table of TestFound.
func (s sample) literal() string {
	var b strings.Builder
	fmt.Fprintf(&b, "sample{%s, []string{\n", s.way)
	for _, p := range s.parts {
		fmt.Fprintf(&b, "\t%q,\n", p)
	}
	return b.String() + "}}"
}

// minimise leaves out parts, and halves of parts, for as long as the rest still
// disagrees, with at most tries questions.
func minimise(s sample, tries int, disagrees func(sample) bool) sample {
	ask := func(parts []string) bool {
		if tries == 0 {
			return false
		}
		tries--
		if !disagrees(sample{s.way, parts}) {
			return false
		}
		s.parts = parts
		return true
	}
	for size := len(s.parts) / 2; size > 0; size /= 2 {
		for i := 0; i+size <= len(s.parts); {
			if !ask(slices.Delete(slices.Clone(s.parts), i, i+size)) {
				i += size
			}
		}
	}
	for i := 0; i < len(s.parts); i++ {
		for size := len(s.parts[i]) / 2; size > 0; size /= 2 {
			for at := 0; at+size <= len(s.parts[i]); {
				parts := slices.Clone(s.parts)
				parts[i] = parts[i][:at] + parts[i][at+size:]
				if !ask(parts) {
					at += size
				}
			}
		}
	}
	return s
}
