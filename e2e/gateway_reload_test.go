package e2e

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestGatewayTakesANewPolicy: what a new policy takes away is gone at the next call, and a
// text with a mistake changes nothing.
func TestGatewayTakesANewPolicy(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	w.policy(sixTools(clientToken))
	w.work("a.txt", "hello\n")
	url, end := w.serveGateway()
	defer end()
	read := func() int {
		t.Helper()
		r, err := http.NewRequest(http.MethodPost, url+"/v1/tools/read", strings.NewReader(`{"path":"a.txt"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+clientToken)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode
	}
	until := func(want int) {
		t.Helper()
		for limit := time.Now().Add(30 * time.Second); read() != want; time.Sleep(100 * time.Millisecond) {
			if time.Now().After(limit) {
				t.Fatalf("after half a minute: status %d, want %d", read(), want)
			}
		}
	}
	until(http.StatusOK)
	w.policy(strings.Replace(sixTools(clientToken), `"read", `, "", 1))
	until(http.StatusNotFound)
	w.policy("version = 1\nrole \"dev\" { tools = [\"raed\"] }\n")
	time.Sleep(3 * time.Second) // in which it is read and refused
	if got := read(); got != http.StatusNotFound {
		t.Errorf("under a policy with a mistake: %d", got)
	}
	w.policy(sixTools(clientToken))
	until(http.StatusOK)
}
