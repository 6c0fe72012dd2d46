package difference

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/capability/policyfile"
)

// thousand is a policy of 1,000 grants. Each of the changed ones has one more method;
// on one host all meet each other.
func thousand(t testing.TB, changed func(i int) bool, oneHost bool) *policyfile.File {
	t.Helper()
	var grants []*capability.Grant
	for i := range 1000 {
		host := capability.HostPattern{Name: capability.Host(fmt.Sprintf("h%d.example.com", i%50))}
		if oneHost {
			host = capability.HostPattern{Name: "api.example.com"}
		}
		g := &capability.Grant{
			Name: fmt.Sprintf("g%d", i), Host: host, Port: 443, Scheme: capability.HTTPS,
			Credential: capability.Credential{Mode: capability.Anonymous}, Limits: capability.Limits{Requests: 100},
		}
		for _, path := range []string{"/repos/{owner}/p%d/issues", "/teams/t%d/{x...}"} {
			template, err := capability.ParseTemplate(fmt.Sprintf(path, i), nil)
			if err != nil {
				t.Fatal(err)
			}
			a := &capability.Allow{Methods: []string{"GET"}, Path: template}
			if changed(i) {
				a.Methods = []string{"GET", "HEAD"}
			}
			g.Allows = append(g.Allows, a)
		}
		grants = append(grants, g)
	}
	p, err := capability.Compile(grants, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &policyfile.File{Name: "p.hcl", Policy: p}
}

func none(int) bool   { return false }
func all(int) bool    { return true }
func some(i int) bool { return i%100 == 0 }

// processorTime is what this process has used: others on the machine do not count.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestThousand compares policies of 1,000 grants, and logs the processor time; a comparison
// whose cost grows with the square of the grants would not come to an end.
func TestThousand(t *testing.T) {
	for _, c := range []struct {
		name    string
		changed func(int) bool
		oneHost bool
		sets    int
	}{{"nothing changed", none, false, 0}, {"ten changed", some, false, 20}, {"all changed", all, false, 2000}, {"all changed on one host", all, true, 2000}} {
		t.Run(c.name, func(t *testing.T) {
			old, changed := thousand(t, none, c.oneHost), thousand(t, c.changed, c.oneHost)
			began := processorTime(t)
			r := between(t, old, changed)
			t.Log(processorTime(t) - began)
			if len(r.Wider) != c.sets || len(r.Narrower) > 0 || len(r.Limits) > 0 {
				t.Errorf("%d sets wider, %d narrower, %d limits; want %d, 0, 0", len(r.Wider), len(r.Narrower), len(r.Limits), c.sets)
			}
		})
	}
}
