package e2e

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"scupper.dev/scupper/replay/scenario"
	"scupper.dev/scupper/replay/service"
)

// caseFamilies are the families of public reports, and how many each has.
func caseFamilies() map[string]int {
	return map[string]int{
		"DNS": 9, "HOST": 15, "TLS": 9, "HP": 24, "PATH": 14, "CRED": 17, "REDIR": 3, "EXF": 11, "NET": 11, "SBX": 18, "TOOL": 23, "AUD": 10, "USE": 35,
	}
}

// knownCase reports whether a report has this id.
func knownCase(id string) bool {
	family, number, _ := strings.Cut(id, "-")
	n, err := strconv.Atoi(number)
	return err == nil && len(number) == 2 && n >= 1 && n <= caseFamilies()[family]
}

// strangers are the ids that no report has.
func strangers(scenarios []scenario.Scenario) (out []string) {
	for _, s := range scenarios {
		for _, id := range s.Cases {
			if !knownCase(id) {
				out = append(out, fmt.Sprintf("%s: %s", s.Position(), id))
			}
		}
	}
	return out
}

// missing are the ids of families that no scenario has.
func missing(scenarios []scenario.Scenario, families ...string) (out []string) {
	have := make(map[string]bool)
	for _, s := range scenarios {
		for _, id := range s.Cases {
			have[id] = true
		}
	}
	for _, family := range families {
		for n := 1; n <= caseFamilies()[family]; n++ {
			if id := fmt.Sprintf("%s-%02d", family, n); !have[id] {
				out = append(out, id)
			}
		}
	}
	return out
}

// elsewhere are reports of which a scenario cannot be told: they are about starting
// scupper, a port of its own, or answers of an origin, and have tests in this folder.
func elsewhere() []string { return []string{"TLS-05", "TLS-07", "HP-20"} }

// TestPackIsWhole counts what the pack has.
func TestPackIsWhole(t *testing.T) {
	pack, err := scenario.Load([]string{"scenarios"}, scenario.Options{Known: service.Known})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range strangers(pack.Scenarios) {
		t.Errorf("%s is no report", s)
	}
	attacks, jobs, blocks := 0, 0, make(map[string]bool)
	for i := range pack.Scenarios {
		s := &pack.Scenarios[i]
		name, _, _ := strings.Cut(s.Name, "[")
		blocks[name] = true
		if s.Attack() {
			attacks++
			continue
		}
		jobs++
		if s.Expect.Verdict != scenario.Allow {
			t.Errorf("%s: %s is a job, and does not say that it is allowed", s.Position(), s.Name)
		}
	}
	if len(blocks) < 190 || attacks < 150 || jobs < 40 {
		t.Errorf("%d blocks, %d attacks, %d jobs", len(blocks), attacks, jobs)
	}
	for _, id := range missing(pack.Scenarios, "DNS", "HOST", "TLS", "HP", "PATH", "REDIR", "EXF", "NET") {
		if !slices.Contains(elsewhere(), id) {
			t.Errorf("no scenario is about %s", id)
		}
	}
}

// TestStrangers finds ids that no report has, and families that are not whole.
func TestStrangers(t *testing.T) {
	planted := []scenario.Scenario{{Cases: []string{"DNS-01", "DNS-10", "DNS-1", "ABC-01", "HP", "HP-00", "REDIR-03"}}}
	if got := strangers(planted); len(got) != 5 {
		t.Errorf("got %q", got)
	}
	if got := missing(planted, "REDIR"); !slices.Equal(got, []string{"REDIR-01", "REDIR-02"}) {
		t.Errorf("got %q", got)
	}
}
