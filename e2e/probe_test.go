package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
)

// try is one line that testdata/probe.py prints.
type try struct {
	What string  `json:"what"`
	Came string  `json:"came"`
	MS   float64 `json:"ms"`
}

// probe is a Python script with the functions of testdata/probe.py.
func (w *world) probe(script string) client {
	w.t.Helper()
	functions, err := os.ReadFile("testdata/probe.py")
	if err != nil {
		w.t.Fatal(err)
	}
	w.work("probe.py", string(functions))
	return python("from probe import *\n"+script, false)
}

func (a *attempt) tries() []try {
	a.t.Helper()
	var all []try
	for line := range strings.Lines(a.stdout) {
		var t try
		if err := json.Unmarshal([]byte(line), &t); err != nil {
			a.errorf("%v in %q", err, line)
		}
		all = append(all, t)
	}
	return all
}

// wantTries looks for exactly these tries in this order, each written as
// "what: what came of it".
func (a *attempt) wantTries(want ...string) *attempt {
	a.t.Helper()
	a.wantExit(0)
	var got []string
	for _, t := range a.tries() {
		got = append(got, t.What+": "+t.Came)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		a.errorf("other things came of the tries (-want +got):\n%s", diff)
	}
	return a
}

// eachWithin looks at how long each try took, as measured inside.
func (a *attempt) eachWithin(limit time.Duration) *attempt {
	a.t.Helper()
	for _, t := range a.tries() {
		if took := time.Duration(t.MS * float64(time.Millisecond)); took > limit {
			a.errorf("%s took %v, want at most %v", t.What, took, limit)
		}
	}
	return a
}

// wantDenials looks for exactly these denials in the log, in any order. Each is the
// kind, the reason, and what was attempted:
//
//	name no_grant evil.example.net
//	packet port_not_granted tcp 198.51.100.9:22
//	connect address_not_granted 198.51.100.9:443
//	http method_not_granted PUT api.example.com /public/a
func (a *attempt) wantDenials(want ...string) *attempt {
	a.t.Helper()
	a.looked[theLog] = true
	got := []string{}
	for _, d := range a.log.denials() {
		got = append(got, d.denial())
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(append([]string{}, want...), got); diff != "" {
		a.errorf("other denials in the log (-want +got):\n%s", diff)
	}
	return a
}

// denial is r as wantDenials writes it.
func (r record) denial() string {
	what := r.Host
	switch r.Kind {
	case "packet":
		what = r.Protocol + " " + endpoint(r.Address, r.Port)
	case "connect":
		what = endpoint(r.Host, r.Port)
	case "http":
		what = strings.Join([]string{r.Method, r.Host, r.Path}, " ")
	}
	return strings.TrimSpace(r.Kind + " " + r.Reason + " " + strings.TrimSpace(what))
}

func endpoint(host string, port uint16) string {
	switch {
	case host == "" && port == 0:
		return ""
	case strings.Contains(host, ":"):
		host = "[" + host + "]"
	}
	return fmt.Sprintf("%s:%d", host, port)
}

// wantPackets looks for n denied packets in the log, the counted ones included.
func (a *attempt) wantPackets(n int64) *attempt {
	a.t.Helper()
	a.looked[theLog] = true
	packet, got := map[string]bool{}, int64(0)
	for _, r := range a.log {
		switch {
		case r.Event == "decision" && r.Kind == "packet" && r.Verdict == "deny":
			packet[r.ID] = true
			got++
		case r.Event == "repeated" && packet[r.Decision]:
			got += r.Count
		}
	}
	if got != n {
		a.errorf("%d packets in the log, want %d", got, n)
	}
	return a
}
