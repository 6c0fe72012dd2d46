package e2e

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
)

// forge is a policy whose one grant has this credential line.
const forge = `version = 1
grant "forge" {
  reason     = "test"
  owner      = "test"
  host       = "forge.example.com"
  %s
  allow {
    methods = ["GET"]
    path    = "/api/{item}"
  }
}
`

const forgeURL = "https://forge.example.com/api/x"

// TestPinnedCredential: the sandbox brings a key of its own, and that one alone passes.
func TestPinnedCredential(t *testing.T) {
	const mine = "glpat-0123456789abcdefghij"
	w := newWorld(t, ordinaryUser(t))
	w.policy(fmt.Sprintf(forge, fmt.Sprintf(`credential = pinned("sha256:%x")`, sha256.Sum256([]byte(mine)))))
	a := w.control(keyed("-H 'PRIVATE-TOKEN: " + mine + "' " + forgeURL)).wantStatus(200).farSide("GET " + forgeURL).wantAllowed(1)
	if got := a.received[0].Header.Get("Private-Token"); got != mine {
		t.Errorf("%q arrived", got)
	}
	w.control(keyed(forgeURL)).wantStatus(200).farSide("GET " + forgeURL)
	w.attack(keyed(`-H "PRIVATE-TOKEN: $A" `+forgeURL)).refused(403, "foreign_credential")
	w.attack(keyed(`-H "PRIVATE-TOKEN: `+mine+`" -H "Authorization: Bearer $A" `+forgeURL)).refused(403, "foreign_credential")
	w.attack(keyed(`-H "Authorization: Stolen `+mine+`" `+forgeURL)).refused(403, "foreign_credential")
	w.attack(keyed(`-H "PRIVATE-TOKEN: `+mine+`, $A" `+forgeURL)).refused(403, "foreign_credential")
}

// TestForeignStrip: where the policy says so, a foreign credential is left out.
func TestForeignStrip(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	w.policy(fmt.Sprintf(forge, "credential = anonymous"))
	const all = `-H "PRIVATE-TOKEN: $A" -H "Authorization: Bearer $A" -b "s=$A" ` + forgeURL
	w.attack(keyed(all)).refused(403, "foreign_credential")
	w.policy(fmt.Sprintf(forge, "credential = anonymous\n  foreign    = strip"))
	a := w.control(keyed(all)).wantStatus(200).farSide("GET " + forgeURL).wantAllowed(1)
	if arrived := fmt.Sprint(a.received); strings.Contains(arrived, attackerKey) {
		t.Errorf("the far side received %s", arrived)
	}
	w.attack(keyed(`"` + forgeURL + `?token=$A" -o /dev/null`)).wantStatus(200).farSide("GET " + forgeURL).looked[theLog] = true
}

// TestTunnelsHaveNoCredential: USE-31, a CONNECT is judged without one; what is in it is
// judged with.
func TestTunnelsHaveNoCredential(t *testing.T) {
	w := keyWorld(t, ordinaryUser(t), fmt.Sprintf(inference, ""))
	const explicit = "-x http://100.64.0.1:3128 "
	script := "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do curl -sS -o /dev/null -w '%{http_code}\\n' " + explicit + messages + jsonBody + ` -H "x-api-key: $LLM_KEY" & done; wait`
	a := w.control(shell(script)).ourKeyOnly()
	if n := strings.Count(a.stdout, "200\n"); n != 20 || len(a.received) != 20 {
		a.errorf("%d of 20 tunnels worked, %d requests arrived", n, len(a.received))
	}
	w.attack(keyed(explicit+messages+jsonBody+`-H "x-api-key: $A"`)).refused(403, "foreign_credential")
	w.attack(keyed(explicit+`--proxy-header "Proxy-Authorization: Basic eDp5" `+messages+jsonBody+`-H "Authorization: Bearer $A"`)).refused(403, "foreign_credential")
}
