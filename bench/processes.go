package main

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of processor times in /proc (proc_pid_stat(5); USER_HZ is 100).
const tick = 10 * time.Millisecond

// process is a line of /proc/PID/stat.
type process struct {
	parent int
	own    time.Duration // user and system time
	reaped time.Duration // of children that have been waited for
}

// processes reads processor times. The zero value works.
type processes struct{}

// snapshot is what had been used at one time.
type snapshot struct {
	at         time.Time
	busy, ours time.Duration
}

// snapshot sums over the whole machine and over this program's tree.
func (p processes) snapshot() snapshot {
	return snapshot{time.Now(), busy(), p.tree(os.Getpid())}
}

// foreign is how many cores other work has taken since a snapshot.
func (p processes) foreign(since snapshot) float64 {
	now := p.snapshot()
	others := (now.busy - since.busy) - (now.ours - since.ours)
	return max(0, others.Seconds()/now.at.Sub(since.at).Seconds())
}

// one is the processor time of a single process.
func (processes) one(pid int) time.Duration {
	p, _ := readProcess(strconv.Itoa(pid))
	return p.own
}

// tree is the processor time of a process and all that came from it.
func (processes) tree(root int) time.Duration {
	all := allProcesses()
	children := map[int][]int{}
	for pid, p := range all {
		children[p.parent] = append(children[p.parent], pid)
	}
	var sum time.Duration
	for queue := []int{root}; len(queue) > 0; queue = queue[1:] {
		p := all[queue[0]]
		sum += p.own + p.reaped
		queue = append(queue, children[queue[0]]...)
	}
	return sum
}

func allProcesses() map[int]process {
	all := map[int]process{}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if p, ok := readProcess(e.Name()); ok {
			all[pid] = p
		}
	}
	return all
}

func readProcess(pid string) (process, bool) {
	text, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return process{}, false // it has ended
	}
	// The name of the program, in brackets, may hold anything.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 15 {
		return process{}, false
	}
	number := func(i int) int { n, _ := strconv.Atoi(fields[i]); return n }
	return process{number(1), ticks(number(11) + number(12)), ticks(number(13) + number(14))}, true
}

func ticks(n int) time.Duration { return time.Duration(n) * tick }

// busy is the processor time of the machine without idling and waiting (proc_stat(5)).
func busy() time.Duration {
	text, _ := os.ReadFile("/proc/stat")
	line, _, _ := strings.Cut(string(text), "\n")
	sum := 0
	for i, field := range strings.Fields(line) {
		if n, err := strconv.Atoi(field); err == nil && i != 4 && i != 5 && i < 9 {
			sum += n
		}
	}
	return ticks(sum)
}
