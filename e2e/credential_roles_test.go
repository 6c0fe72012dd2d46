package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// twoRoles have the same function of the same host, each with a credential of its own.
const twoRoles = `version = 1
credential "a" {
  source { env = "KEY_A" }
  header "x-api-key" { value = "${secret}" }
  expose = "HELD"
}
credential "b" {
  source { env = "KEY_B" }
  header "x-api-key" { value = "${secret}" }
  expose = "HELD_B"
}
role "a" { grants = ["of-a"] }
role "b" { grants = ["of-b"] }
grant "of-a" {
  reason     = "test"
  owner      = "test"
  host       = "api.example.com"
  credential = credential.a
  allow {
    methods = ["POST"]
    path    = "/v1/{item}"
    body {
      type = "application/json"
      max  = "1MiB"
    }
  }
}
grant "of-b" {
  reason     = "test"
  owner      = "test"
  host       = "api.example.com"
  credential = credential.b
  allow {
    methods = ["POST"]
    path    = "/v1/{item}"
    body {
      type = "application/json"
      max  = "1MiB"
    }
  }
}
`

// TestRolesInParallel: CRED-14, two runs in each of two roles at once, four keys at one
// host, 10,000 requests: never a wrong key, and no run can use what another holds.
func TestRolesInParallel(t *testing.T) {
	const each, conns = 2500, 5
	w := newWorld(t, ordinaryUser(t))
	w.policy(twoRoles)
	var right, wrong atomic.Int64
	w.inet.Handle("api.example.com", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		run, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v1/"), "-")
		if keys := r.Header["X-Api-Key"]; len(keys) == 1 && keys[0] == "key-of-"+run+"-0123456789" {
			right.Add(1)
		} else {
			wrong.Add(1)
		}
	}))
	var wait sync.WaitGroup
	for _, run := range []string{"a1", "a2", "b1", "b2"} {
		var parcels []parcel
		for c := range conns {
			p := parcel{Name: fmt.Sprint(run, c), H2: c%2 == 0, Host: "api.example.com", Type: "application/json", Body: "{}", Target: fmt.Sprintf("/v1/%s-%d-last", run, c)}
			for i := range each/conns - 1 {
				p.Before = append(p.Before, fmt.Sprintf("/v1/%s-%d-%d", run, c, i))
			}
			parcels = append(parcels, p)
		}
		text, err := json.Marshal(parcels)
		if err != nil {
			t.Fatal(err)
		}
		w.work(run+".json", string(text))
		w.flags = []string{"--role", run[:1], "--ro", prepared("attacker")}
		argv, audit := w.runArgs(shell(parcelsVar + "=" + run + ".json " + prepared("attacker")))
		cmd := w.command(t.Context(), argv, []string{"KEY_A=key-of-" + run + "-0123456789", "KEY_B=key-of-" + run + "-0123456789"})
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		wait.Go(func() {
			if err := cmd.Run(); err != nil || strings.Count(stdout.String(), `"Status":200`) != conns {
				t.Errorf("%s: %v\n%.2000s%s", run, err, stdout.String(), stderr.String())
			}
			grant := "of-" + run[:1]
			allowed := readLog(t, audit).allowed("http")
			for _, r := range allowed {
				if r.Grant != grant {
					t.Errorf("%s: allowed by %q", run, r.Grant)
				}
			}
			if len(allowed) != each {
				t.Errorf("%s: %d of %d records", run, len(allowed), each)
			}
		})
	}
	wait.Wait()
	if right.Load() != 4*each || wrong.Load() != 0 {
		t.Errorf("%d requests with the right key, %d with another", right.Load(), wrong.Load())
	}
}

// TestPlaceholderOfAnotherRun: CRED-02, what one run or role holds is a foreign credential
// in another.
func TestPlaceholderOfAnotherRun(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	w.policy(twoRoles)
	w.env = append(w.env, "KEY_A=key-of-a-0123456789", "KEY_B=key-of-b-0123456789")
	const url = "https://api.example.com/v1/x"
	ask := func(key string) client { return keyed(url + jsonBody + `-H "x-api-key: ` + key + `"`) }
	held := map[string]string{}
	for _, role := range []string{"a", "b"} {
		w.flags = []string{"--role", role}
		held[role] = strings.TrimSpace(w.control(shell("echo $HELD$HELD_B")).stdout)
	}
	if len(held["a"]) < 16 || held["a"] == held["b"] {
		t.Fatalf("placeholders %v", held)
	}
	w.flags = []string{"--role", "a"}
	w.control(ask("$HELD")).wantStatus(200).farSide("POST " + url).wantAllowed(1)
	w.attack(ask(held["a"])).refused(403, "foreign_credential")
	w.attack(ask(held["b"])).refused(403, "foreign_credential")
	w.attack(ask("key-of-b-0123456789")).wantExit(2).wantStderr("the command line would hand [secret b] to the sandbox").farSideNothing().looked[theLog] = true
	w.flags = append(w.flags, "--env", "KEY_B")
	w.attack(command("env")).wantExit(2).wantStderr("the variable KEY_B would hand [secret b] to the sandbox").farSideNothing().looked[theLog] = true
}
