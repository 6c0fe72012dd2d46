package sandbox

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/capability"
)

// newSeries is a series with a log of its own, in a room.
func newSeries(t *testing.T, policy *capability.Policy) (*Series, *room, string) {
	t.Helper()
	r := newRoom(t)
	dir := filepath.Join(filepath.Dir(r.config.Workdir), "audit")
	guard, err := audit.New(audit.Config{Dir: dir, Policy: policy})
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSeries(SeriesConfig{Guard: guard})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// The other tests are not of a series.
		if err := errors.Join(s.Close(), guard.Close(0), dumpable(true)); err != nil {
			t.Error(err)
		}
	})
	return s, r, filepath.Join(dir, guard.Run(), "000001.jsonl")
}

// in is the config of a cage in the room that runs a script.
func (r *room) in(script string, out *bytes.Buffer) CageConfig {
	c := r.config
	c.Command, c.Stdout, c.Stderr = []string{"sh", "-c", script}, out, out
	return c
}

func TestSeriesSideBySide(t *testing.T) {
	s, r, log := newSeries(t, nil)
	var calls sync.WaitGroup
	for _, id := range []string{"one", "two", "three", "four"} {
		calls.Go(func() {
			var out bytes.Buffer
			end, err := s.Run(t.Context(), Call{ID: id}, r.in("cat; echo hello "+id+"; getent hosts "+id+".example; exit 3", &out))
			if err != nil || end.Exit != 3 || out.String() != "hello "+id+"\n" {
				t.Errorf("%s: %+v %v: %q", id, end, err, &out)
			}
		})
	}
	calls.Wait()
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"one", "two", "three", "four"} {
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, id+".example") && !strings.Contains(line, `"call":"`+id+`"`) {
				t.Errorf("a record without its call: %s", line)
			}
		}
		if !strings.Contains(string(text), `"host":"`+id+`.example"`) {
			t.Errorf("no record of %s.example", id)
		}
	}
}

func TestSeriesEnds(t *testing.T) {
	s, r, _ := newSeries(t, nil)
	t.Run("overtime", func(t *testing.T) {
		var out bytes.Buffer
		c := r.in("trap '' TERM; while :; do sleep 1; done", &out)
		c.Limits.Time = 300 * time.Millisecond
		end, err := s.Run(t.Context(), Call{ID: "slow"}, c)
		if err != nil || !end.Overtime || end.Exit != exitOvertime {
			t.Errorf("%+v %v: %s", end, err, &out)
		}
	})
	t.Run("its context", func(t *testing.T) {
		var out bytes.Buffer
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if _, err := s.Run(ctx, Call{ID: "cancelled"}, r.in("sleep 100", &out)); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
	t.Run("the next one", func(t *testing.T) {
		var out bytes.Buffer
		if end, err := s.Run(t.Context(), Call{ID: "next"}, r.in("echo fine", &out)); err != nil || end.Exit != 0 || out.String() != "fine\n" {
			t.Errorf("%+v %v: %s", end, err, &out)
		}
	})
}

// TestSeriesHardens looks at this process between and after calls.
func TestSeriesHardens(t *testing.T) {
	s, r, _ := newSeries(t, nil)
	var out bytes.Buffer
	if _, err := s.Run(t.Context(), Call{ID: "one"}, r.in("true", &out)); err != nil {
		t.Fatal(err, &out)
	}
	if n, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); n != 0 || err != nil {
		t.Errorf("dumpable: %d %v", n, err)
	}
	if n, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); n != 1 || err != nil {
		t.Errorf("no new privileges: %d %v", n, err)
	}
}

func TestSeriesControls(t *testing.T) {
	r := newRoom(t)
	controls, err := SeriesControls(t.Context(), r.config, Egress{})
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, c := range controls {
		names[c.Name] = true
	}
	for _, name := range []string{"filesystem", "network", "memory", "processes", "credentials", "destroyed", "supervisor", "address check"} {
		if !names[name] {
			t.Errorf("no control %q in %v", name, controls)
		}
	}
	r.config.Workdir = "/"
	if _, err := SeriesControls(t.Context(), r.config, Egress{}); err == nil {
		t.Error("no error for a folder that cannot be had")
	}
}
