package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/capability/policyfile"
	"scupper.dev/scupper/sandbox"
)

// watchEvery is how often the policy is looked at. A text counts when it has stood for
// as long, so that one that is being written is not read.
const watchEvery = 500 * time.Millisecond

// watcher looks for new texts of the policy of a run: when the file changes, and at
// SIGHUP unless the run is on a terminal, which sends that for reasons of its own.
type watcher struct {
	app   *App
	run   *RunCmd
	path  string
	first *policyfile.File // what the sandbox was built for
	trust bool             // the sandbox can write where the policy is, or a file that it names

	hangups chan os.Signal

	state os.FileInfo // of the text that was judged last
	hash  string      // of that text and the files that it names
	next  os.FileInfo // seen once
}

func (c *RunCmd) newWatcher(app *App, file *policyfile.File, path string) *watcher {
	w := &watcher{app: app, run: c, path: path, first: file, hash: file.Hash, hangups: make(chan os.Signal, 1)}
	if !app.onTerminal() {
		signal.Notify(w.hangups, syscall.SIGHUP)
	}
	w.trust = c.Policy == ""
	for _, name := range append([]string{path}, file.Files...) {
		w.trust = w.trust || within(name, append([]string{c.Workdir}, c.RW...))
	}
	w.state = w.stat()
	return w
}

// onTerminal reports whether standard input is a terminal.
func (a *App) onTerminal() bool {
	f, ok := a.Stdin.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// within reports whether path is in one of the folders, or might be.
func within(path string, folders []string) bool {
	path = resolved(path)
	return slices.ContainsFunc(folders, func(f string) bool {
		rest, err := filepath.Rel(resolved(f), path)
		return err != nil || rest != ".." && !strings.HasPrefix(rest, "../")
	})
}

// resolved is path, absolute and without links where it is there.
func resolved(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// watch hands new policies on until ctx ends.
func (w *watcher) watch(ctx context.Context, policies *sandbox.Policies) error {
	defer signal.Stop(w.hangups)
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-w.hangups:
			w.state = w.stat()
			w.reload(policies, true)
		case <-tick.C:
			if w.changed() {
				w.reload(policies, false)
			}
		}
	}
}

// changed reports whether the file is another than the one judged last, and has been
// for a while.
func (w *watcher) changed() bool {
	now := w.stat()
	if same(now, w.state) {
		w.next = nil
		return false
	}
	settled := w.next != nil && same(now, w.next)
	if w.next = now; settled {
		w.state, w.next = now, nil
	}
	return settled
}

// stat is nil while there is no file, which is an edit under way.
func (w *watcher) stat() os.FileInfo {
	info, err := os.Stat(w.path)
	if err != nil {
		return nil
	}
	return info
}

func same(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// reload reads the policy and puts it into force, or says why not. A text that was
// judged already counts again only when the operator asks.
func (w *watcher) reload(policies *sandbox.Policies, asked bool) {
	file, diags := policyfile.Load(w.path)
	if file.Hash == w.hash && !asked {
		return
	}
	w.hash = file.Hash
	why := w.obstacle(file, diags)
	if why == nil {
		why = w.replace(policies, file)
	} else if err := policies.Keep(file.Text, why.Error()); err != nil {
		fmt.Fprintf(w.app.Stderr, "scupper: record the refused policy: %v\n", err)
	}
	if why == nil {
		return
	}
	fmt.Fprintf(w.app.Stderr, "scupper: the policy stays as it was: %v\n", why)
	_ = w.app.show(diags.Errors()) // standard error is all there is to say it on
}

func (w *watcher) replace(policies *sandbox.Policies, file *policyfile.File) error {
	policy, err := file.Policy.ForRole(w.run.Role)
	if err != nil {
		return err
	}
	note := w.note(file)
	if err := policies.Replace(policy, file.Text, note); err != nil {
		return err
	}
	fmt.Fprintf(w.app.Stderr, "scupper: %s is in force as it is now\n", filepath.Base(w.path))
	if note != "" {
		fmt.Fprintf(w.app.Stderr, "  %s\n", note)
	}
	return nil
}

// obstacle is why file cannot come into force in this run.
func (w *watcher) obstacle(file *policyfile.File, diags policyfile.Diagnostics) error {
	if diags.HasErrors() {
		return fmt.Errorf("%s has %s", filepath.Base(w.path), count(diags.Count(policyfile.Error), "mistake"))
	}
	if _, err := file.Policy.ForRole(w.run.Role); err != nil {
		return err
	}
	for _, name := range file.Files {
		if !slices.Contains(w.first.Files, name) {
			return fmt.Errorf("it names %q, which this run does not protect: start a new run", name)
		}
	}
	if !policyfile.SameCredentials(file, w.first) {
		return fmt.Errorf("its credentials are others: start a new run")
	}
	if !w.trust {
		return nil
	}
	// The sandbox may have written it: an editor that puts a new file in the place of the
	// old one takes the mount that protects it away.
	return w.app.checkTrust(file, w.path)
}

// note says what of file has no effect in this run.
func (w *watcher) note(file *policyfile.File) string {
	var notes []string
	for _, port := range file.Policy.Ports() {
		if !slices.Contains(w.first.Policy.Ports(), port) {
			notes = append(notes, fmt.Sprintf("port %d leads to the proxy in the next run", port))
		}
	}
	for _, part := range []struct {
		name     string
		now, was any
	}{
		{"the sandbox block", file.Sandbox, w.first.Sandbox},
		{"the connections block", file.Connections, w.first.Connections},
		{"the audit block", file.Audit, w.first.Audit},
		{"the upstream block", file.Upstream, w.first.Upstream},
		{"the environment", file.EnvironmentFor(w.run.Role), w.first.EnvironmentFor(w.run.Role)},
		{"the tool, caller and inspect blocks", toolsOf(file), toolsOf(w.first)},
		{"best_effort", file.BestEffort, w.first.BestEffort},
	} {
		if !reflect.DeepEqual(part.now, part.was) {
			notes = append(notes, part.name+" counts from the next run on")
		}
	}
	return strings.Join(notes, "; ")
}

// toolsOf is what file says of tools besides which role has them.
func toolsOf(file *policyfile.File) any {
	tools := slices.Clone(file.Tools)
	for i := range tools { // what is compiled, and where it stands
		tools[i].Input, tools[i].Position = nil, capability.Position{}
	}
	return []any{tools, file.Callers, file.Protected, file.Writes}
}
