package shell

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"scupper.dev/scupper/gateway"
	"scupper.dev/scupper/payload"
	"scupper.dev/scupper/sandbox"
)

func TestCommand(t *testing.T) {
	w := newWorld(t, nil)
	for name, c := range map[string]struct {
		script, output string
		exit           int
		signal         string
	}{
		"success":          {"echo out; echo err >&2", "out\nerr\n", 0, ""},
		"both in order":    {"for i in 1 2 3 4 5 6; do echo o; echo e >&2; done", strings.Repeat("o\ne\n", 6), 0, ""},
		"failure":          {"echo no; exit 3", "no\n", 3, ""},
		"silence":          {"true", "", 0, ""},
		"a signal":         {"kill -9 $$", "", 137, "SIGKILL"},
		"not found":        {"nosuchcommand 2>/dev/null", "", 127, ""},
		"like an option":   {"-x 2>/dev/null; echo $-", "hBc\n", 0, ""},
		"its surroundings": {"echo $NO_COLOR $PAGER $LANG $TERM $LC_ALL; [ -t 0 ] || echo none; pwd", "1 cat C.UTF-8 dumb\nnone\n" + w.work + "\n", 0, ""},
		"CapEff":           {"grep CapEff /proc/self/status", "CapEff:\t0000000000000000\n", 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := w.callAs(t, context.Background(), "dev", arguments{Command: c.script})
			if a.Failed || a.Output != c.output || a.exit() != c.exit || a.Signal != c.signal || a.Bytes != int64(len(c.output)) || a.Truncated || a.TimedOut {
				t.Errorf("%+v\n%s", a.facts, a.text)
			}
			if !strings.HasPrefix(a.text, c.output) || !strings.Contains(a.text, "exit code") {
				t.Errorf("text %q", a.text)
			}
		})
	}
	t.Run("the workspace stays, the rest does not", func(t *testing.T) {
		w.shell("echo kept > kept; echo gone > /tmp/gone; echo gone > ~/gone; mkdir -p sub/dir")
		if got := w.shell("cat kept; ls ~; cat /tmp/gone 2>&1 || true"); got != "kept\ncat: /tmp/gone: No such file or directory\n" {
			t.Errorf("%q", got)
		}
		if a := w.call(arguments{Command: "echo x > /usr/bin/x || echo x > /etc/x"}); a.exit() == 0 {
			t.Error("something outside of the workspace was written")
		}
		w.call(arguments{Command: "echo x > ../x; echo x > " + w.work + "/../y"})
		if left, _ := os.ReadDir(filepath.Dir(w.work)); len(left) != 3 { // work, state, audit
			t.Errorf("something outside of the workspace was written: %v", left)
		}
	})
}

func TestSchemas(t *testing.T) {
	for name, text := range map[string]string{"input": inputSchema, "output": outputSchema} {
		if _, mistakes := payload.CompileSchema(name, []byte(text)); len(mistakes) > 0 {
			t.Errorf("%s: %v", name, mistakes)
		}
	}
	// What a result can have is what the schema has.
	exit, running := 1, true
	all, err := json.Marshal(facts{Output: "x", ExitCode: &exit, Signal: "x", Limits: []string{"x"}, Rest: "x", Handle: "x", Running: &running})
	if err != nil {
		t.Fatal(err)
	}
	s, _ := payload.CompileSchema("output", []byte(outputSchema))
	if _, err := (payload.JSON{Schema: s}).Inspect(all); err != nil {
		t.Error(err)
	}
}

func TestArguments(t *testing.T) {
	w := newWorld(t, nil)
	for name, a := range map[string]arguments{
		"nothing":           {},
		"two things":        {Command: "true", Handle: "x"},
		"a handle to begin": {Handle: "x", Background: true},
		"a blank command":   {Command: " \n"},
		"NUL":               {Command: "echo a\x00b"},
		"too long":          {Command: strings.Repeat("x", longest+1)},
		"unknown handle":    {Handle: "call-1"},
	} {
		if got := w.call(a); !got.Failed || got.ExitCode != nil {
			t.Errorf("%s: %s", name, got.text)
		}
	}
}

