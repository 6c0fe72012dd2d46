package main

import (
	"encoding/json"
	"fmt"
	"io"

	"scupper.dev/scupper/audit"
)

// maxCauses is how many refusals a summary lists.
const maxCauses = 5

// writeSummary says on a few lines what a run did: requests, grants, bytes, refusals
// with their number and cause, and the command that explains one.
func writeSummary(w io.Writer, s audit.Summary) {
	fmt.Fprintf(w, "scupper: %s under %s, %s sent, %s received; %s\n",
		plural(s.Requests, "request"), plural(int64(len(s.Grants)), "grant"), size(s.Sent), size(s.Received), refused(s.Refused))
	for _, r := range s.Limits {
		fmt.Fprintf(w, "  limit %s: %s\n", r.Limit, r.Says)
	}
	for _, control := range s.NotInForce {
		fmt.Fprintf(w, "  not in force: %s\n", control)
	}
	for i, c := range s.Causes {
		if i == maxCauses {
			fmt.Fprintf(w, "  and %s more\n", plural(int64(len(s.Causes)-i), "cause"))
			break
		}
		fmt.Fprintf(w, "  %d x %s: %s\n", c.Count, c.What, c.Reason)
	}
	for _, failure := range s.Unanchored {
		fmt.Fprintf(w, "  %s\n", failure)
	}
	if s.Head != "" {
		fmt.Fprintf(w, "  log head %s\n", s.Head)
	}
	if len(s.Causes) > 0 {
		fmt.Fprintf(w, "  scupper explain %s\n", s.Causes[len(s.Causes)-1].ID)
	}
}

// writeSummaryJSON is the same for programs, on one line.
func writeSummaryJSON(w io.Writer, s audit.Summary) error {
	return json.NewEncoder(w).Encode(s)
}

func refused(n int64) string {
	if n == 0 {
		return "nothing refused"
	}
	return fmt.Sprintf("%d refused", n)
}

func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// size prints bytes with binary units and three digits.
func size(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	value, unit := float64(n), ""
	for _, unit = range []string{"KiB", "MiB", "GiB", "TiB"} {
		value /= 1024
		if value < 1024 {
			break
		}
	}
	return fmt.Sprintf("%.3g %s", value, unit)
}
