package policyfile

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSandbox(t *testing.T) {
	policy := "version = 1\nsandbox {\n memory = \"256MiB\"\n cpus = 1.5\n processes = 512\n time = \"1h30m\"\n scratch = \"2GiB\"\n output = \"64KiB\"\n}\n"
	want := Sandbox{Memory: 256 << 20, CPUs: 1.5, Processes: 512, Time: 90 * time.Minute, Scratch: 2 << 30, Output: 64 << 10}
	if diff := cmp.Diff(load(t, policy, Options{}).Sandbox, want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
	if got := load(t, "version = 1\nsandbox {\n}\n", Options{}).Sandbox; got != (Sandbox{}) {
		t.Errorf("an empty block asks for %+v", got)
	}
}

func TestSandboxMistakes(t *testing.T) {
	for line, want := range map[string]string{
		`memory = "4"`:                    `error: "4" is not a size`,
		`memory = "lots"`:                 `error: "lots" is not a size`,
		`memory = 4`:                      `error: not a string`,
		`memory = "-1GiB"`:                `error: "-1GiB" is not a size`,
		`memory = "99999999999GiB"`:       `is not a size`,
		`cpus = 0`:                        `error: not a number of processors`,
		`cpus = -1`:                       `error: not a number of processors`,
		`cpus = "2"`:                      `error: not a number of processors`,
		`cpus = 1e300`:                    `error: not a number of processors`,
		`cpus = 0.001`:                    `error: not a number of processors`,
		`processes = 0`:                   `error: not a number in range`,
		`processes = 1.5`:                 `error: not a number in range`,
		`time = "0s"`:                     `error: "0s" is not a time of a second or more`,
		`time = "soon"`:                   `error: "soon" is not a time`,
		`time = "-5m"`:                    `is not a time`,
		`disk = "1GiB"`:                   `error: unsupported argument`,
		"memory = \"1GiB\"\n}\nsandbox {": `error: a second sandbox block`,
	} {
		file, diags := Parse("policy.hcl", []byte("version = 1\nsandbox {\n "+line+"\n}\n"), Options{})
		if got := diags.Error(); !strings.Contains(strings.ToLower(got), strings.ToLower(strings.TrimPrefix(want, "error: "))) || diags.HasErrors() != (want != "") {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
		if diags.HasErrors() && file.Sandbox != (Sandbox{}) {
			t.Errorf("%s: something of it holds: %+v", line, file.Sandbox)
		}
	}
}

func TestSize(t *testing.T) {
	for text, want := range map[string]int64{"1B": 1, "64KiB": 64 << 10, "4GiB": 4 << 30, "1GB": 1e9, "": 0, "GiB": 0, "1TiB": 0, "1.5GiB": 0, "0B": 0} {
		if got, err := Size(text); got != want || (err != nil) != (want == 0) {
			t.Errorf("%q: got %d, %v, want %d", text, got, err, want)
		}
	}
}
