package e2e

import (
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

// forgeSecret is a password that a registry and a git server want.
const forgeSecret = "ghp_0123456789abcdefABCDEF0123456789abcd"

// private is a credential for Basic authentication, as user bot.
const private = `version = 1
credential "forge" {
  source { env = "FORGE_TOKEN" }
  basic { user = "bot" }
  expose = "FORGE_TOKEN"
}
`

func basicOf(user string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+forgeSecret))
}

// authorized looks for our credential in everything that arrived.
func (a *attempt) authorized() {
	a.t.Helper()
	if len(a.received) == 0 {
		a.errorf("nothing arrived")
	}
	for _, e := range a.received {
		if fmt.Sprint(e.Header["Authorization"]) != "["+basicOf("bot")+"]" {
			a.errorf("%s arrived with %v", e.URI, e.Header)
		}
	}
}

// TestPrivateGit: CRED-15, a clone from a server that wants a password: git has none, or
// the placeholder in its address, and never sees the challenge.
func TestPrivateGit(t *testing.T) {
	for _, u := range users(t) {
		t.Run(u.name, func(t *testing.T) {
			w := newWorld(t, u)
			startPrivateGitServer(w, basicOf("bot"), "acme/app", "acme/open").commit("acme/app", "first", 3)
			w.env = append(w.env, "FORGE_TOKEN="+forgeSecret, "GIT_TERMINAL_PROMPT=0")
			w.policy(gitPolicy)
			w.run(shell("GIT_TERMINAL_PROMPT=0 git clone -q " + gitURL + " none")).wantFailure()
			w.policy(private + strings.TrimPrefix(strings.Replace(gitPolicy, "}", "  credential   = credential.forge\n}", 1), "version = 1\n"))
			w.control(shell("git clone -q " + gitURL + " two && cat two/first")).wantStdout("first 2").authorized()
			w.control(shell(`git clone -q "https://me:$FORGE_TOKEN@` + gitHost + `/acme/app" three && cat three/first`)).wantStdout("first 2").authorized()
			w.control(shell(`git -c "http.extraHeader=Authorization: Bearer $FORGE_TOKEN" ls-remote ` + gitURL)).wantStdout("refs/heads/main").authorized()
			w.attack(shell("git -c http.extraHeader='Authorization: Bearer ghp_attacker' ls-remote " + gitURL)).wantFailure().wantReason("foreign_credential").farSideNothing()
			w.attack(shell("git -c http.extraHeader='Cookie: session=attacker' ls-remote " + gitURL)).wantFailure().wantReason("foreign_credential").farSideNothing()
		})
	}
}

// TestPrivateRegistry: EXF-03, an install from a registry that wants a password; a publish
// with somebody else's is refused.
func TestPrivateRegistry(t *testing.T) {
	for _, u := range users(t) {
		t.Run(u.name, func(t *testing.T) {
			w := newWorld(t, u)
			sum := sha1.Sum([]byte(forgeSecret)) // what htpasswd has, not a choice of ours
			packages := fiftyPackages(t)[:5]
			startRegistryWith(w, packages, strings.ReplaceAll(registryConfig, "$all", "$authenticated"), "bot:{SHA}"+base64.StdEncoding.EncodeToString(sum[:])+":\n")
			project(w, packages)
			w.env = append(w.env, "FORGE_TOKEN="+forgeSecret)
			const use = "use \"npm\" {\n  registry = \"https://" + registryHost + "\"\n%s}\n"
			install := command("npm", "ci", "--no-audit", "--no-fund")
			w.policy("version = 1\n" + fmt.Sprintf(use, ""))
			w.run(install).wantFailure()
			w.policy(private + fmt.Sprintf(use, "  credential = credential.forge\n"))
			w.control(install).authorized()
			w.attack(shell("echo '//" + registryHost + "/:_authToken=npm_attacker' >.npmrc && npm ci --no-audit --no-fund")).wantFailure().wantReasonOnly("foreign_credential").farSideNothing()
			w.work("package.json", `{"name":"stolen","version":"1.0.0"}`)
			w.attack(shell("npm publish --access public")).wantFailure().farSideNothing().looked[theLog] = true
		})
	}
}

// wantReasonOnly looks for denials in the log that all have this reason.
func (a *attempt) wantReasonOnly(reason string) *attempt {
	a.t.Helper()
	a.looked[theLog] = true
	denials := a.log.denials()
	for _, d := range denials {
		if d.Reason != reason {
			a.errorf("a denial for %q", d.Reason)
		}
	}
	if len(denials) == 0 {
		a.errorf("nothing was denied")
	}
	return a
}

// TestReloadKeepsPlaceholders: a policy that changes during a run goes on with what the
// sandbox has, and takes no credential that was not read.
func TestReloadKeepsPlaceholders(t *testing.T) {
	first := fmt.Sprintf(inference, "")
	w := keyWorld(t, ordinaryUser(t), first)
	p, say := w.spawnSaying(shell(`while read -r path; do curl -sS -o /dev/null -w '%{http_code}\n' https://api.example.com$path ` + jsonBody + ` -H "x-api-key: $LLM_KEY"; done`))
	ask := func(path, want string) {
		t.Helper()
		say(path)
		if got := p.line(); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
	ask("/v1/messages", "200")
	ask("/v1/second", "403")
	w.policy("# a line more\n" + strings.Replace(first, `"/v1/messages"`, `"/v1/{item}"`, 1))
	if c := p.wantChanges(1)[0]; c.Change.Refused != "" {
		t.Errorf("got %+v", c)
	}
	ask("/v1/second", "200")
	w.policy(strings.Replace(first, "x-api-key", "x-other-key", 1))
	if c := p.wantChanges(2)[1]; !strings.Contains(c.Change.Refused, "credentials") {
		t.Errorf("got %+v", c)
	}
	ask("/v1/second", "200")
	say("")
	for _, e := range w.inet.Received() {
		if fmt.Sprint(e.Header["X-Api-Key"]) != "["+realKey+"]" {
			t.Errorf("%s arrived with %v", e.URI, e.Header)
		}
	}
}

// TestInferencePreset: the client has its key where it wants, the service gets it in one
// place; remote tools and files are refused.
func TestInferencePreset(t *testing.T) {
	w := keyWorld(t, ordinaryUser(t), `version = 1
credential "llm" {
  source { env = "LLM_KEY" }
  header "x-api-key" {
    value = "${secret}"
    also  = "Authorization"
  }
  expose = "LLM_KEY"
}
use "anthropic" {
  url        = "https://api.example.com"
  credential = credential.llm
}
`)
	const version = ` -H 'anthropic-version: 2023-06-01' -H 'Content-Type: application/json' `
	ask := func(key, more string) client {
		return keyed(messages + version + `-H "` + key + `" -d '{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"x"}]` + more + `}'`)
	}
	w.control(ask("Authorization: Bearer $LLM_KEY", "")).wantStatus(200).farSide("POST " + messages).wantAllowed(1).ourKeyOnly()
	w.control(ask("x-api-key: $LLM_KEY", "")).wantStatus(200).farSide("POST " + messages).wantAllowed(1).ourKeyOnly()
	w.attack(ask("Authorization: Bearer $A", "")).refused(403, "foreign_credential")
	w.attack(ask("x-api-key: $LLM_KEY", `,"mcp_servers":[{"type":"url","url":"https://evil.example.net","name":"e"}]`)).refused(403, "body_not_granted")
	w.attack(keyed(files+version+`-H "x-api-key: $LLM_KEY" -d '{}'`)).refused(403, "path_not_granted")
}
