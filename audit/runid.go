package audit

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	runTime   = "20060102t150405"
	runRandom = 6
	runLength = len(runTime) + 1 + runRandom
)

// makeRun makes the directory of a new run and returns its ID. IDs sort by time, and
// who knows one does not know the next.
func makeRun(dir string, now time.Time) (id string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make audit directory: %w", err)
	}
	for range 8 {
		id = now.UTC().Format(runTime) + "-" + strings.ToLower(rand.Text()[:runRandom])
		err = os.Mkdir(filepath.Join(dir, id), 0o700)
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return "", fmt.Errorf("make run directory: %w", err)
	}
	return id, nil
}

// splitID takes a decision's ID apart. An ID that names only a run has seq 0. What
// comes back is safe in a file name.
func splitID(id string) (run string, seq int64, err error) {
	if len(id) < runLength || !isRun(id[:runLength]) {
		return "", 0, fmt.Errorf("%s is not the ID of a run or a decision", Printable(id))
	}
	run, rest := id[:runLength], id[runLength:]
	if rest == "" {
		return run, 0, nil
	}
	if _, err := fmt.Sscanf(rest, "-%d", &seq); err != nil || seq < 1 || rest != fmt.Sprintf("-%d", seq) {
		return "", 0, fmt.Errorf("%s is not the ID of a decision", Printable(id))
	}
	return run, seq, nil
}

// IsRun reports whether s has the form of a run's ID.
func IsRun(s string) bool { return isRun(s) }

func isRun(s string) bool {
	if len(s) != runLength || s[len(runTime)] != '-' {
		return false
	}
	if _, err := time.Parse(runTime, s[:len(runTime)]); err != nil {
		return false
	}
	return strings.Trim(s[len(runTime)+1:], "abcdefghijklmnopqrstuvwxyz234567") == ""
}
