package capability

import (
	"strings"
	"testing"
)

// TestKeyInPath: CRED-01, EXF-08, a key in a path that a variable would take, where some
// services have theirs. It is refused under every grant, and is not in what is shown.
func TestKeyInPath(t *testing.T) {
	const github, chat = "ghp_0123456789abcdefABCDEF0123456789abcd", "bot123456:AAH-0123456789abcdefghijklmnopqrstuv"
	for segment, want := range map[string]bool{
		github: true, "npm_" + github[4:]: true, "sk-ant-api03-" + github[4:]: true, "xoxb-1234567890-abcdefghij": true, chat: true, "bot1:" + chat[10:]: true,
		"pypi-AgEIcHlwaS5vcmc" + github[4:]: true,
		"ghp_short1":                        false, "npm_lazy_install_of_many_packages_at_once": false, "pypi-attestations-models-2026-11-30": false, "hf_model": false,
		"bot:" + chat[10:]: false, "bot123456": false, "robots.txt": false, "sk-learn": false, "AIzawa": false, "": false, "0123456789abcdef0123456789abcdef01234567": false,
	} {
		if got := looksLikeKey(segment); got != want {
			t.Errorf("%q: got %t", segment, got)
		}
	}
	for _, c := range []Credential{{Mode: Anonymous}, {Mode: Anonymous, Strip: true}, {Mode: HandedOut}, {Mode: Bound, Name: "c", Place: Place{In: InHeader, Name: "X-Api-Key"}}} {
		for path, want := range map[string]Reason{"/t/" + github + "/channel": ForeignCredential, "/t/%67" + github[1:] + "/channel": ForeignCredential, "/t/channel": Granted} {
			r := &Request{}
			var err error
			if r.Path, err = ParsePath(path); err != nil {
				t.Fatal(err)
			}
			if got := c.judge(r, nil); got != want {
				t.Errorf("%s %t %s: got %s", c.Mode, c.Strip, path, got)
			}
			if shown := r.Path.Shown(); strings.Contains(shown, github[8:]) || want == ForeignCredential && shown != "/t/…/channel" || want == Granted && shown != path {
				t.Errorf("%s is shown as %s", path, shown)
			}
		}
	}
}

// TestKeyAnywhere: EXF-06, EXF-08, a key in a value that passes otherwise. It is refused,
// on record by its fingerprint, and not shown where it stands for a name.
func TestKeyAnywhere(t *testing.T) {
	const github = "ghp_0123456789abcdefABCDEF0123456789abcd"
	for _, c := range []struct {
		name, query string
		headers     []string
		in          Where
		shown       string
	}{
		{"header", "", []string{"Accept", "text/html, " + github + ";q=1"}, InHeader, "Accept"},
		{"header nobody asks for", "", []string{"Referer", "https://x.test/" + github + "/"}, InHeader, "Referer"},
		{"value", "?q=" + github, nil, InQuery, "q"},
		{"value with more", "?q=a%20" + github + "%20b", nil, InQuery, "q"},
		{"name", "?" + github + "=1", nil, InQuery, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, credential := range []Credential{{Mode: Anonymous}, {Mode: HandedOut}, bound(keyHeader)} {
				p := placed(t, credential, func(a *Allow) { a.Query.Any = true })
				if d := p.Decide(ask(t, "GET", "https://api.example.com/v1/x?q=ghp_short", "Accept", "*/*")); !d.Allowed() {
					t.Fatalf("%s control: %s", credential.Mode, d.Reason)
				}
				r := ask(t, "GET", "https://api.example.com/v1/x"+c.query, c.headers...)
				d := p.Decide(r)
				foreign := p.Foreign(r, d, []byte("k"))
				if d.Reason != ForeignCredential || len(foreign) != 1 || foreign[0] != (Foreign{c.in, c.shown, fingerprint(github, []byte("k"))}) {
					t.Errorf("%s: got %s, %+v", credential.Mode, d.Reason, foreign)
				}
				for _, p := range r.Query {
					if strings.Contains(p.Shown(), github) {
						t.Errorf("shown as %s", p.Shown())
					}
				}
			}
		})
	}
}

// TestStrippedKey: where foreign credentials are left out, a key in a safe header is too.
func TestStrippedKey(t *testing.T) {
	strip := bound(keyHeader)
	strip.Strip = true
	r := ask(t, "GET", "https://api.example.com/v1/x", "Accept", "ghp_0123456789abcdefABCDEF0123456789abcd", "X_api_key", attacker)
	d := placed(t, strip, nil).Decide(r)
	if header, stripped := d.Header(r); !d.Allowed() || len(header) != 1 || stripped != 1 {
		t.Errorf("%s: %v, %d stripped", d.Reason, header, stripped)
	}
}

func TestNamesParameter(t *testing.T) {
	for name, want := range map[string]bool{
		"access_token": true, "Access_Token": true, "access.token": true, "access token": true, "access[token": true, "access_token[]": true, "ACCESS_token[a]": true,
		"access-token": false, "access_tokens": false, "my_access_token": false, "access_toke": false, "[access_token]": false, "x[access_token]": false, "": false,
	} {
		if got := isCredentialParameter(name); got != want {
			t.Errorf("%q: got %t", name, got)
		}
	}
}

func TestShown(t *testing.T) {
	const github = "ghp_0123456789abcdefABCDEF0123456789abcd"
	for text, want := range map[string]string{
		"": "", "GET /a HTTP/1.1": "GET /a HTTP/1.1", "GET /@scope/a@1 HTTP/1.1": "GET /@scope/a@1 HTTP/1.1", "/a?b@c": "/a?b@c",
		"GET https://user:pass@h:443/a@b HTTP/1.1": "GET https://…@h:443/a@b HTTP/1.1", "CONNECT user:p@ss@h:443 HTTP/1.1": "CONNECT …@h:443 HTTP/1.1",
		"user@h": "…@h", "@": "…@", "https://@h": "https://…@h", "https://u:p@h?a=b": "https://…@h?a=b",
		"GET /t/" + github + "//x/" + github + " HTTP/1.1": "GET /t/…//x/… HTTP/1.1", "://": "://", "a://u@h://v@i": "a://…@h://v@i",
	} {
		if got := Shown(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
