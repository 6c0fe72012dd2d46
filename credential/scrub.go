package credential

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Places of env_start and env_end among the fields of /proc/PID/stat that follow the
// name of the command (proc_pid_stat(5)).
const (
	envStart = 50 - 3
	envEnd   = 51 - 3
)

var errStat = errors.New("the fields of /proc/self/stat are not as expected")

// Scrub takes variables out of the environment of this process: out of what children
// inherit, and out of the memory that the kernel shows as /proc/PID/environ for as long
// as the process lives.
func Scrub(names ...string) error {
	for _, name := range names {
		if err := os.Unsetenv(name); err != nil {
			return fmt.Errorf("unset %s: %w", name, err)
		}
	}
	start, length, err := environment()
	if err != nil {
		return fmt.Errorf("find the environment in memory: %w", err)
	}
	mem, err := os.OpenFile("/proc/self/mem", os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("scrub the environment: %w", err)
	}
	defer mem.Close()
	text := make([]byte, length)
	if _, err := mem.ReadAt(text, start); err != nil {
		return fmt.Errorf("read the environment: %w", err)
	}
	if _, err := mem.WriteAt(scrubbed(text, names), start); err != nil {
		return fmt.Errorf("scrub the environment: %w", err)
	}
	return nil
}

// environment is where the kernel put it, and how long it is.
func environment() (start, length int64, err error) {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0, 0, err
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) <= envEnd {
		return 0, 0, errStat
	}
	start, err1 := strconv.ParseInt(fields[envStart], 10, 64)
	end, err2 := strconv.ParseInt(fields[envEnd], 10, 64)
	if err1 != nil || err2 != nil || start <= 0 || end < start || end-start > 64<<20 {
		return 0, 0, errStat
	}
	return start, end - start, nil
}

// scrubbed is text with the values of the variables overwritten, its length as it was.
func scrubbed(text []byte, names []string) []byte {
	at := 0
	for entry := range bytes.SplitSeq(text, []byte{0}) {
		name, value, ok := bytes.Cut(entry, []byte{'='})
		if ok && slices.Contains(names, string(name)) {
			for i := range value {
				text[at+len(name)+1+i] = 'x'
			}
		}
		at += len(entry) + 1
	}
	return text
}
