package sandbox

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
	"gvisor.dev/gvisor/pkg/bpf"
	"gvisor.dev/gvisor/pkg/seccomp"
)

//go:generate go test -run TestSeccompProgramIsCurrent -update

// Answers to calls that are not let through.
const (
	allowed      = seccomp.Allow
	notPermitted = unix.EPERM
	absent       = unix.ENOSYS // what a program takes for an older kernel, and does without
)

// seccompFile returns the filter in the form bubblewrap wants: the kernel's struct sock_filter, one after the other.
func seccompFile(nested bool) (*os.File, error) {
	program, err := chosenFilter(nested)
	if err != nil {
		return nil, err
	}
	f, err := inMemory("seccomp")
	if err != nil {
		return nil, err
	}
	return f, fill(f, program)
}

// chosenFilter is the usual filter, or the one that lets user namespaces be made.
func chosenFilter(nested bool) ([]byte, error) {
	if nested {
		return buildFilter(true)
	}
	return filterProgram()
}

// buildFilter compiles the rules. It takes tens of milliseconds, which is why amd64 has the result checked in.
//
// Every call that this architecture had when the list was made passes, unless a rule says otherwise; later ones, the calls of x32 (their numbers are
// higher) and those of a foreign architecture (int 0x80) do not exist.
func buildFilter(nested bool) ([]byte, error) {
	conditional := conditionalRules(nested)
	passing := seccomp.NewSyscallRules()
	for _, n := range knownSyscalls() {
		passing.Set(n, seccomp.MatchAll{})
	}
	sets := []seccomp.RuleSet{}
	for _, c := range conditional {
		sets = append(sets, seccomp.RuleSet{Rules: rulesFor(c.calls, c.rule), Action: c.action})
	}
	for _, d := range deniedCalls(nested) {
		sets = append(sets, seccomp.RuleSet{Rules: rulesFor(d.calls, seccomp.MatchAll{}), Action: errno(d.answer)})
	}
	program := seccomp.Program{
		RuleSets: append(sets, seccomp.RuleSet{Rules: passing, Action: allowed}),
		Options:  seccomp.ProgramOptions{DefaultAction: errno(absent), BadArchAction: errno(absent)},
	}
	instructions, _, err := program.Build()
	if err != nil {
		return nil, fmt.Errorf("build seccomp filter: %w", err)
	}
	return bpf.ToBytecode(instructions), nil
}

func errno(e unix.Errno) seccomp.Action { return seccomp.ReturnError.Code(uint16(e)) }

func rulesFor(calls []uintptr, rule seccomp.SyscallRule) seccomp.SyscallRules {
	rules := seccomp.NewSyscallRules()
	for _, n := range calls {
		rules.Set(n, rule)
	}
	return rules
}
