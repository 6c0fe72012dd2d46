package sandbox

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"scupper.dev/scupper/audit"
)

// Exit codes of runs that a limit ended: what a shell says of a command that was killed, and what timeout(1) says.
const (
	exitKilled   = 137
	exitOvertime = 124
)

// statusReader collects what bubblewrap reports about the command.
type statusReader struct {
	done     chan struct{}
	exitCode *int // nil until the command has ended
}

// readStatus reads JSON lines until every writer is gone, and closes the file.
func readStatus(f *os.File) *statusReader {
	s := &statusReader{done: make(chan struct{})}
	go func() {
		defer close(s.done)
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			var line struct {
				ExitCode *int `json:"exit-code"`
			}
			if json.Unmarshal(lines.Bytes(), &line) == nil && line.ExitCode != nil {
				s.exitCode = line.ExitCode
			}
		}
	}()
	return s
}

func (s *statusReader) wait() { <-s.done }

// outcome tells the command's end from bubblewrap's own failure: only the former is reported through the status pipe.
func (c *Cage) outcome() (int, error) {
	c.status.wait()
	// Whatever was left of it may have ended by itself in between.
	if slices.ContainsFunc(c.reached, func(r audit.Reached) bool { return r.Ended }) {
		return exitKilled, nil
	}
	if c.status.exitCode != nil {
		return *c.status.exitCode, nil
	}
	said := strings.TrimSpace(c.io.tail.String())
	failed := &Error{Code: ExitSandbox, Doing: "run the sandbox"}
	switch {
	case strings.Contains(said, "bwrap:"):
		failed.Err = errors.New(said)
	default:
		failed.Err = fmt.Errorf("bubblewrap ended without a report: %v", c.process.state)
	}
	return failed.Code, failed
}
