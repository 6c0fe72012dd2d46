package policyfile

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"unicode"

	"scupper.dev/scupper/capability"
)

// seeds are the policies of testdata, which have to be there.
func seeds(t testing.TB) [][]byte {
	names, err := filepath.Glob("testdata/*.hcl")
	if err != nil || len(names) < 2 {
		t.Fatalf("seeds in testdata: %v, %v", names, err)
	}
	var out [][]byte
	for _, n := range append(names, examplePath) {
		text, err := os.ReadFile(n)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, text)
	}
	return out
}

// FuzzParse: whatever the text, reading it ends and tells; what is shown cannot drive
// a terminal; with a mistake nothing is granted; the zero request is denied; what was
// formatted stays and means the same; what is printed loads to the same grants.
func FuzzParse(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s)
	}
	for _, s := range []string{goPolicy, limitedGo, aptPolicy, gitPolicy, gitGrant} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		o := files(map[string]string{"package-lock.json": lock})
		file, diags := Parse("policy.hcl", text, o)
		var shown bytes.Buffer
		if err := diags.Write(&shown, false, 80); err != nil {
			t.Fatal(err)
		}
		for _, c := range shown.String() {
			if !unicode.IsPrint(c) && c != '\n' && c != '\t' {
				t.Fatalf("the diagnostics hold %U", c)
			}
		}
		if d := file.Policy.Decide(new(capability.Request)); d.Allowed() {
			t.Fatal("the zero request is allowed")
		}
		if diags.HasErrors() {
			if len(file.Policy.Grants()) > 0 {
				t.Fatal("a policy with a mistake grants something")
			}
			return
		}
		formatted, _ := Format("policy.hcl", text)
		if again, _ := Format("policy.hcl", formatted); !bytes.Equal(again, formatted) {
			t.Fatalf("formatted twice is not formatted once:\n%q\n%q", formatted, again)
		}
		printed := Print(file.Policy.Grants())
		sameGrants(t, printed, formatted, o)
		sameGrants(t, printed, append([]byte("version = 1\n"), printed...), o)
	})
}

func sameGrants(t *testing.T, want, text []byte, o Options) {
	t.Helper()
	file, diags := Parse("policy.hcl", text, o)
	if err := diags.Err(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if got := Print(file.Policy.Grants()); !bytes.Equal(got, want) {
		t.Fatalf("got\n%s\nwant\n%s", got, want)
	}
}

// FuzzLockfile: a lockfile only ever yields packages whose names and versions keep to
// the patterns of the preset.
func FuzzLockfile(f *testing.F) {
	f.Add([]byte(lock))
	f.Fuzz(func(t *testing.T, text []byte) {
		parsed, err := parseNPMLock(text)
		if err != nil {
			return
		}
		packages, _ := parsed.split("npm.example.com")
		for _, n := range packages {
			if !n.valid() {
				t.Fatalf("%+v", n)
			}
		}
	})
}

func BenchmarkLoadExample(b *testing.B) {
	text, err := os.ReadFile(examplePath)
	if err != nil {
		b.Fatal(err)
	}
	benchmarkParse(b, text)
}

func BenchmarkLoadThousandGrants(b *testing.B) {
	var text bytes.Buffer
	text.WriteString("version = 1\n")
	for i := range 1000 {
		writeGrant(&text, i)
	}
	benchmarkParse(b, text.Bytes())
}

func benchmarkParse(b *testing.B, text []byte) {
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, diags := Parse("policy.hcl", text, Options{Now: testTime}); diags.HasErrors() {
			b.Fatal(diags)
		}
	}
}

func writeGrant(w io.Writer, i int) {
	fmt.Fprintf(w, `grant "g%d" {
  reason     = "r"
  owner      = "o"
  host       = "h%d.example.com"
  credential = anonymous
  allow {
    methods = ["GET"]
    path    = "/repos/{owner}/{repo}/issues"
    where   = { owner = "acme" }
    query   = { state = one_of("open", "closed"), page = int }
  }
  limits { requests = 500 }
}
`, i, i)
}
