package sandbox

import (
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the checked-in seccomp filter")

const filterFile = "filter_amd64.go"

// TestSeccompProgramIsCurrent rebuilds the filter from the rules and compares.
func TestSeccompProgramIsCurrent(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		return
	}
	built, err := buildFilter(false)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	text.WriteString("package sandbox\n\n// compiledFilter is made from the rules by go generate: one struct sock_filter after the other, in hexadecimal.\nconst compiledFilter = \"\"")
	for rest := built; len(rest) > 0; rest = rest[min(64, len(rest)):] {
		fmt.Fprintf(&text, " +\n\t%q", hex.EncodeToString(rest[:min(64, len(rest))]))
	}
	text.WriteString("\n")
	if *update {
		if err := os.WriteFile(filterFile, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	checkedIn, err := os.ReadFile(filterFile)
	if err != nil {
		t.Fatal(err)
	}
	if text.String() != string(checkedIn) {
		t.Errorf("%s is not what the rules say; run go generate ./sandbox", filterFile)
	}
}
