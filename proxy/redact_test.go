package proxy

import (
	"bufio"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"scupper.dev/scupper/capability"
)

// shown is the secret as boundWorld puts it in.
const shown = "llm" + real

// echo answers with what it was sent, in the way that the last segment of the path says.
func echo(rw http.ResponseWriter, r *http.Request) {
	key := r.Header.Get("X-Api-Key")
	text := fmt.Sprintf("GET %s\nX-Api-Key: %s\nbehind it", r.URL.Path, key)
	h := rw.Header()
	coded := func(coding string, w io.WriteCloser) {
		h.Set("Content-Encoding", coding)
		io.WriteString(w, text)
		w.Close()
	}
	switch strings.TrimPrefix(r.URL.Path, "/v1/") {
	case "clear", "part":
		http.ServeContent(rw, r, "f.txt", time.Time{}, strings.NewReader(text))
	case "gzip":
		coded("gzip", gzip.NewWriter(rw))
	case "deflate":
		coded("deflate", zlib.NewWriter(rw))
	case "br":
		coded("br", brotli.NewWriter(rw))
	case "zstd":
		z, _ := zstd.NewWriter(rw)
		coded("zstd", z)
	case "bytes":
		for i := range len(text) {
			io.WriteString(rw, text[i:i+1])
			rw.(http.Flusher).Flush()
		}
	case "base64":
		io.WriteString(rw, base64.StdEncoding.EncodeToString([]byte(text)))
	case "hex":
		fmt.Fprintf(rw, "%x %X", text, text)
	case "query":
		io.WriteString(rw, "?text="+url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(text))))
	case "header":
		h.Set("X-Echo", text[strings.Index(text, "X-"):strings.Index(text, "\nb")])
		h.Set("X-"+key, "1")
		h.Add("Set-Cookie", "key="+key)
		h.Add("Set-Cookie", "a=b")
	case "trailer":
		h.Set("Trailer", "X-Sum")
		io.WriteString(rw, text)
		rw.(http.Flusher).Flush()
		h.Set("X-Sum", key)
		h.Set(http.TrailerPrefix+"X-Late", key)
	case "early":
		h.Set("Link", "</"+key+">; rel=preload")
		rw.WriteHeader(http.StatusEarlyHints)
		rw.WriteHeader(200)
		io.WriteString(rw, text)
	case "location":
		http.Redirect(rw, r, "https://other.example/?key="+url.QueryEscape(key), http.StatusFound)
	case "error":
		http.Error(rw, text, http.StatusBadGateway)
	case "cut":
		io.WriteString(rw, text[:strings.Index(text, "behind")-3])
	}
}

// everything is the whole answer as the client sees it, 1xx included.
func everything(t *testing.T, c *http.Client, r *http.Request) (*http.Response, string) {
	t.Helper()
	resp, err := c.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, fmt.Sprint(resp.Status, resp.Header, resp.Trailer) + string(body)
}

// shows reports whether two thirds of a form of secret are in text.
func shows(text, secret string) bool {
	text = strings.ToLower(text) + text
	for _, form := range []string{secret, hex.EncodeToString([]byte(secret)), base64.RawStdEncoding.EncodeToString([]byte(secret)), base64.RawStdEncoding.EncodeToString([]byte("-" + secret))[2:], base64.RawStdEncoding.EncodeToString([]byte("--" + secret))[3:]} {
		n := (len(form)*2 + 2) / 3
		for i := range len(form) - n + 1 {
			if strings.Contains(text, form[i:i+n]) {
				return true
			}
		}
	}
	return false
}

