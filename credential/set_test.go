package credential

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"scupper.dev/scupper/capability"
)

// TestSecretsDoNotWait: what is known of a credential is to be had while a command
// renews it, and so are the answers to other requests.
func TestSecretsDoNotWait(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	place := capability.Place{In: capability.InHeader, Name: "X-Api-Key"}
	// The first time it answers, the second time it says that it runs and waits.
	script := `[ -e ` + pipe + `.used ] && { echo >` + pipe + `; sleep 20; }; : >` + pipe + `.used; echo '{"secret":"0123456789abcdef","expires_in":1}'`
	late := false
	s, err := Open(context.Background(), []Spec{{Name: "x", Source: Source{Exec: []string{"sh", "-c", script}}, Place: place}}, Options{Now: func() time.Time {
		if late {
			return begun.Add(time.Hour)
		}
		return begun
	}})
	if err != nil {
		t.Fatal(err)
	}
	late = true
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() {
		up := &http.Request{URL: &url.URL{Scheme: "https"}, Header: http.Header{}}
		done <- s.Present(ctx, capability.Credential{Mode: capability.Bound, Name: "x", Place: place}, up)
	}()
	if _, err := os.ReadFile(pipe); err != nil {
		t.Fatal(err)
	}
	if got := s.Secrets(); len(got) != 1 || got[0].Reveal() != "0123456789abcdef" {
		t.Errorf("got %d secrets", len(got))
	}
	select {
	case err := <-done:
		t.Errorf("the command had ended: %v", err)
	default:
	}
	cancel()
	if err := <-done; err == nil {
		t.Error("an expired secret was presented")
	}
}