func TestTime(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.MaxTime = 30 * time.Second })
	for name, c := range map[string]struct {
		asked, left time.Duration
		want        time.Duration
	}{
		"default":  {0, 0, 30 * time.Second},
		"asked":    {5 * time.Second, 0, 5 * time.Second},
		"too much": {time.Hour, 0, 30 * time.Second},
		"the call": {20 * time.Second, 15 * time.Second, 10 * time.Second},
		"no time":  {20 * time.Second, time.Second, time.Second},
	} {
		ctx := t.Context()
		if c.left > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, c.left)
			defer cancel()
		}
		if got := w.tool.time(ctx, arguments{Timeout: int64(c.asked / time.Second)}); got.Round(time.Second) != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	cage := sandbox.CageConfig{Limits: sandbox.Limits{Time: time.Second}}
	w.tool.config.Cage = cage
	if got := w.tool.cage("", "true", time.Minute, nil).Limits.Time; got != time.Second {
		t.Errorf("the policy's time is overruled: %v", got)
	}
}

func TestCancelled(t *testing.T) {
	w := newWorld(t, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	done := make(chan struct{})
	go func() { // as a caller that goes away
		defer close(done)
		if a := w.callAs(t, context.WithoutCancel(ctx), "dev", arguments{Command: "echo next"}); a.Output != "next\n" {
			t.Error(a.text)
		}
	}()
	<-done
	plain, stop := context.WithCancel(t.Context())
	time.AfterFunc(500*time.Millisecond, stop)
	if a := w.callAs(t, plain, "dev", arguments{Command: "echo begun; sleep 1000"}); !a.Failed || !strings.Contains(a.text, "cancelled") || !strings.HasPrefix(a.text, "begun\n") {
		t.Error(a.text)
	}
	w.nothingLives()
}

// TestProgress waits for a command that waits for what it is told.
func TestProgress(t *testing.T) {
	w := newWorld(t, nil)
	var told sync.Once
	last := 0.0
	progress := func(done, total float64, text string) {
		if done <= last || total != 60 || !strings.Contains(text, "bytes of output") {
			t.Errorf("%v of %v: %s", done, total, text)
		}
		last = done
		told.Do(func() {
			if err := os.WriteFile(filepath.Join(w.work, "told"), nil, 0o644); err != nil {
				t.Error(err)
			}
		})
	}
	c := &gateway.Call{ID: "call-1", Role: "dev", Progress: progress, Arguments: []byte(`{"command":"until [ -e told ]; do sleep 0.05; done","timeout":60}`)}
	if r := w.tool.Call(t.Context(), c); r.Failed || last == 0 || !strings.Contains(r.Content[0].Text, "exit code 0") {
		t.Errorf("%+v, progress %v", r, last)
	}
}

func TestSandboxFailure(t *testing.T) {
	w := newWorld(t, nil)
	w.shell("true")
	if err := os.Rename(w.work, w.work+"-away"); err != nil {
		t.Fatal(err)
	}
	if a := w.call(arguments{Command: "true"}); !a.Failed || a.Structured != nil || !strings.Contains(a.text, "the sandbox failed") {
		t.Error(a.text)
	}
	if err := os.Rename(w.work+"-away", w.work); err != nil {
		t.Fatal(err)
	}
	w.shell("true")
}

func TestRestOfOutput(t *testing.T) {
	w := newWorld(t, nil)
	a := w.call(arguments{Command: "seq 1 100000"})
	if !a.Truncated || a.Rest != "result:"+a.id || !strings.Contains(a.text, "chars truncated]") || !strings.HasPrefix(a.Output, "1\n2\n") || !strings.HasSuffix(a.Output, "\n100000\n") {
		t.Fatalf("%+v", a.facts)
	}
	f, ok := w.tool.config.Store.Open("dev", a.id)
	if !ok {
		t.Fatal("the rest is not there")
	}
	defer f.Close()
	b := make([]byte, 8)
	if _, err := f.Seek(-7, 2); err != nil {
		t.Fatal(err)
	}
	if n, _ := f.Read(b); string(b[:n]) != "100000\n" {
		t.Errorf("the end is %q", b[:n])
	}
	if _, ok := w.tool.config.Store.Open("idle", a.id); ok {
		t.Error("another role reads it")
	}
}

func TestProtectedPlaces(t *testing.T) {
	w := newWorld(t, nil)
	if err := os.MkdirAll(filepath.Join(w.work, ".git", "hooks"), 0o755); err != nil {
		t.Fatal(err)
	}
	if a := w.call(arguments{Command: "echo x > .git/hooks/pre-commit"}); a.exit() == 0 {
		t.Error("a hook was written")
	}
}
