package capability

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

// The placeholder of the run, that of another credential, and somebody else's key.
const (
	ours     = "sk-Zq3vB7xK2mT9wR4y"
	sibling  = "ghp_aB3dE5fG7hJ9kL1m"
	attacker = "sk-attacker-0123456789"
)

// placed is a policy of one grant at api.example.com that binds a credential in a
// place.
func placed(t testing.TB, c Credential, change func(*Allow)) *Policy {
	t.Helper()
	a := &Allow{Methods: []string{"GET"}, Path: template(t, "/v1/{item}")}
	if change != nil {
		change(a)
	}
	g := grant("api", "api.example.com", a)
	g.Credential = c
	p, err := compile(t, g).WithPlaceholders(map[string]string{"llm": ours, "other": sibling})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func bound(p Place) Credential { return Credential{Mode: Bound, Name: "llm", Place: p} }

var (
	keyHeader = Place{In: InHeader, Name: "X-Api-Key"}
	also      = Place{In: InHeader, Name: "X-Api-Key", Also: "Authorization"}
	bearer    = Place{In: InHeader, Name: "Authorization", Before: "Bearer "}
)

func encoded(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// TestBoundCredential: CRED-01, CRED-02, CRED-15.
func TestBoundCredential(t *testing.T) {
	const path = "https://api.example.com/v1/messages"
	for _, c := range []struct {
		name    string
		place   Place
		url     string
		headers []string
		want    Reason
	}{
		{"none", keyHeader, path, nil, Granted},
		{"the placeholder", keyHeader, path, []string{"X-Api-Key", ours}, Granted},
		{"CRED-01 another key", keyHeader, path, []string{"X-Api-Key", attacker}, ForeignCredential},
		{"empty", keyHeader, path, []string{"X-Api-Key", ""}, ForeignCredential},
		{"twice the placeholder", keyHeader, path, []string{"X-Api-Key", ours, "X-Api-Key", ours}, PlaceholderMisplaced},
		{"the placeholder and another", keyHeader, path, []string{"X-Api-Key", ours, "X-Api-Key", attacker}, ForeignCredential},
		{"another and the placeholder", keyHeader, path, []string{"X-Api-Key", attacker, "X-Api-Key", ours}, ForeignCredential},
		{"joined by a comma", keyHeader, path, []string{"X-Api-Key", ours + ", " + attacker}, ForeignCredential},
		{"with something behind", keyHeader, path, []string{"X-Api-Key", ours + "x"}, ForeignCredential},
		{"in Authorization besides", keyHeader, path, []string{"X-Api-Key", ours, "Authorization", "Bearer " + attacker}, ForeignCredential},
		{"CRED-02 the placeholder in another header", keyHeader, path, []string{"Authorization", "Bearer " + ours}, PlaceholderMisplaced},
		{"CRED-02 of another credential", keyHeader, path, []string{"X-Api-Key", sibling}, PlaceholderMisplaced},
		{"in a cookie", keyHeader, path, []string{"Cookie", "s=" + attacker}, ForeignCredential},
		{"in Proxy-Authorization", keyHeader, path, []string{"Proxy-Authorization", "Basic eA=="}, ForeignCredential},
		{"in a header that ends like one", keyHeader, path, []string{"X-Acme-Api-Key", attacker}, ForeignCredential},
		{"in a WebSocket protocol", keyHeader, path, []string{"Sec-Websocket-Protocol", "realtime, openai-insecure-api-key." + attacker}, ForeignCredential},
		{"a harmless WebSocket protocol", keyHeader, path, []string{"Sec-Websocket-Protocol", "graphql-ws"}, Granted},
		{"a header that only sounds like one", keyHeader, path, []string{"Npm-Auth-Type", "web"}, Granted},
		{"CRED-02 the placeholder in a header of no meaning", keyHeader, path, []string{"X-Note", "see " + ours}, PlaceholderMisplaced},
		{"CRED-15 the placeholder in the path", keyHeader, "https://api.example.com/v1/" + ours, nil, PlaceholderMisplaced},
		{"CRED-15 escaped in the path", keyHeader, "https://api.example.com/v1/%73" + ours[1:], nil, PlaceholderMisplaced},
		{"CRED-15 the placeholder in the query", keyHeader, path + "?note=" + ours, nil, PlaceholderMisplaced},
		{"the placeholder as a parameter's name", keyHeader, path + "?" + ours + "=1", nil, PlaceholderMisplaced},
		{"another key in the query", keyHeader, path + "?api_key=" + attacker, nil, ForeignCredential},
		{"in odd case", keyHeader, path + "?Access_Token=" + attacker, nil, ForeignCredential},
		{"a signature", keyHeader, path + "?X-Amz-Signature=00", nil, ForeignCredential},

		{"bearer", bearer, path, []string{"Authorization", "Bearer " + ours}, Granted},
		{"bearer in lower case", bearer, path, []string{"Authorization", "bearer " + ours}, Granted},
		{"without a scheme", bearer, path, []string{"Authorization", ours}, Granted},
		{"gh's scheme", bearer, path, []string{"Authorization", "token " + ours}, Granted},
		{"two tokens", bearer, path, []string{"Authorization", "Bearer " + ours + " " + attacker}, ForeignCredential},
		{"another bearer", bearer, path, []string{"Authorization", "Bearer " + attacker}, ForeignCredential},
		{"x-api-key where Authorization is bound", bearer, path, []string{"X-Api-Key", attacker}, ForeignCredential},

		{"in the other header that the policy names", also, path, []string{"Authorization", "Bearer " + ours}, Granted},
		{"in both", also, path, []string{"Authorization", "Bearer " + ours, "X-Api-Key", ours}, Granted},
		{"another there", also, path, []string{"Authorization", "Bearer " + attacker}, ForeignCredential},
		{"another beside it", also, path, []string{"Authorization", "Bearer " + ours, "X-Api-Key", attacker}, ForeignCredential},

		{"CRED-15 Basic", Place{In: InBasic, User: "bot"}, path, []string{"Authorization", "Basic " + encoded("bot:"+ours)}, Granted},
		{"CRED-15 Basic of another user", Place{In: InBasic, User: "bot"}, path, []string{"Authorization", "basic " + encoded("x-access-token:"+ours)}, Granted},
		{"CRED-15 Basic with the token as the user", Place{In: InBasic, User: "bot"}, path, []string{"Authorization", "Basic " + encoded(ours+":")}, Granted},
		{"Basic of someone else", Place{In: InBasic, User: "bot"}, path, []string{"Authorization", "Basic " + encoded("bot:"+attacker)}, ForeignCredential},
		{"Basic with the placeholder as a part", Place{In: InBasic, User: "bot"}, path, []string{"Authorization", "Basic " + encoded("bot:"+ours+":"+attacker)}, ForeignCredential},
		{"Basic that is no base64", Place{In: InBasic, User: "bot"}, path, []string{"Authorization", "Basic ***"}, ForeignCredential},

		{"query", Place{In: InQuery, Name: "key"}, path + "?key=" + ours, nil, Granted},
		{"query, none", Place{In: InQuery, Name: "key"}, path, nil, Granted},
		{"query, another", Place{In: InQuery, Name: "key"}, path + "?key=" + attacker, nil, ForeignCredential},
		{"query, empty", Place{In: InQuery, Name: "key"}, path + "?key=", nil, ForeignCredential},
		{"query, twice", Place{In: InQuery, Name: "key"}, path + "?key=" + ours + "&key=" + attacker, nil, ForeignCredential},
		{"query, odd case", Place{In: InQuery, Name: "key"}, path + "?KEY=" + attacker, nil, ForeignCredential},
		{"query, two cases", Place{In: InQuery, Name: "key"}, path + "?key=" + ours + "&KEY=" + attacker, nil, ForeignCredential},

		{"cookie", Place{In: InCookie, Name: "session"}, path, []string{"Cookie", "session=" + ours}, Granted},
		{"cookie, another", Place{In: InCookie, Name: "session"}, path, []string{"Cookie", "session=" + attacker}, ForeignCredential},
		{"cookie, one more", Place{In: InCookie, Name: "session"}, path, []string{"Cookie", "session=" + ours + "; s=" + attacker}, ForeignCredential},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := placed(t, bound(c.place), func(a *Allow) { a.Query.Any = strings.Contains(c.url, "note=") || strings.Contains(c.url, "=1") })
			r := ask(t, "GET", c.url, c.headers...)
			d := p.Decide(r)
			if d.Reason != c.want {
				t.Fatalf("got %s, want %s", d.Reason, c.want)
			}
			header, _ := d.Header(r)
			if sent := fmt.Sprint(d.Target(r), header); strings.Contains(sent, ours) || strings.Contains(sent, encoded("bot:"+ours)) {
				t.Errorf("the placeholder would be sent: %s", sent)
			}
			if foreign := p.Foreign(r, d, []byte("key")); (len(foreign) > 0) != (c.want == ForeignCredential) || strings.Contains(fmt.Sprintf("%+v", foreign), "attacker") {
				t.Errorf("%s with foreign credentials %+v", c.want, foreign)
			}
		})
	}
}

