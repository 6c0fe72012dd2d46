package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"scupper.dev/scupper/probe"
)

func TestDoctorVerdict(t *testing.T) {
	held := probe.Result{Control: probe.Network, Name: "TCP", Came: "ECONNREFUSED"}
	out := probe.Result{Control: probe.Network, Name: "UDP", Came: "got out", Out: true}
	there, absent := fact{Name: "kernel", OK: true, Needed: true}, fact{Name: "bubblewrap", Needed: true, Detail: "not found", Remedy: "install it"}
	for _, c := range []struct {
		name  string
		found checkup
		code  int
		shown string
	}{
		{"all well", checkup{Facts: []fact{there}, Probes: []probe.Result{held}}, 0, "  ok  network  TCP: ECONNREFUSED\n"},
		{"not needed", checkup{Facts: []fact{there, {Name: "IPv6", Detail: "off"}}, Probes: []probe.Result{held}}, 0, "  -   IPv6    off\n"},
		{"missing", checkup{Facts: []fact{there, absent}}, exitEnvironment, "                       -> install it\n"},
		{"out", checkup{Facts: []fact{there}, Probes: []probe.Result{held, out}}, exitDenied, "  OUT  network  UDP: got out\n"},
		{"reached without the probe's knowledge", checkup{Facts: []fact{there}, Probes: []probe.Result{held}, Reached: []string{"TCP listener"}}, exitDenied, "  OUT  seen from outside  TCP listener was reached\n"},
		{"out counts first", checkup{Facts: []fact{absent}, Probes: []probe.Result{out}}, exitDenied, "MISSING"},
	} {
		t.Run(c.name, func(t *testing.T) {
			code := 0
			var known *exitError
			if errors.As(c.found.verdict(), &known) {
				code = known.code
			}
			var b bytes.Buffer
			if err := c.found.write(&b); err != nil || code != c.code || !strings.Contains(b.String(), c.shown) {
				t.Errorf("exit code %d, want %d; %v; %q is not in\n%s", code, c.code, err, c.shown, &b)
			}
		})
	}
}
