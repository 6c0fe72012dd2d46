package main

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

// peer is one way from the client to the origin. In its texts {dir} is its own
// folder, {keys} that of the certificates, {self} this program and {pid} its process.
type peer struct {
	name    string
	program string            // that has to be installed; "" for none
	from    string            // the Debian package that has it
	files   map[string]string // to write into its folder
	setup   [][]string        // to run before
	command []string          // what serves; empty where nothing does
	way     way
	without []string // workloads that it does not do, npm among them
}

// way is how a client gets at a peer.
type way int

const (
	straight  way = iota // to the origin itself
	byConnect            // to a proxy that takes CONNECT
	instead              // to a server that stands for the origin
	caged                // from inside a sandbox
)

func (p peer) does(workload string) bool { return !slices.Contains(p.without, workload) }

const (
	nameDirect  = "direct"
	nameMinimal = "minimal"
	nameScupper = "scupper"
)

func peers() []peer {
	return append([]peer{
		{name: nameDirect, way: straight},
		{name: nameMinimal, way: byConnect, command: []string{"{self}", "minimal", "--ca", "{keys}/proxy-ca.pem", "--roots", "{keys}/upstream.pem"}},
		{name: nameScupper, way: caged},
	}, debianPeers()...)
}

// installed are the peers that can run here, and the Debian packages that others need.
func installed(all []peer) (here []peer, missing []string) {
	for _, p := range all {
		if _, err := exec.LookPath(p.program); p.program != "" && err != nil {
			missing = append(missing, p.from)
			continue
		}
		here = append(here, p)
	}
	return here, missing
}

// fill puts the places of this run into a text of a peer.
func (w *world) fill(text, dir string) string {
	return strings.NewReplacer("{dir}", dir, "{keys}", w.dir, "{self}", w.self, "{pid}", strconv.Itoa(os.Getpid()),
		"{origin}", originAddr, "{proxy}", proxyAddr, "{name}", originName).Replace(text)
}

func (w *world) fillAll(texts []string, dir string) []string {
	filled := make([]string, len(texts))
	for i, t := range texts {
		filled[i] = w.fill(t, dir)
	}
	return filled
}
