package proxy

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"scupper.dev/scupper/capability"
)

func TestResponses(t *testing.T) {
	w := newWorld(t, nil)
	w.tls.handler = func(rw http.ResponseWriter, r *http.Request) {
		h := rw.Header()
		switch strings.TrimPrefix(r.URL.Path, "/public/") {
		case "304":
			h.Set("Etag", `"x"`)
			rw.WriteHeader(304)
		case "204":
			rw.WriteHeader(204)
		case "cookies":
			h.Add("Set-Cookie", "a=1")
			h.Add("Set-Cookie", "b=2")
			h["Content-Type"] = nil
			fmt.Fprint(rw, "<html>")
		case "trailers":
			h.Set("Trailer", "X-Sum")
			fmt.Fprint(rw, "body")
			rw.(http.Flusher).Flush()
			h.Set("X-Sum", "1")
			h.Set(http.TrailerPrefix+"X-Late", "2")
		case "blob":
			h.Set("Content-Length", "1000000")
			if r.Method == "GET" {
				io.Copy(rw, newNoise(1000000))
			}
		case "range":
			http.ServeContent(rw, r, "f.txt", time.Unix(1700000000, 0), strings.NewReader("0123456789"))
		}
	}
	for _, h2 := range []bool{false, true} {
		c := w.client(h2)
		name := func(s string) string { return fmt.Sprintf("%s h2=%t", s, h2) }
		do := func(t *testing.T, method, path string) (*http.Response, string) {
			t.Helper()
			req, _ := http.NewRequest(method, w.url(path), nil)
			resp, err := c.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			return resp, string(body)
		}
		t.Run(name("USE-10 body-less statuses"), func(t *testing.T) {
			for _, path := range []string{"/public/304", "/public/204"} {
				resp, body := do(t, "GET", path)
				if body != "" || len(resp.TransferEncoding) > 0 || resp.Header.Get("Content-Length") != "" {
					t.Errorf("%s: %+v", path, resp)
				}
			}
		})
		t.Run(name("USE-12 HEAD keeps the length"), func(t *testing.T) {
			if resp, body := do(t, "HEAD", "/public/blob"); resp.ContentLength != 1000000 || body != "" {
				t.Errorf("got length %d, body %d", resp.ContentLength, len(body))
			}
		})
		t.Run(name("USE-13 the length is preserved"), func(t *testing.T) {
			if resp, body := do(t, "GET", "/public/blob"); resp.ContentLength != 1000000 || len(body) != 1000000 {
				t.Errorf("got length %d, body %d", resp.ContentLength, len(body))
			}
		})
		t.Run(name("USE-30 two cookies stay two, and no type is guessed"), func(t *testing.T) {
			resp, _ := do(t, "GET", "/public/cookies")
			if got := resp.Header["Set-Cookie"]; len(got) != 2 || got[0] != "a=1" || got[1] != "b=2" {
				t.Errorf("got %q", got)
			}
			if got, ok := resp.Header["Content-Type"]; ok {
				t.Errorf("the type was guessed: %q", got)
			}
		})
		t.Run(name("USE-07 trailers"), func(t *testing.T) {
			if resp, body := do(t, "GET", "/public/trailers"); body != "body" || resp.Trailer.Get("X-Sum") != "1" || resp.Trailer.Get("X-Late") != "2" {
				t.Errorf("got %q, trailers %v", body, resp.Trailer)
			}
		})
		t.Run(name("USE-11 version"), func(t *testing.T) {
			resp, _ := do(t, "GET", "/public/204")
			if want := map[bool]string{false: "HTTP/1.1", true: "HTTP/2.0"}[h2]; resp.Proto != want {
				t.Errorf("got %s, want %s", resp.Proto, want)
			}
		})
	}
}

func TestRange(t *testing.T) {
	t.Run("USE-35 a granted range arrives intact", func(t *testing.T) {
		w := newWorld(t, func(w *world) []*capability.Grant {
			a := allow(t, "GET", "/public/{rest...}")
			pattern, err := capability.Regexp("bytes=[0-9]{1,12}-[0-9]{0,12}(,[0-9]{1,12}-[0-9]{0,12})?")
			if err != nil {
				t.Fatal(err)
			}
			a.Headers = []capability.HeaderRule{{Name: "Range", Value: pattern}}
			return []*capability.Grant{w.grant("allowed.example", a)}
		})
		w.tls.handler = func(rw http.ResponseWriter, r *http.Request) {
			http.ServeContent(rw, r, "f.txt", time.Unix(1700000000, 0), strings.NewReader("0123456789"))
		}
		for send, want := range map[string]string{"bytes=4-": "bytes 4-9/10", "bytes=0-1,4-5": ""} {
			req, _ := http.NewRequest("GET", w.url("/public/a"), nil)
			req.Header.Set("Range", send)
			resp, err := w.client(false).Do(req)
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(resp.Body)
			if resp.StatusCode != 206 || resp.Header.Get("Content-Range") != want || int64(len(body)) != resp.ContentLength {
				t.Errorf("%s: got %d %v %q", send, resp.StatusCode, resp.Header, body)
			}
			if want == "" && !strings.HasPrefix(resp.Header.Get("Content-Type"), "multipart/byteranges") {
				t.Errorf("%s: got %v", send, resp.Header)
			}
		}
	})
}
