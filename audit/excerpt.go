package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// maxExcerptLines is how many lines of a policy are shown around one position.
const maxExcerptLines = 16

// PolicyLine is a line of a policy.
type PolicyLine struct {
	Number int    `json:"line"` // 0: lines were left out here
	Text   string `json:"text"`
	Here   bool   `json:"here,omitempty"` // the position is in it
}

// String is the line with its number, as excerpts are printed.
func (l PolicyLine) String() string {
	if l.Number == 0 {
		return "    ..."
	}
	mark := " "
	if l.Here {
		mark = ">"
	}
	return fmt.Sprintf("%s%4d  %s", mark, l.Number, strings.ReplaceAll(l.Text, "\t", "  "))
}

// PolicyText is the text of the policy with that hash as it was kept with a run. An
// error means that there is none to be believed.
func PolicyText(dir, run, hash string) ([]byte, error) {
	if !isRun(run) || hash == "" || strings.Trim(hash, hexDigits) != "" {
		return nil, errors.New("the record does not say which policy it was")
	}
	text, err := readPlain(policyFile(dir, run, hash))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("the policy text is not beside the log any more")
	}
	if err != nil {
		return nil, fmt.Errorf("read the policy text: %w", err)
	}
	if digestOf(text) != hash {
		return nil, errors.New("the policy text beside the log is not the one on record: it was changed afterwards")
	}
	return text, nil
}

// quote takes from the policy as it was then what stands at e.Position.
func (e *Explanation) quote(dir, run string) {
	text, err := PolicyText(dir, run, e.Hash)
	if err != nil {
		e.Altered = err.Error()
		return
	}
	e.Kept = policyFile(dir, run, e.Hash)
	file, line, ok := splitPosition(e.Position)
	if ok && filepath.Base(file) == filepath.Base(e.Policy) {
		e.Excerpt = excerpt(string(text), line)
	}
	for _, l := range e.Excerpt {
		if l.Here {
			e.Line = strings.TrimSpace(l.Text)
		}
	}
}

// excerpt is the block that begins in line at, and the first line of the block around
// it. The text is a policy that loaded, which is laid out as usual; where it is not,
// lines are missing or too many, never others.
func excerpt(text string, at int) []PolicyLine {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if at < 1 || at > len(lines) {
		return nil
	}
	line := func(n int) PolicyLine {
		return PolicyLine{Number: n, Text: capped(strings.TrimRight(lines[n-1], " \t\r"), maxSentence), Here: n == at}
	}
	var out []PolicyLine
	if head := around(lines, at); head > 0 {
		out = append(out, line(head))
		if head < at-1 {
			out = append(out, PolicyLine{})
		}
	}
	end := blockEnd(lines, at)
	for n := at; n <= end; n++ {
		if n-at == maxExcerptLines {
			return append(out, PolicyLine{})
		}
		out = append(out, line(n))
	}
	return out
}

// around is the line in which the outermost block around line at begins; 0: none.
func around(lines []string, at int) int {
	if indent(lines[at-1]) == 0 {
		return 0
	}
	for n := at - 1; n >= 1; n-- {
		if l := lines[n-1]; l != "" && indent(l) == 0 && strings.HasSuffix(strings.TrimSpace(l), "{") {
			return n
		}
	}
	return 0
}

// blockEnd is the last line of the block that begins in line at.
func blockEnd(lines []string, at int) int {
	first := lines[at-1]
	if !strings.HasSuffix(strings.TrimSpace(first), "{") {
		return at
	}
	for n := at + 1; n <= len(lines); n++ {
		if l := lines[n-1]; strings.HasPrefix(strings.TrimSpace(l), "}") && indent(l) <= indent(first) {
			return n
		}
	}
	return at
}

func indent(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }
