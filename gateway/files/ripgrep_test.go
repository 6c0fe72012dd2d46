package files

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"
)

// ripgrepVar asks for a comparison with ripgrep over a tree of 1 GiB, which takes a
// minute and is only worth something on a quiet machine: scripts/test --all.
const ripgrepVar = "SCUPPER_RIPGREP"

// source makes text that looks like a program, and has the words of the patterns in it
// now and then.
func source(size int) string {
	random := rand.New(rand.NewPCG(9, 9))
	words := strings.Fields("if err return nil func string range for the context value request name := != { } ( ) x1 i 42 error_text handle_each_one_of_them 555-0199 goto ErrClosed")
	var out strings.Builder
	for out.Len() < size {
		out.WriteString(strings.Repeat("\t", random.IntN(4)))
		for range 1 + random.IntN(12) {
			out.WriteString(words[random.IntN(len(words)-random.IntN(3))] + " ")
		}
		out.WriteString("\n")
	}
	return out.String()
}

type comparison struct {
	pattern string
	fold    bool
	most    float64 // times as long as ripgrep
}

func comparisons() []comparison {
	return []comparison{
		{"handle_absent", false, 3}, {`runtime_[a-z]+Semaphore\(`, false, 3}, {"ErrUnexpected(EOF|End)", false, 3},
		{"handle_absent", true, 15}, {`\b\d{3}-\d{5}\b`, false, 15}, {`\w+_\w+_\w+_\w+_\w+_\w+\(`, false, 15}, {`(foo|bar|baz|qux)quux`, false, 15},
		{`[A-Z][a-z]+Xq[0-9]+`, false, 15}, {`^\s+goto\s+absent$`, false, 15}, {`\pL{40}`, false, 15},
	}
}

func TestRipgrep(t *testing.T) {
	if os.Getenv(ripgrepVar) == "" {
		return // see there
	}
	x := newWorld(t)
	block := source(8 << 20)
	for i := range 128 {
		x.file(fmt.Sprintf("tree/%03d.go", i), block)
	}
	for _, c := range comparisons() {
		ours, theirs, n := x.compare(c)
		if ratio := ours.Seconds() / theirs.Seconds(); ratio > c.most {
			ours, theirs, n = x.compare(c) // once more, on a machine that may be busy
		}
		ratio := ours.Seconds() / theirs.Seconds()
		t.Logf("%-30s %6.3f s, ripgrep %6.3f s: %4.1f times, %d lines", c.pattern, ours.Seconds(), theirs.Seconds(), ratio, n)
		if ratio > c.most {
			t.Errorf("%s takes %.1f times as long as with ripgrep, more than %.0f", c.pattern, ratio, c.most)
		}
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	if memory.HeapSys > 256<<20 {
		t.Errorf("the heap has grown to %d MiB", memory.HeapSys>>20)
	}
}

// compare counts lines in both ways, twice, and returns the better times.
func (x *world) compare(c comparison) (ours, theirs time.Duration, lines int) {
	x.t.Helper()
	ours, theirs = time.Hour, time.Hour
	for range 2 {
		flags := []string{"--count", "--no-filename", "--no-ignore"}
		if c.fold {
			flags = append(flags, "--ignore-case")
		}
		begun := time.Now()
		out, err := exec.Command("rg", append(flags, "--regexp", c.pattern, x.in("tree"))...).Output()
		theirs = min(theirs, time.Since(begun))
		if exit, ok := err.(*exec.ExitError); err != nil && (!ok || exit.ExitCode() != 1) {
			x.t.Fatalf("rg: %v (apt-get install ripgrep)", err)
		}
		begun = time.Now()
		answer, _ := x.grepped(args{"pattern": c.pattern, "ignore_case": c.fold, "path": "tree", "mode": "count", "limit": 5000})
		ours = min(ours, time.Since(begun))
		lines = 0
		for field := range strings.FieldsSeq(string(out)) {
			n := 0
			if _, err := fmt.Sscan(field, &n); err != nil {
				x.t.Fatal(err)
			}
			lines += n
		}
		if answer.Matches != lines {
			x.t.Errorf("%s: %d lines, ripgrep finds %d", c.pattern, answer.Matches, lines)
		}
	}
	return ours, theirs, lines
}

func BenchmarkSearch(b *testing.B) {
	text := source(8 << 20)
	for _, c := range comparisons() {
		b.Run(c.pattern, func(b *testing.B) {
			e, err := newExpression(c.pattern, c.fold, false)
			if err != nil {
				b.Fatal(err)
			}
			s := newSearcher(e, wanted{most: 1 << 30})
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := s.search(b.Context(), strings.NewReader(text)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
