package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// machine says when and on what the figures were taken.
func machine() string {
	return fmt.Sprintf("Measured %s on %d cores (%s), Linux %s, %s, %s, as %s.\n",
		time.Now().UTC().Format("2006-01-02 15:04 UTC"), runtime.NumCPU(), processor(), kernel(), runtime.Version(), bwrapVersion(), who())
}

func who() string {
	if os.Geteuid() == 0 {
		return "root"
	}
	return "an ordinary user"
}

func kernel() string {
	var name unix.Utsname
	if unix.Uname(&name) != nil {
		return "of an unknown release"
	}
	return unix.ByteSliceToString(name.Release[:])
}

func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

func bwrapVersion() string {
	out, err := exec.Command("bwrap", "--version").Output()
	if err != nil {
		return "no bubblewrap"
	}
	return strings.TrimSpace(string(out))
}
