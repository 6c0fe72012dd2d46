package audit

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestLinesAreWhatTheFileHolds(t *testing.T) {
	g := newGuard(t, nil)
	g.Authorize(ask(t, "GET", "api.example.com", "/repos/app"))
	g.Authorize(ask(t, "GET", "api.example.com", "/repos/"+strings.Repeat("%E2%80%AEa", 150)))
	g.Close(0)
	path := segmentFile(g.config.Dir, g.run, 1)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	second := filepath.Join(filepath.Dir(path), "000002.jsonl")
	if err := os.WriteFile(second, append(whole, `{"v":1,"torn`...), 0o600); err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	last := &Line{}
	for l, err := range Lines(g.config.Dir, g.run) {
		if err != nil {
			t.Fatal(err)
		}
		got.WriteString(string(l.Bytes) + "\n")
		last = l
	}
	if got.String() != string(whole)+string(whole) {
		t.Errorf("got\n%s", got.String())
	}
	if last.Segment != "000002.jsonl" || last.Number != 4 || last.Event != RunEnded {
		t.Errorf("the last line is %s:%d %s", last.Segment, last.Number, last.Event)
	}
	for _, run := range []string{"../" + g.run, "20261130t124500-aaaaaa"} {
		for _, err := range Lines(g.config.Dir, run) {
			if !errors.Is(err, ErrNotFound) {
				t.Errorf("%s: %v", run, err)
			}
		}
	}
}

func TestFollowWaitsForTheEnd(t *testing.T) {
	g := newGuard(t, nil)
	g.Authorize(ask(t, "GET", "api.example.com", "/repos/app"))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var events []Event
	for l, err := range Follow(ctx, g.config.Dir, g.run, time.Millisecond) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, l.Event)
		if len(events) == 2 {
			g.Authorize(ask(t, "PUT", "api.example.com", "/repos/app"))
			go g.Close(0)
		}
	}
	if len(events) != 4 || events[2] != Decided || events[3] != RunEnded {
		t.Errorf("followed %v", events)
	}
}

func TestFollowPutsPartsOfALineTogether(t *testing.T) {
	dir, run := t.TempDir(), "20261130t124500-aaaaaa"
	path := segmentFile(dir, run, 1)
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(`{"v":1,"seq":1,"event":"run_started"}` + "\n" + `{"v":1,"seq":2,"ev`); err != nil {
		t.Fatal(err)
	}
	var seen []int64
	for l, err := range Follow(t.Context(), dir, run, time.Millisecond) {
		if err != nil {
			t.Fatal(err)
		}
		if seen = append(seen, l.Seq); l.Seq == 1 {
			go f.WriteString(`ent":"run_ended"}` + "\n")
		}
	}
	if len(seen) != 2 || seen[1] != 2 {
		t.Errorf("saw %v", seen)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range Follow(ctx, dir, "20261130t124500-bbbbbb", time.Hour) {
		if !errors.Is(err, ErrNotFound) {
			t.Errorf("got %v", err)
		}
	}
}
