package proxy

import (
	"bufio"
	"io"
	"net/http"
	"testing"

	"golang.org/x/net/http2"
)

// TestReadAhead: of a small body that does not come to its declared end the far side gets
// not even the head.
func TestReadAhead(t *testing.T) {
	const post = "POST /notes HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/json\r\n"
	each(t, everyWay(), func(t *testing.T, by option) {
		t.Run("HP-17 a body that is cut", func(t *testing.T) {
			w := newWorld(t, nil, by)
			if status, _ := w.say(w.inside(), post+"Content-Length: 8\r\n\r\n{\"a\": 1}"); status != 200 || w.far().requests()[0].Body != `{"a": 1}` {
				t.Fatalf("control: got %d", status)
			}
			w.forget()
			c := w.inside()
			if _, err := io.WriteString(c, w.filled(post+"Content-Length: 8\r\n\r\n{\"a\"")); err != nil {
				t.Fatal(err)
			}
			c.Close()
			if o := w.requestsFinished(1)[0].Outcome; o.Error != errClientGone || o.Sent != 0 {
				t.Errorf("outcome: %+v", o)
			}
			w.untouched()
		})
		t.Run("HP-20 a client that waits to be asked", func(t *testing.T) {
			w := newWorld(t, nil, by)
			w.far().handler = func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(401) }
			c := w.inside()
			br := bufio.NewReader(c)
			io.WriteString(c, w.filled(post+"Content-Length: 2\r\nExpect: 100-continue\r\n\r\n"))
			if resp, err := http.ReadResponse(br, nil); err != nil || resp.StatusCode != 100 {
				t.Fatalf("got %v, %v", resp, err)
			}
			io.WriteString(c, "{}")
			for range 2 {
				resp, err := http.ReadResponse(br, nil)
				if err != nil || resp.StatusCode != 401 {
					t.Fatalf("got %v, %v", resp, err)
				}
				io.Copy(io.Discard, resp.Body)
				io.WriteString(c, w.filled("GET /public/a HTTP/1.1\r\nHost: HOST\r\n\r\n"))
			}
		})
	})
	each(t, secured(), func(t *testing.T, by option) {
		t.Run("HP-17 a body that is cut, h2", func(t *testing.T) {
			w := newWorld(t, nil, by)
			h := w.rawH2()
			h.post(w, 1, "8")
			h.WriteData(1, false, []byte(`{"a"`))
			h.WriteRSTStream(1, http2.ErrCodeCancel)
			if o := w.requestsFinished(1)[0].Outcome; o.Error != errClientGone || o.Sent != 0 {
				t.Errorf("outcome: %+v", o)
			}
			w.untouched()
		})
	})
}
