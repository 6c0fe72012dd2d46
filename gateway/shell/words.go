package shell

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// starter is a command that starts the one in its arguments.
type starter struct {
	before int    // how many arguments stand in front of that
	valued string // options that have a value in the next word
}

func starters() map[string]starter {
	return map[string]starter{
		"env": {0, "-u --unset -C --chdir"}, "command": {}, "builtin": {}, "exec": {0, "-a"}, "nohup": {}, "setsid": {}, "time": {0, "-f -o"},
		"xargs": {0, "-a -d -E -I -L -n -P -s"}, "nice": {0, "-n"}, "ionice": {0, "-c -n"}, "timeout": {1, "-k -s"}, "stdbuf": {0, "-i -o -e"},
		"sudo": {0, "-u -g -h -p -C -r -t -T -U -D -R"}, "doas": {0, "-u -C"}, "busybox": {}, "toybox": {}, "chroot": {1, ""}, "unshare": {}, "strace": {0, "-e -o -p -s"},
		"parallel": {0, "-j"}, "watch": {0, "-n"}, "flock": {1, "-w -E"}, "taskset": {1, ""}, "script": {}, "unbuffer": {},
	}
}

// started is the command that another one starts with its arguments; empty: none.
func (f *finder) started(name string, args []string) []string {
	if name == "find" || name == "fd" {
		return executed(args)
	}
	s, ok := f.starters[name]
	if !ok {
		return nil
	}
	rest := behindOptions(args, strings.Fields(s.valued))
	if name == "env" {
		rest = behindAssignments(rest)
	}
	return rest[min(s.before, len(rest)):]
}

// executed is what find executes.
func executed(args []string) []string {
	at := slices.IndexFunc(args, func(a string) bool {
		return slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir", "-x", "-X"}, a)
	})
	if at < 0 {
		return nil
	}
	return args[at+1:]
}

// scripts are those that a command is given to run: of a shell's -c, eval, env -S.
func scripts(name string, args []string) []string {
	switch {
	case name == "eval":
		return []string{strings.Join(args, " ")}
	case slices.Contains([]string{"sh", "bash", "dash", "zsh", "ksh", "ash"}, name):
		return optionValue(args, func(a string) bool {
			return strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.HasSuffix(a, "c")
		})
	case name == "env":
		return optionValue(args, func(a string) bool { return a == "-S" || a == "--split-string" })
	case name == "su" || name == "script":
		return optionValue(args, func(a string) bool { return a == "-c" })
	}
	return nil
}

// optionValue is the first word behind an option that is no option itself.
func optionValue(args []string, is func(string) bool) []string {
	at := slices.IndexFunc(args, is)
	if at < 0 {
		return nil
	}
	for _, a := range args[at+1:] {
		if a != "--" {
			return []string{a}
		}
	}
	return nil
}

// behindOptions are the arguments from the first that is neither an option nor the value
// of one.
func behindOptions(args, valued []string) []string {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		option := args[0]
		args = args[1:]
		if option == "--" {
			break
		}
		if slices.Contains(valued, option) {
			args = args[min(1, len(args)):]
		}
	}
	return args
}

func behindAssignments(args []string) []string {
	for len(args) > 0 && strings.Contains(args[0], "=") {
		args = args[1:]
	}
	return args
}

// valued are the options of commands with subcommands that have a value in the next word.
func valued(name string) []string {
	switch path.Base(name) {
	case "git":
		return []string{"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path"}
	case "docker", "podman":
		return []string{"-H", "--host", "--context", "-l", "--log-level"}
	case "npm":
		return []string{"--prefix", "--registry", "-w", "--workspace"}
	}
	return nil
}

// unescaped resolves backslashes as the shell does; in double quotes they mean something
// in front of few characters only.
func unescaped(s string, quoted bool) string {
	if !strings.Contains(s, "\\") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) || quoted && !strings.ContainsRune("$`\"\\\n", rune(s[i+1])) {
			b.WriteByte(s[i])
			continue
		}
		if i++; s[i] != '\n' {
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// ansi resolves the escapes of $'...', of which Go's strings have nearly all.
func ansi(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, multibyte, rest, err := strconv.UnquoteChar(octal(s), 0)
		switch {
		case err != nil:
			b.WriteByte(s[0])
			s = s[1:]
		case multibyte || r < 0x80:
			b.WriteRune(r)
			s = rest
		default:
			b.WriteByte(byte(r))
			s = rest
		}
	}
	return b.String()
}

// octal pads an octal escape at the beginning of s to the three digits of Go's strings.
func octal(s string) string {
	if len(s) < 2 || s[0] != '\\' || s[1] < '0' || s[1] > '7' {
		return s
	}
	digits := 1
	for digits < 3 && 1+digits < len(s) && s[1+digits] >= '0' && s[1+digits] <= '7' {
		digits++
	}
	return `\` + strings.Repeat("0", 3-digits) + s[1:]
}