// TestTrailerCredential: nothing in a trailer goes upstream, and whoever tries is refused.
func TestTrailerCredential(t *testing.T) {
	for name, want := range map[string]Reason{"X-Api-Key": ForeignCredential, "Authorization": ForeignCredential, "X-Checksum": Granted} {
		r := ask(t, "GET", "https://api.example.com/v1/messages")
		r.Trailer = []string{name}
		if got := placed(t, bound(keyHeader), nil).Decide(r).Reason; got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

// TestPinnedCredential: the one credential passes, as it was sent.
func TestPinnedCredential(t *testing.T) {
	const mine = "glpat-0123456789abcdefghij"
	pin := Credential{Mode: Pinned, Pin: sha256.Sum256([]byte(mine))}
	basicPin := Credential{Mode: Pinned, Pin: sha256.Sum256([]byte("me:" + mine))}
	for _, c := range []struct {
		name    string
		pin     Credential
		headers []string
		query   string
		want    Reason
	}{
		{"none", pin, nil, "", Granted},
		{"its own", pin, []string{"Private-Token", mine}, "", Granted},
		{"as bearer", pin, []string{"Authorization", "Bearer " + mine}, "", Granted},
		{"under a scheme of one's own", pin, []string{"Authorization", "Stolen-data " + mine}, "", ForeignCredential},
		{"another", pin, []string{"Private-Token", attacker}, "", ForeignCredential},
		{"its own and another", pin, []string{"Private-Token", mine, "Authorization", "Bearer " + attacker}, "", ForeignCredential},
		{"twice", pin, []string{"Private-Token", mine, "Private-Token", mine}, "", ForeignCredential},
		{"Basic", basicPin, []string{"Authorization", "Basic " + encoded("me:"+mine)}, "", Granted},
		{"Basic of another user", basicPin, []string{"Authorization", "Basic " + encoded("you:"+mine)}, "", ForeignCredential},
		{"in the query", pin, nil, "?private_token=" + mine, Granted},
		{"another in the query", pin, nil, "?private_token=" + attacker, ForeignCredential},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := ask(t, "GET", "https://api.example.com/v1/x"+c.query, c.headers...)
			d := placed(t, c.pin, nil).Decide(r)
			if d.Reason != c.want {
				t.Fatalf("got %s, want %s", d.Reason, c.want)
			}
			header, _ := d.Header(r)
			sent := fmt.Sprint(d.Target(r), header)
			passes := strings.Contains(sent, mine) || strings.Contains(sent, encoded("me:"+mine))
			if passes != (d.Allowed() && c.name != "none") {
				t.Errorf("sent %s", sent)
			}
		})
	}
}

