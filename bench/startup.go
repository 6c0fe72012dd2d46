package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// ordinary is a user id that this machine need not know.
const ordinary = 54321

// start is one way to start a program that does nothing.
type start struct {
	name    string
	command []string
	uid     int
	times   series // ms
}

// startup measures how long `true` takes in a sandbox. The ways take turns.
func startup(ctx context.Context, w *world, p pace) (string, []bound, error) {
	starts, err := w.starts()
	if err != nil {
		return "", nil, err
	}
	for round := range p.starts + 2 { // the first two warm caches
		for _, s := range starts {
			took, err := s.once(ctx, w)
			if err != nil {
				return "", nil, err
			}
			if round >= 2 {
				s.times = append(s.times, took.Seconds()*1000)
			}
		}
	}
	return startTable(starts, p), startBounds(starts), nil
}

const (
	nameBwrap = "`bwrap --unshare-all --ro-bind / / true`"
	nameRun   = "`scupper run -- true`"
)

// starts are all ways, as whoever runs the benchmark and, if that is root, as an
// ordinary user.
func (w *world) starts() ([]*start, error) {
	users := []int{os.Geteuid()}
	if os.Geteuid() == 0 {
		users = append(users, ordinary)
	}
	policy := w.at("policy.hcl")
	if err := os.WriteFile(policy, []byte(npmPolicy()), 0o644); err != nil {
		return nil, err
	}
	var all []*start
	for _, uid := range users {
		home, err := w.folder(fmt.Sprintf("home-%d/work", uid))
		if err != nil {
			return nil, err
		}
		for _, dir := range []string{home, w.at(fmt.Sprintf("home-%d", uid))} {
			if err := os.Chown(dir, uid, -1); err != nil {
				return nil, err
			}
		}
		all = append(all,
			&start{name: "`true`", command: []string{"true"}, uid: uid},
			&start{name: nameBwrap, command: []string{"bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"}, uid: uid},
			&start{name: nameRun, command: []string{w.scupper, "run", "--", "true"}, uid: uid},
			&start{name: "the same with a policy", command: []string{w.scupper, "run", "--policy", policy, "--", "true"}, uid: uid})
	}
	return all, nil
}

func (s *start) once(ctx context.Context, w *world) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	home := w.at(fmt.Sprintf("home-%d", s.uid))
	cmd := exec.CommandContext(ctx, s.command[0], s.command[1:]...)
	cmd.Dir = home + "/work"
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if s.uid != os.Geteuid() {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(s.uid), Gid: uint32(s.uid)}
	}
	began := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%v as %d: %w: %s", s.command, s.uid, err, tail(string(out)))
	}
	return time.Since(began), nil
}

func startTable(starts []*start, p pace) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### Start and end of a sandbox\n\nMilliseconds over %d runs each; times that of bwrap by medians.\n\n| | as | median | p10 | p90 | x bwrap |\n|---|---|---|---|---|---|\n", p.starts)
	for _, s := range starts {
		fmt.Fprintf(&b, "| %s | %s | %.1f | %.1f | %.1f | %.2f |\n", s.name, s.who(), s.times.median(), s.times.quantile(0.1), s.times.quantile(0.9),
			s.times.median()/timesOf(starts, nameBwrap, s.uid).median())
	}
	return b.String()
}

func (s *start) who() string {
	if s.uid == 0 {
		return "root"
	}
	return "an ordinary user"
}

func timesOf(starts []*start, name string, uid int) series {
	for _, s := range starts {
		if s.name == name && s.uid == uid {
			return s.times
		}
	}
	return nil
}

func startBounds(starts []*start) []bound {
	var bounds []bound
	for _, s := range starts {
		if s.name == nameRun {
			bounds = append(bounds, bound{fmt.Sprintf("Start-up as %s, times bwrap", s.who()), s.times.median() / timesOf(starts, nameBwrap, s.uid).median(), 6})
		}
	}
	return bounds
}
