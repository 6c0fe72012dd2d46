package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestFingerprintsOfAnInstallation: CRED-07, the same key in two runs has one fingerprint,
// elsewhere another; what keys it is its owner's alone, and not inside.
func TestFingerprintsOfAnInstallation(t *testing.T) {
	for _, u := range users(t) {
		t.Run(u.name, func(t *testing.T) {
			found := regexp.MustCompile(`"fingerprint":"([0-9a-f]{16})"`)
			prints := map[string]string{}
			w := newWorld(t, u)
			w.policy(strings.Replace(forge, "%s", "credential = anonymous", 1))
			for _, machine := range []string{"one", "other"} {
				state := u.folder(t)
				w.env, w.flags = []string{"XDG_STATE_HOME=" + state}, nil
				for _, run := range []string{"first", "second"} {
					a := w.attack(keyed(`-H "PRIVATE-TOKEN: $A" `+forgeURL)).refused(403, "foreign_credential")
					if m := found.FindStringSubmatch(a.log.String()); m != nil {
						prints[machine+" "+run] = m[1]
					}
				}
				path := filepath.Join(state, "scupper", "fingerprint.key")
				key, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 || len(key) != 32 {
					t.Errorf("%v, %v, %d bytes", info.Mode(), err, len(key))
				}
				w.control(shell("cat " + path + "; find / -xdev -name fingerprint.key 2>/dev/null; true")).farSideNothing().wantStderr("No such file")
				w.flags = []string{"--ro", filepath.Join(state, "scupper")}
				w.attack(command("true")).wantFailure().wantStderr("state").farSideNothing().looked[theLog] = true
			}
			if len(prints) != 4 || prints["one first"] != prints["one second"] || prints["one first"] == prints["other first"] {
				t.Errorf("fingerprints %v", prints)
			}
		})
	}
}

// TestKeyInPath: CRED-01, EXF-08, where some services have keys in paths, a variable takes
// none; nor is one in the log of what is refused for another reason.
func TestKeyInPath(t *testing.T) {
	const token = "ghp_0123456789abcdefABCDEF0123456789abcd"
	w := newWorld(t, ordinaryUser(t))
	w.policy(strings.Replace(strings.Replace(forge, "%s", "credential = anonymous", 1), "/api/{item}", "/api/{rest...}", 1))
	w.control(keyed(forgeURL)).wantStatus(200).farSide("GET " + forgeURL).wantAllowed(1)
	for _, c := range []struct{ url, reason string }{
		{"https://forge.example.com/api/t/" + token + "/channel", "foreign_credential"}, // as conda has it
		{"https://forge.example.com/api/%67hp_" + token[4:], "foreign_credential"},
		{"https://forge.example.com/-/user/token/" + token, "path_not_granted"}, // as npm has it
	} {
		a := w.attack(keyed(c.url)).refused(403, c.reason)
		b := w.scupper("explain", "last", "--audit", a.audit)
		if text := strings.Split(a.log.String(), "\n"); strings.Contains(strings.Join(text[1:], "\n")+b.stdout, token[8:]) {
			a.errorf("the key is in the log, or explained: %s", b.stdout)
		}
	}
}