// TestNeverBack: CRED-03, CRED-08, an origin that echoes the secret, however it does.
func TestNeverBack(t *testing.T) {
	if !shows("x"+shown[4:]+"x", shown) || shows(held, shown) {
		t.Fatal("the test cannot tell")
	}
	for _, h2 := range []bool{false, true} {
		w, _ := boundWorld(t)
		w.tls.handler = echo
		c := w.client(h2)
		for _, way := range []string{"clear", "gzip", "deflate", "br", "zstd", "bytes", "base64", "hex", "query", "header", "trailer", "early", "location", "error", "cut"} {
			t.Run(fmt.Sprintf("CRED-03 %s h2=%t", way, h2), func(t *testing.T) {
				r, _ := http.NewRequest("GET", w.url("/v1/"+way), nil)
				r.Header.Set("Accept-Encoding", "gzip, br, zstd")
				resp, all := everything(t, c, r)
				if shows(all, shown) {
					t.Errorf("the client got %q", all)
				}
				if got := w.tls.requests(); got[len(got)-1].Header.Get("X-Api-Key") != shown {
					t.Error("the origin did not get the secret")
				}
				if resp.Header.Get("Content-Encoding") != "" {
					t.Errorf("got a coding: %v", resp.Header)
				}
				stars := strings.Repeat("*", len(shown))
				switch way {
				case "clear", "gzip", "deflate", "br", "zstd", "bytes", "early", "error", "trailer":
					if want := "GET /v1/" + way + "\nX-Api-Key: " + stars + "\nbehind it"; !strings.Contains(all, want) {
						t.Errorf("got %q, want %q in it", all, want)
					}
				case "header":
					if got := resp.Header; got.Get("X-Echo") != "X-Api-Key: "+stars || fmt.Sprint(got["Set-Cookie"]) != "[key="+stars+" a=b]" {
						t.Errorf("got %v", got)
					}
				case "location":
					if got := resp.Header.Get("Location"); got != "https://other.example/?key="+stars {
						t.Errorf("got %q", got)
					}
				}
				if way == "trailer" && (resp.Trailer.Get("X-Sum") != stars || resp.Trailer.Get("X-Late") != stars) {
					t.Errorf("got trailer %v", resp.Trailer)
				}
			})
		}
	}
}

// TestPartsOfAnEcho: nothing is learnt by asking for pieces.
func TestPartsOfAnEcho(t *testing.T) {
	w, _ := boundWorld(t, func(w *world) *capability.Grant {
		g := w.bound("other", "/v2/part")
		g.Allows[0].Headers = []capability.HeaderRule{{Name: "Range", Value: mustRegexp(w.t, `bytes=[0-9]*-[0-9]*`)}}
		return g
	})
	w.tls.handler = func(rw http.ResponseWriter, r *http.Request) {
		http.ServeContent(rw, r, "f.txt", time.Time{}, strings.NewReader("key: "+r.Header.Get("X-Api-Key")+"."))
	}
	whole := "key: " + strings.Repeat("*", len("other"+real)) + "."
	seen := make([]byte, len(whole))
	for i := range whole {
		for _, span := range []string{fmt.Sprintf("bytes=%d-%d", i, i+3), fmt.Sprintf("bytes=%d-", i), fmt.Sprintf("bytes=-%d", len(whole)-i)} {
			r, _ := http.NewRequest("GET", w.url("/v2/part"), nil)
			r.Header.Set("Range", span)
			resp, err := w.client(false).Do(r)
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			from := len(whole) - len(body)
			if from < 0 || resp.StatusCode == 206 && from != i || resp.StatusCode == 200 && string(body) != whole {
				t.Fatalf("%s: got %s %q", span, resp.Status, body)
			}
			for k, c := range body {
				if c != '*' {
					seen[from+k] = c
				}
			}
		}
	}
	if secret := strings.Trim(string(seen[5:len(seen)-1]), "\x00"); len(secret) >= len("other"+real)/3 {
		t.Errorf("put together from pieces: %q", seen)
	}
}

func mustRegexp(t testing.TB, expr string) capability.Pattern {
	t.Helper()
	p, err := capability.Regexp(expr)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestUnreadableAnswers: what cannot be searched does not arrive, not a byte of it.
func TestUnreadableAnswers(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"unknown coding": func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Content-Encoding", "compress")
			io.WriteString(rw, r.Header.Get("X-Api-Key"))
		},
		"text called gzip": func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Content-Encoding", "gzip")
			io.WriteString(rw, r.Header.Get("X-Api-Key"))
		},
		"a part in a coding": func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Content-Encoding", "gzip")
			rw.Header().Set("Content-Range", "bytes 0-3/40")
			rw.WriteHeader(206)
			io.WriteString(rw, "\x1f\x8b\x08\x00")
		},
	} {
		for _, h2 := range []bool{false, true} {
			w, _ := boundWorld(t)
			w.tls.handler = answer
			r, _ := http.NewRequest("GET", w.url("/v1/models"), nil)
			resp, all := everything(t, w.client(h2), r)
			if resp.StatusCode != 502 || !strings.Contains(all, `"reason":"upstream_coding"`) || shows(all, shown) {
				t.Errorf("%s h2=%t: got %s", name, h2, all)
			}
			records := w.log.all()
			if len(records) != 1 || records[0].Outcome == nil || records[0].Outcome.Error != "upstream_coding" || strings.Contains(fmt.Sprintf("%+v", records[0]), real) {
				t.Errorf("%s h2=%t: recorded %+v", name, h2, records)
			}
		}
	}
}

