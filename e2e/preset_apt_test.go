package e2e

import (
	"fmt"
	"strings"
	"testing"
)

const aptPolicy = `version = 1

use "apt" {
  mirror        = "SCHEME://deb.example.com/debian"
  suites        = ["bookworm"]
  components    = ["main"]
  architectures = ["amd64", "all"]
}
`

// aptConfig keeps everything of apt in the work folder, where no privileges are
// needed.
const aptConfig = `Dir "WORK/apt";
Dir::State::status "WORK/apt/status";
APT::Architecture "amd64";
APT::Architectures { "amd64"; };
`

// aptProject prepares apt's folders; scripts begin with its configuration.
func aptProject(w *world, scheme string) (begin string) {
	w.t.Helper()
	w.work("apt.conf", strings.ReplaceAll(aptConfig, "WORK", w.at("work")))
	w.work("sources.list", "deb [trusted=yes] "+scheme+"://"+archiveHost+"/debian bookworm main\n")
	const folders = "apt/etc/apt/sources.list.d apt/etc/apt/preferences.d apt/etc/apt/apt.conf.d apt/var/lib/apt/lists/partial apt/var/cache/apt/archives/partial"
	w.direct(shell("mkdir -p " + folders + " && touch apt/status && cp sources.list apt/etc/apt/")).wantExit(0)
	return "export APT_CONFIG=" + w.at("work/apt.conf") + "; "
}

// TestPresetApt updates, downloads several packages over one connection and unpacks
// them, with indexes by hash and by name.
func TestPresetApt(t *testing.T) {
	ordinary := users(t)[0]
	type archive struct {
		user   user
		scheme string
		byHash bool
	}
	cases := []archive{{ordinary, "http", false}, {ordinary, "https", true}}
	for _, u := range users(t) {
		cases = append(cases, archive{u, "http", true})
	}
	for _, c := range cases {
		t.Run(fmt.Sprintf("USE-21 %s, by hash %t, %s", c.scheme, c.byHash, c.user.name), func(t *testing.T) {
			site := c.scheme + "://" + archiveHost
			w := newWorld(t, c.user)
			w.policy(strings.Replace(aptPolicy, "SCHEME", c.scheme, 1))
			startArchive(w, debPackages(), c.byHash)
			begin := aptProject(w, c.scheme)
			a := w.control(shell(begin + "apt-get update && apt-get download hello libgreet++ words-all && for f in *.deb; do dpkg-deb -x $f out; done && cat out/usr/share/doc/*/README")).
				wantStdout("this is hello\nthis is libgreet++\nthis is words-all")
			if n := len(a.log.allowed("http")); n != len(a.received) || len(httpDenials(a)) != 0 {
				t.Errorf("%d requests allowed and %d arrived, denied:\n%s", n, len(a.received), httpDenials(a))
			}
			var asked []string
			for _, e := range a.received {
				asked = append(asked, e.URI)
				if e.TLS != (c.scheme == "https") || e.Header.Get("User-Agent") != "apt (scupper)" || e.Header.Get("If-Modified-Since") != "" {
					t.Errorf("%s with %v", e.URI, e.Header)
				}
			}
			got := strings.Join(asked, "\n")
			if strings.Contains(got, "/by-hash/SHA256/") != c.byHash {
				t.Errorf("asked for\n%s", got)
			}
			if want := "/debian/pool/main/libg/libgreet%2B%2B/libgreet%2B%2B_2.0~rc1%2Bb1_all.deb"; !strings.Contains(got, want) {
				t.Errorf("%s is not among\n%s", want, got)
			}
			// A second time apt asks whether anything has changed.
			w.control(shell(begin + "apt-get update && rm hello* && apt-get download hello")).wantStdout("Reading package lists")

			other := w.attack(shell(begin + "sed -i s/bookworm/sid/ apt/etc/apt/sources.list && apt-get update || exit 9")).wantExit(9).farSideNothing()
			if n := len(other.log.allowed("http")); n != 0 || len(httpDenials(other)) == 0 {
				t.Errorf("another suite: %d requests allowed, %d denied", n, len(httpDenials(other)))
			}
			w.attack(curl(site+"/debian/dists/sid/InRelease")).refused(403, "path_not_granted")
			w.attack(curl(site+"/debian/pool/main/h/hello/hello_"+strings.Repeat("c2VjcmV0", 9)+"_all.deb")).refused(403, "path_not_granted")
			w.attack(curl("-T", "apt.conf", site+"/debian/"+debPackages()[0].pool())).refused(403, "method_not_granted")
			w.attack(curl(site+"/debian/dists/bookworm/Release?x=secret")).refused(403, "query_not_granted")
		})
	}
}

// httpDenials leaves out that apt asks for SRV records, which are never relayed.
func httpDenials(a *attempt) auditLog {
	a.looked[theLog] = true
	return a.log.decisions(func(r record) bool { return r.Kind == "http" && r.Verdict != "allow" })
}
