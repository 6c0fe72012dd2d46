package credential

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"scupper.dev/scupper/capability"
)

func secretFile(t *testing.T, name, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestSources: what is read, and what an error says when it cannot be: never a value.
func TestSources(t *testing.T) {
	shell := func(script string) Source { return Source{Exec: []string{"sh", "-c", script}, Timeout: time.Second} }
	missing := filepath.Join(t.TempDir(), "absent")
	for _, c := range []struct {
		name   string
		source Source
		want   string // the secret, or a piece of the error
	}{
		{"variable", Source{Env: "SET"}, value},
		{"no variable", Source{Env: "UNSET"}, "env UNSET: the variable is not set"},
		{"file", Source{File: secretFile(t, "key", value+"\n", 0o600)}, value},
		{"file with a carriage return", Source{File: secretFile(t, "key", value+"\r\n", 0o600)}, value},
		{"file with two lines", Source{File: secretFile(t, "key", value+"\n"+value+"\n", 0o600)}, "control character"},
		{"empty file", Source{File: secretFile(t, "key", "\n", 0o600)}, "it is empty"},
		{"no file", Source{File: missing}, "no such file"},
		{"folder", Source{File: t.TempDir()}, "not a regular file"},
		{"large file", Source{File: secretFile(t, "key", strings.Repeat(value, 1000), 0o600)}, "more than 8192 bytes"},
		{"command", shell("echo " + value), value},
		{"command that prints JSON", shell(`echo '{"token":"` + value + `","expires_in":3600}'`), value},
		{"command with an expiry", shell(`echo '{"secret":"` + value + `","expires":"2999-01-01T00:00:00Z"}'`), value},
		{"command without a secret", shell(`echo '{"error":"` + value + `"}'`), "there is no secret"},
		{"command with half an object", shell(`echo '{"token":"` + value + `'`), "there is no secret"},
		{"command with an expiry that is no time", shell(`echo '{"token":"` + value + `","expires":"` + value + `"}'`), "expiry that is no time"},
		{"command with an old secret", shell(`echo '{"token":"` + value + `","expires":"2001-01-01T00:00:00Z"}'`), "has expired"},
		{"command that fails", shell("echo " + value + "; echo " + value + " >&2; exit 3"), "the command ended with exit status 3"},
		{"command that hangs", shell("echo " + value + "; sleep 30"), "took too long"},
		{"command whose child hangs", shell("echo " + value + "; sleep 30 & wait"), "took too long"},
		{"command that prints too much", shell("head -c 100000 /dev/zero"), "printed too much"},
		{"command that prints nothing", shell(":"), "it is empty"},
		{"no command", Source{Exec: []string{missing}}, "no such file"},
		{"nothing", Source{}, "there is no source"},
	} {
		t.Run(c.name, func(t *testing.T) {
			begin := time.Now()
			spec := Spec{Name: "llm", Source: c.source, Place: header}
			lookup := func(name string) string { return map[string]string{"SET": value}[name] }
			set, err := Open(t.Context(), []Spec{spec}, Options{LookupEnv: lookup})
			if took := time.Since(begin); took > 5*time.Second {
				t.Errorf("took %v", took)
			}
			if err == nil {
				if got := set.Secrets(); len(got) != 1 || got[0].Reveal() != c.want {
					t.Errorf("got %q", got[0].Reveal())
				}
				return
			}
			if text := err.Error(); !strings.Contains(text, c.want) || !strings.Contains(text, `credential "llm"`) || strings.Contains(text, "sk-real") {
				t.Errorf("got %q, want %q", text, c.want)
			}
		})
	}
}

// TestAllFailuresAtOnce: one run tells of every source that fails.
func TestAllFailuresAtOnce(t *testing.T) {
	_, err := Open(t.Context(), []Spec{{Name: "a", Source: Source{Env: "NONE_A"}}, {Name: "b", Source: Source{Env: "NONE_B"}}}, Options{LookupEnv: func(string) string { return "" }})
	if err == nil || !strings.Contains(err.Error(), "NONE_A") || !strings.Contains(err.Error(), "NONE_B") {
		t.Errorf("%v", err)
	}
}

func TestWarnings(t *testing.T) {
	specs := []Spec{
		{Name: "short", Source: Source{File: secretFile(t, "key", "hunter2", 0o600)}, Place: header},
		{Name: "open", Source: Source{File: secretFile(t, "key", value, 0o644)}, Place: header},
		{Name: "fine", Source: Source{File: secretFile(t, "key", value, 0o600)}, Place: header},
	}
	set, err := Open(t.Context(), specs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := set.Warnings()
	if len(got) != 2 || !strings.Contains(got[0], `"short" has fewer than 16 bytes`) || !strings.Contains(got[1], `"open": others can read`) {
		t.Errorf("%q", got)
	}
}

// TestUnfitSecrets: what a place cannot carry is found before anything runs.
func TestUnfitSecrets(t *testing.T) {
	for _, c := range []struct {
		place capability.Place
		value string
	}{{header, "schlüssel"}, {header, " padded "}, {capability.Place{In: capability.InCookie, Name: "s"}, "a;b"}, {header, "a\x7fb"}} {
		_, err := Open(t.Context(), []Spec{{Name: "x", Source: Source{Env: "X"}, Place: c.place}}, Options{LookupEnv: func(string) string { return c.value }})
		if err == nil || strings.Contains(err.Error(), c.value) {
			t.Errorf("%q: %v", c.value, err)
		}
	}
}

func request() *http.Request {
	return &http.Request{Method: "GET", URL: &url.URL{Scheme: "https", Host: "api.example.com", Opaque: "/v1"}, Header: http.Header{}}
}

// TestRenewal: a command is asked again before its answer expires; a secret that still
// holds bridges a failure, and afterwards nothing is sent.
func TestRenewal(t *testing.T) {
	dir := t.TempDir()
	script := `n=$(cat n 2>/dev/null || echo 0); n=$((n+1)); echo $n >n; [ -e broken ] && exit 1; echo "{\"secret\":\"token-number-$n\",\"expires_in\":100}"`
	var mu sync.Mutex
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	clock := func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	pass := func(d time.Duration) { mu.Lock(); defer mu.Unlock(); now = now.Add(d) }
	spec := Spec{Name: "llm", Source: Source{Exec: []string{"sh", "-c", script}, Dir: dir}, Place: header}
	set, err := Open(t.Context(), []Spec{spec}, Options{Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	sent := func() string {
		up := request()
		if err := set.Present(t.Context(), capability.Credential{Mode: capability.Bound, Name: "llm", Place: header}, up); err != nil {
			if len(up.Header) > 0 || strings.Contains(err.Error(), "token-number") {
				t.Errorf("%v with %v", err, up.Header)
			}
			return "none"
		}
		return up.Header.Get("X-Api-Key")
	}
	breaks := filepath.Join(dir, "broken")
	for i, step := range []struct {
		after  time.Duration
		broken bool
		want   string
	}{
		{0, false, "token-number-1"}, {89 * time.Second, false, "token-number-1"}, {2 * time.Second, false, "token-number-2"},
		{95 * time.Second, true, "token-number-2"}, {500 * time.Millisecond, true, "token-number-2"}, {5 * time.Second, true, "none"},
		{500 * time.Millisecond, false, "none"}, {time.Second, false, "token-number-5"},
	} {
		pass(step.after)
		os.Remove(breaks)
		if step.broken {
			os.WriteFile(breaks, nil, 0o600)
		}
		if got := sent(); got != step.want {
			t.Errorf("step %d: got %s, want %s", i, got, step.want)
		}
	}
	if n := len(set.Secrets()); n != 3 {
		t.Errorf("%d secrets are remembered, want 3", n)
	}
}

// TestPresent: each place, and no other.
func TestPresent(t *testing.T) {
	for _, c := range []struct {
		place  capability.Place
		header string
		query  string
	}{
		{header, "map[X-Api-Key:[" + value + "]]", "a=1"},
		{capability.Place{In: capability.InHeader, Name: "Authorization", Before: "Bearer ", After: "!"}, "map[Authorization:[Bearer " + value + "!]]", "a=1"},
		{capability.Place{In: capability.InBasic, User: "me"}, "map[Authorization:[Basic bWU6c2stcmVhbC0wMTIzNDU2Nzg5YWJjZGVm]]", "a=1"},
		{capability.Place{In: capability.InCookie, Name: "s"}, "map[Cookie:[s=" + value + "]]", "a=1"},
		{capability.Place{In: capability.InQuery, Name: "key"}, "map[]", "a=1&key=" + value},
	} {
		set := open(t, Spec{Name: "llm", Source: Source{Env: "X"}, Place: c.place})
		bound := capability.Credential{Mode: capability.Bound, Name: "llm", Place: c.place}
		up := request()
		up.URL.RawQuery = "a=1"
		if err := set.Present(t.Context(), bound, up); err != nil || fmt.Sprint(up.Header) != c.header || up.URL.RawQuery != c.query {
			t.Errorf("%s: %v %v %s", c.place, err, up.Header, up.URL.RawQuery)
		}
		clear := request()
		clear.URL.Scheme = "http"
		elsewhere := bound
		elsewhere.Place.Name += "x"
		unknown := bound
		unknown.Name = "other"
		for name, err := range map[string]error{
			"CRED-09 clear": set.Present(t.Context(), bound, clear), "another place": set.Present(t.Context(), elsewhere, clear),
			"another name": set.Present(t.Context(), unknown, clear), "no set": (*Set)(nil).Present(t.Context(), bound, clear),
		} {
			if err == nil || len(clear.Header) > 0 || clear.URL.RawQuery != "" {
				t.Errorf("%s: %v %v", name, err, clear)
			}
		}
		anonymous := request()
		if err := set.Present(context.Background(), capability.Credential{Mode: capability.Anonymous}, anonymous); err != nil || len(anonymous.Header) > 0 {
			t.Errorf("anonymous: %v %v", err, anonymous.Header)
		}
	}
}

// scrubbing says to the copy of the test that it is to scrub itself.
const scrubbing = "SCUPPER_TEST_SCRUB"

// TestScrub: CRED-10, what /proc shows of a process that has scrubbed its environment.
func TestScrub(t *testing.T) {
	if os.Getenv(scrubbing) != "" {
		if err := Scrub("LLM_KEY", "NOT_THERE"); err != nil {
			t.Fatal(err)
		}
		shown, err := os.ReadFile("/proc/self/environ")
		if err != nil || strings.Contains(string(shown), "sk-real") || !strings.Contains(string(shown), "\x00OTHER_KEY=kept\x00") {
			t.Errorf("%v: %q", err, shown)
		}
		if out, _ := exec.Command("env").Output(); strings.Contains(string(out), "sk-real") || !strings.Contains(string(out), "OTHER_KEY=kept") {
			t.Errorf("a child has %q", out)
		}
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestScrub$", "-test.v")
	cmd.Env = []string{"A=1", "LLM_KEY=" + value, "OTHER_KEY=kept", "PATH=/usr/bin:/bin", scrubbing + "=1"}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Errorf("%v\n%s", err, out)
	}
}
