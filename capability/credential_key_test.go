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