// TestStreamUnderCredential: USE-06, events pass at once, the secret in them hidden.
func TestStreamUnderCredential(t *testing.T) {
	for _, coding := range []string{"", "gzip"} {
		for _, h2 := range []bool{false, true} {
			w, _ := boundWorld(t)
			next := make(chan string)
			w.tls.handler = func(rw http.ResponseWriter, r *http.Request) {
				rw.Header().Set("Content-Type", "text/event-stream")
				var to io.Writer = rw
				flush := func() error { rw.(http.Flusher).Flush(); return nil }
				if coding == "gzip" {
					rw.Header().Set("Content-Encoding", "gzip")
					z := gzip.NewWriter(rw)
					to, flush = z, func() error { err := z.Flush(); rw.(http.Flusher).Flush(); return err }
				}
				for event := range next {
					fmt.Fprintf(to, "data: %s %s\n\n", event, r.Header.Get("X-Api-Key"))
					flush()
				}
			}
			r, _ := http.NewRequest("GET", w.url("/v1/events"), nil)
			r.Header.Set("Accept-Encoding", "gzip")
			go func() { next <- "0" }()
			resp, err := w.client(h2).Do(r)
			if err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewReader(resp.Body)
			for i := range 5 {
				if i > 0 {
					next <- fmt.Sprint(i)
				}
				// The next event is sent only when this one is here.
				line, err := lines.ReadString('\n')
				if want := fmt.Sprintf("data: %d %s\n", i, strings.Repeat("*", len(shown))); err != nil || line != want {
					t.Fatalf("%q h2=%t: got %q, %v", coding, h2, line, err)
				}
				if _, err := lines.ReadString('\n'); err != nil {
					t.Fatal(err)
				}
			}
			close(next)
			resp.Body.Close()
		}
	}
}

// TestOtherExchangesAreAsBefore: without a credential codings and ranges pass.
func TestOtherExchangesAreAsBefore(t *testing.T) {
	w := newWorld(t, nil)
	w.tls.handler = func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Encoding", "compress")
		io.WriteString(rw, r.Header.Get("Accept-Encoding"))
	}
	r, _ := http.NewRequest("GET", w.url("/public/a"), nil)
	r.Header.Set("Accept-Encoding", "gzip, br;q=0.5")
	resp, err := w.client(false).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, _ := io.ReadAll(resp.Body); string(body) != "gzip, br;q=0.5" || resp.Header.Get("Content-Encoding") != "compress" {
		t.Errorf("got %v %q", resp.Header, body)
	}
}

// TestWebSocketUnderCredential: what an origin says of the secret in messages, pieces of
// messages and control frames, and how it ends them.
func TestWebSocketUnderCredential(t *testing.T) {
	w, _ := boundWorld(t, func(w *world) *capability.Grant {
		live := allow(w.t, "GET", "/live")
		live.WebSocket = true
		g := w.grant("allowed.example", live)
		g.Name, g.Credential = "other", capability.Credential{Mode: capability.Bound, Name: "other", Place: apiKey}
		return g
	})
	const secret = "other" + real
	half := len(secret) / 2
	upgraded(w, nil, "", func(c net.Conn, br *bufio.Reader) {
		for _, frame := range []string{
			plainFrame(finBit|opText, "key: "+secret+"."),
			plainFrame(opText, "in two: "+secret[:half]), plainFrame(finBit|opContinuation, secret[half:]+" frames"),
			plainFrame(opBinary, ""), plainFrame(opContinuation, secret[:1]), plainFrame(finBit|opContinuation, ""),
			plainFrame(finBit|opPing, secret),
			plainFrame(finBit|opText, ""),
			plainFrame(finBit|opText, "\x00"+secret[:half]), plainFrame(finBit|opText, secret[half:]+"\x00"),
			plainFrame(finBit|opClose, "\x03\xe8"+secret),
		} {
			io.WriteString(c, frame)
		}
		readWire(br)
	})
	c := w.inside()
	br, resp := w.upgrade(c, "")
	if resp.StatusCode != 101 {
		t.Fatalf("got %s: %+v", resp.Status, w.log.all())
	}
	var got []string
	for message := ""; ; {
		first, payload, err := readWire(br)
		if err != nil {
			t.Fatalf("got %q, then %v", got, err)
		}
		if message += payload; first&finBit != 0 {
			got, message = append(got, message), ""
		}
		if first&0x0f == opClose {
			break
		}
	}
	stars := strings.Repeat("*", len(secret))
	want := []string{
		"key: " + stars + ".", "in two: " + stars + " frames", secret[:1], stars, "",
		"\x00" + stars[:half], stars[half:] + "\x00", "\x03\xe8" + stars,
	}
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("got %q, want %q", got, want)
	}
	io.WriteString(c, maskedFrame(finBit|opClose, "\x03\xe8"))
}