// TestForeignStrip: removed instead of refused, and only where the policy says so.
func TestForeignStrip(t *testing.T) {
	strip := bound(keyHeader)
	strip.Strip = true
	p := placed(t, strip, func(a *Allow) { a.Query.Any = true })
	r := ask(t, "GET", "https://api.example.com/v1/x?a=1&token="+attacker, "Authorization", "Bearer "+attacker, "Cookie", "s="+attacker, "X-Api-Key", attacker)
	d := p.Decide(r)
	header, _ := d.Header(r)
	if got := fmt.Sprint(d.Target(r), header); !d.Allowed() || strings.Contains(got, attacker) || d.Target(r) != "/v1/x?a=1" {
		t.Errorf("%s: %s", d.Reason, got)
	}
}

// TestAnonymousPlaceholder: CRED-02, CRED-04, a placeholder at a host that does not bind it.
func TestAnonymousPlaceholder(t *testing.T) {
	p := placed(t, Credential{Mode: Anonymous}, nil)
	for _, headers := range [][]string{{"Authorization", "Bearer " + ours}, {"X-Api-Key", ours}, {"X-Note", ours}} {
		if d := p.Decide(ask(t, "GET", "https://api.example.com/v1/x", headers...)); d.Reason != PlaceholderMisplaced {
			t.Errorf("%v: %s", headers, d.Reason)
		}
	}
}

// TestClearCredential: CRED-09, CRED-12.
func TestClearCredential(t *testing.T) {
	g := grant("api", "api.example.com", get(template(t, "/x")))
	g.Scheme, g.Credential = HTTP, bound(keyHeader)
	if _, err := Compile([]*Grant{g}, nil); err == nil {
		t.Error("a credential is bound to a cleartext scheme")
	}
}

// TestUnknownMode: the zero Credential admits nothing, and neither does a new mode.
func TestUnknownMode(t *testing.T) {
	for _, mode := range []CredentialMode{"", "later"} {
		if d := placed(t, Credential{Mode: mode}, nil).Decide(ask(t, "GET", "https://api.example.com/v1/x")); d.Allowed() {
			t.Errorf("mode %q admits a request", mode)
		}
	}
}

// TestFingerprint: CRED-07, keyed, short, equal for one credential in several spellings.
func TestFingerprint(t *testing.T) {
	p := placed(t, bound(keyHeader), nil)
	look := func(key string, headers ...string) string {
		t.Helper()
		r := ask(t, "GET", "https://api.example.com/v1/x", headers...)
		foreign := p.Foreign(r, p.Decide(r), []byte(key))
		if len(foreign) != 1 || len(foreign[0].Fingerprint) != 16 {
			t.Fatalf("%+v", foreign)
		}
		return foreign[0].Fingerprint
	}
	plain := look("k", "X-Api-Key", attacker)
	if look("k", "Authorization", "Bearer "+attacker) != plain {
		t.Error("the same credential has two fingerprints")
	}
	if look("l", "X-Api-Key", attacker) == plain || look("k", "X-Api-Key", attacker+"1") == plain {
		t.Error("fingerprints do not depend on key and credential")
	}
}

// TestBoundDoesNotAllocate: a secret costs the judge nothing.
func TestBoundDoesNotAllocate(t *testing.T) {
	p := placed(t, bound(bearer), nil)
	r := ask(t, "GET", "https://api.example.com/v1/messages", "Authorization", "Bearer "+ours, "Accept", "*/*")
	if n := testing.AllocsPerRun(100, func() { p.Decide(r) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
