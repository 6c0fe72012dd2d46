package e2e

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// echoing grants every way of echoing, in parts too.
const echoing = `version = 1
credential "llm" {
  source { env = "LLM_KEY" }
  header "x-api-key" { value = "${secret}" }
}
grant "echo" {
  reason     = "test"
  owner      = "test"
  host       = "api.example.com"
  credential = credential.llm
  allow {
    methods = ["GET"]
    path    = "/echo/{way}"
    headers = { Range = regex("bytes=[0-9]*-[0-9]*") }
  }
}
`

// echoes answers with the request's headers in the way that the path says.
func echoes(rw http.ResponseWriter, r *http.Request) {
	key := r.Header.Get("X-Api-Key")
	text := "X-Api-Key: " + key + "\nend\n"
	coded := func(coding string, w io.WriteCloser) {
		rw.Header().Set("Content-Encoding", coding)
		io.WriteString(w, text)
		w.Close()
	}
	switch strings.TrimPrefix(r.URL.Path, "/echo/") {
	case "clear":
		http.ServeContent(rw, r, "", time.Time{}, strings.NewReader(text))
	case "gzip":
		coded("gzip", gzip.NewWriter(rw))
	case "br":
		coded("br", brotli.NewWriter(rw))
	case "zstd":
		z, _ := zstd.NewWriter(rw)
		coded("zstd", z)
	case "bytes":
		for _, c := range []byte(text) {
			rw.Write([]byte{c})
			rw.(http.Flusher).Flush()
		}
	case "base64":
		io.WriteString(rw, base64.StdEncoding.EncodeToString([]byte(text)))
	case "header":
		rw.Header().Set("X-Echo", key)
		rw.Header().Set("Location", "https://other.example.com/?k="+key)
		rw.WriteHeader(http.StatusFound)
	case "trailer":
		rw.Header().Set("Trailer", "X-Sum")
		io.WriteString(rw, text)
		rw.Header().Set("X-Sum", key)
	case "early":
		rw.Header().Set("Link", "</"+key+">; rel=preload")
		rw.WriteHeader(http.StatusEarlyHints)
		rw.WriteHeader(http.StatusOK)
		io.WriteString(rw, text)
	case "unreadable":
		rw.Header().Set("Content-Encoding", "compress")
		io.WriteString(rw, text)
	case "error":
		http.Error(rw, text, http.StatusBadGateway)
	}
}

// TestSecretNeverComesBack: CRED-03, CRED-08, an origin that echoes what it was sent.
func TestSecretNeverComesBack(t *testing.T) {
	ways := []string{"clear", "gzip", "br", "zstd", "bytes", "base64", "header", "trailer", "early", "unreadable", "error"}
	for _, u := range users(t) {
		t.Run(u.name, func(t *testing.T) {
			w := keyWorld(t, u, echoing)
			w.inet.Handle("api.example.com", http.HandlerFunc(echoes))
			var script strings.Builder
			for _, version := range []string{"--http1.1", "--http2"} {
				for _, way := range ways {
					fmt.Fprintf(&script, "curl -sSi --compressed %s https://api.example.com/echo/%s\n", version, way)
				}
				for i := 0; i < 40; i += 4 {
					fmt.Fprintf(&script, "curl -sSi %s -H 'Range: bytes=%d-%d' https://api.example.com/echo/clear\n", version, i, i+3)
				}
			}
			a := w.control(shell(script.String()))
			a.ourKeyOnly()
			if n := len(a.received); n != 2*(len(ways)+10) {
				a.errorf("%d requests arrived", n)
			}
			if n := strings.Count(a.stdout, "X-Api-Key: "+strings.Repeat("*", len(realKey))+"\nend"); n < 2*(7+10) {
				a.errorf("%d answers had what is around the secret", n)
			}
			if n := strings.Count(a.stdout, `"reason":"upstream_coding"`); n != 2 {
				a.errorf("%d answers were unreadable", n)
			}
			for where, text := range map[string]string{"standard output": a.stdout, "standard error": a.stderr, "the log": a.log.String()} {
				for _, form := range thirds(realKey) {
					if strings.Contains(text, form) {
						a.errorf("%q is in %s", form, where)
					}
				}
			}
			a.wantAllowed(2 * (len(ways) + 10))
		})
	}
}

// thirds are all pieces of two thirds of secret's forms.
func thirds(secret string) (out []string) {
	for _, form := range []string{secret, fmt.Sprintf("%x", secret), base64.StdEncoding.EncodeToString([]byte(secret)), base64.StdEncoding.EncodeToString([]byte("-" + secret))[2:], base64.StdEncoding.EncodeToString([]byte("--" + secret))[3:]} {
		n := (2*len(form) + 2) / 3
		for i := range len(form) - n + 1 {
			out = append(out, form[i:i+n])
		}
	}
	return out
}
