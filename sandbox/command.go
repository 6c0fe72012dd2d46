package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// findCommand makes sure, before anything is built, that the sandbox can see and execute the command. bubblewrap would say only that there is none.
func findCommand(name, path, hostPath, workdir string, folders []folder) error {
	if strings.Contains(name, "/") {
		full := name
		if !filepath.IsAbs(full) {
			full = filepath.Join(workdir, name)
		}
		return runnable(name, full, folders)
	}
	var found error
	for _, dir := range filepath.SplitList(path) {
		if full := filepath.Join(dir, name); exists(full) {
			err := runnable(name, full, folders)
			if err == nil {
				return nil
			}
			found = err
		}
	}
	if found != nil {
		return found
	}
	for _, dir := range filepath.SplitList(hostPath) {
		if full := filepath.Join(dir, name); filepath.IsAbs(dir) && executable(full) {
			return invisible(name, full)
		}
	}
	return &Error{Code: ExitNotFound, Doing: fmt.Sprintf("%s: command not found in %s", name, path)}
}

func runnable(name, full string, folders []folder) error {
	if _, err := os.Stat(full); err != nil {
		return &Error{Code: ExitNotFound, Doing: fmt.Sprintf("%s: command not found", name), Err: err}
	}
	if !visible(full, folders) {
		return invisible(name, full)
	}
	if !executable(full) {
		return &Error{Code: ExitNotRunnable, Doing: fmt.Sprintf("%s: %s is not an executable file", name, full), Hint: "chmod +x " + full}
	}
	return interpreter(name, full, folders)
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// interpreter looks at the first line of a script.
func interpreter(name, full string, folders []folder) error {
	f, err := os.Open(full)
	if err != nil {
		return nil // an executable need not be readable
	}
	defer f.Close()
	first := make([]byte, 256)
	n, _ := f.Read(first)
	line, _, _ := strings.Cut(string(first[:n]), "\n")
	words := strings.Fields(strings.TrimPrefix(line, "#!"))
	if !strings.HasPrefix(line, "#!") || len(words) == 0 || visible(words[0], folders) {
		return nil
	}
	return &Error{Code: ExitNotFound, Doing: fmt.Sprintf("%s: its interpreter %s does not exist in the sandbox", name, words[0]),
		Hint: "add --ro " + filepath.Dir(words[0])}
}

func invisible(name, full string) error {
	real := realPath(full)
	what := full
	if real != full {
		what += " (" + real + ")"
	}
	return &Error{Code: ExitNotFound, Doing: fmt.Sprintf("%s is %s, which the sandbox cannot see", name, what), Hint: "add --ro " + installation(real)}
}

// installation guesses the directory that a program was installed to, from where its executable is.
func installation(path string) string {
	dir := filepath.Dir(path)
	home, _ := os.UserHomeDir()
	if parent := filepath.Dir(dir); filepath.Base(dir) == "bin" && !inside(home, parent) {
		return parent
	}
	return dir
}
