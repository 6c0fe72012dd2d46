package policyfile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"scupper.dev/scupper/capability"
)

const aptPolicy = `version = 1
use "apt" {
  mirror     = "http://deb.example.com/debian"
  suites     = ["bookworm", "bookworm-security"]
  components = ["main"]
  sources    = true
}
`

func TestApt(t *testing.T) {
	const at = "GET http://deb.example.com"
	h64 := strings.Repeat("0123456789abcdef", 4)
	same := func(paths ...string) map[string]string {
		out := make(map[string]string)
		for _, p := range paths {
			out[at+p] = p
		}
		return out
	}
	want := same("/debian/dists/bookworm/InRelease", "/debian/dists/bookworm-security/Release", "/debian/dists/bookworm/Release.gpg",
		"/debian/dists/bookworm/main/binary-amd64/by-hash/SHA256/"+h64, "/debian/dists/bookworm/main/binary-all/by-hash/SHA512/"+h64+h64,
		"/debian/dists/bookworm/main/i18n/by-hash/SHA256/"+h64, "/debian/dists/bookworm/main/source/by-hash/SHA256/"+h64,
		"/debian/dists/bookworm/main/binary-amd64/Packages.xz", "/debian/dists/bookworm/main/binary-amd64/Packages",
		"/debian/dists/bookworm/main/source/Sources.gz", "/debian/dists/bookworm/main/i18n/Translation-en.bz2", "/debian/dists/bookworm/main/i18n/Translation-pt_BR.xz",
		"/debian/dists/bookworm/main/dep11/Components-amd64.yml.xz", "/debian/dists/bookworm/main/cnf/Commands-amd64.xz",
		"/debian/pool/main/libz/libzstd/libzstd1_1.5.4_amd64.deb", "/debian/pool/updates/main/o/openssl/openssl_3.0.1-1_all.deb",
		"/debian/pool/main/h/hello/hello_2.10-3.dsc", "/debian/pool/main/h/hello/hello_2.10.orig.tar.gz", "/debian/pool/main/h/hello/hello_2.10.orig.tar.gz.asc",
		"/debian/pool/main/h/hello/hello_2.10-3.debian.tar.xz", "/debian/pool/main/h/hello/hello_1.0.tar.xz", "/debian/pool/main/h/hello/hello_2.10-3.diff.gz")
	want[at+"/debian/pool/main/g/gcc-12/g%2b%2b_12.2.0-3%7edeb12u2_amd64.deb"] = "/debian/pool/main/g/gcc-12/g%2B%2B_12.2.0-3~deb12u2_amd64.deb"
	want[at+"/debian/pool/main/g/gcc-12/g++_12.2.0-3~deb12u2_amd64.deb"] = "/debian/pool/main/g/gcc-12/g%2B%2B_12.2.0-3~deb12u2_amd64.deb"
	targets(t, load(t, aptPolicy, Options{}).Policy, want)
}

func TestAptNeighbours(t *testing.T) {
	const at = "GET http://deb.example.com/debian"
	h64 := strings.Repeat("0123456789abcdef", 4)
	p := load(t, aptPolicy, Options{}).Policy
	denied(t, p, []neighbour{
		{"another suite", at + "/dists/sid/InRelease", capability.PathNotGranted, nil},
		{"another component", at + "/dists/bookworm/contrib/binary-amd64/Packages.xz", capability.PathNotGranted, nil},
		{"another architecture", at + "/dists/bookworm/main/binary-secret/Packages.xz", capability.PathNotGranted, nil},
		{"MD5", at + "/dists/bookworm/main/binary-amd64/by-hash/MD5Sum/" + h64[:32], capability.PathNotGranted, nil},
		{"a hash of text", at + "/dists/bookworm/main/binary-amd64/by-hash/SHA256/secret", capability.PathNotGranted, nil},
		{"capital hash", at + "/dists/bookworm/main/binary-amd64/by-hash/SHA256/" + strings.ToUpper(h64), capability.PathNotGranted, nil},
		{"a changelog", at + "/dists/bookworm/ChangeLog", capability.PathNotGranted, nil},
		{"package lists by day", at + "/dists/bookworm/main/binary-amd64/Packages.diff/Index", capability.PathNotGranted, nil},
		{"installer images", at + "/dists/bookworm/main/installer-amd64/current/images/netboot/mini.iso", capability.PathNotGranted, nil},
		{"a file beside a package", at + "/pool/main/h/hello/README", capability.PathNotGranted, nil},
		{"a package without a version", at + "/pool/main/h/hello/hello_amd64.deb", capability.PathNotGranted, nil},
		{"a prefix of text", at + "/pool/main/secret/hello/hello_1_amd64.deb", capability.PathNotGranted, nil},
		{"an endless version", at + "/pool/main/h/hello/hello_" + strings.Repeat("1", 53) + "_amd64.deb", capability.PathNotGranted, nil},
		{"a folder deeper", at + "/pool/main/h/hello/x/hello_1_amd64.deb", capability.PathNotGranted, nil},
		{"a list of files", at + "/pool/main/h/hello/", capability.PathNotGranted, nil},
		{"another folder of the host", "GET http://deb.example.com/secret/dists/bookworm/InRelease", capability.PathNotGranted, nil},
		{"a query", at + "/dists/bookworm/InRelease?x=secret", capability.QueryNotGranted, nil},
		{"an upload", "PUT http://deb.example.com/debian/pool/main/h/hello/hello_1_amd64.deb", capability.MethodNotGranted, withBody("application/octet-stream", "")},
		{"a credential", at + "/dists/bookworm/InRelease", capability.ForeignCredential, withHeader("Authorization", "Basic eA==")},
		{"https", "GET https://deb.example.com/debian/dists/bookworm/InRelease", capability.PortNotGranted, nil},
	})
	binary := load(t, strings.Replace(aptPolicy, "sources    = true", "", 1), Options{}).Policy
	denied(t, binary, []neighbour{{"sources, not asked for", at + "/pool/main/h/hello/hello_2.10-3.dsc", capability.PathNotGranted, nil}})
}

// TestAptHeaders: what apt says of files that it has does not go on.
func TestAptHeaders(t *testing.T) {
	r, err := request(t, "GET http://deb.example.com/debian/dists/bookworm/InRelease")
	if err != nil {
		t.Fatal(err)
	}
	r.Header = map[string][]string{
		"Accept": {"text/*"}, "User-Agent": {"Debian APT-HTTP/1.3 (2.6.1)"}, "Cache-Control": {"max-age=0"},
		"If-Modified-Since": {"secret"}, "Range": {"bytes=5-"}, "If-Range": {"secret"},
	}
	got, stripped := load(t, aptPolicy, Options{}).Policy.Decide(r).Header(r)
	want := map[string][]string{"Accept": {"*/*"}, "Accept-Encoding": {"identity"}, "User-Agent": {"apt (scupper)"}}
	if diff := cmp.Diff(got, want); diff != "" || stripped != 4 {
		t.Errorf("stripped %d, got -, want +:\n%s", stripped, diff)
	}
}
