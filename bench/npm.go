package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"scupper.dev/scupper/replay"
)

// npm measures an install with an empty cache from a registry in memory. Every peer
// that takes CONNECT is asked as npm's proxy; the registry is the same for all.
func npm(ctx context.Context, w *world, p pace, all []peer) (string, []bound, error) {
	project, err := serveRegistry(w, p.packages)
	if err != nil {
		return "", nil, err
	}
	var peers []peer
	for _, peer := range all {
		if peer.does("npm") {
			peers = append(peers, peer)
		}
	}
	times := map[string]series{}
	if _, err := w.install(ctx, p, peers[0], project); err != nil { // warms caches
		return "", nil, fmt.Errorf("install over %s: %w", peers[0].name, err)
	}
	installs, err := inRounds(p.installs, p.npmBudget, func() error {
		for _, peer := range peers {
			took, err := w.install(ctx, p, peer, project)
			if err != nil {
				return fmt.Errorf("install over %s: %w", peer.name, err)
			}
			times[peer.name] = append(times[peer.name], took.Seconds())
		}
		return nil
	})
	if err != nil {
		return "", nil, err
	}
	return npmTable(peers, times, p.packages, installs), []bound{{"npm install, times direct", times[nameScupper].over(times[nameDirect]).median(), 1.10}}, nil
}

// serveRegistry fills a registry and returns a package.json that asks for all of it.
func serveRegistry(w *world, packages int) ([]byte, error) {
	names := make([]string, packages)
	for i := range names {
		names[i] = fmt.Sprintf("part-%03d", i)
	}
	r, err := replay.NewRegistry("https://"+registry, "1.0.0", names...)
	if err != nil {
		return nil, err
	}
	w.internet.Handle(registry, r)
	manifest, _, err := r.Project()
	return manifest, err
}

// install runs npm in a fresh folder.
func (w *world) install(ctx context.Context, p pace, peer peer, project []byte) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	s, err := w.startPeer(peer)
	if err != nil {
		return 0, err
	}
	if s != nil {
		defer s.stop()
	}
	run, err := w.sandbox(npmPolicy())
	if err != nil {
		return 0, err
	}
	work := w.at("work")
	if err := os.WriteFile(filepath.Join(work, "package.json"), project, 0o644); err != nil {
		return 0, err
	}
	args := []string{"npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--no-update-notifier", "--loglevel=error", "--fetch-retries=0", "--cache=.cache", "--registry=https://" + registry}
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.at("peer")}
	switch peer.way {
	case caged:
		args = append(run, args...)
	case byConnect:
		env = append(env, "HTTPS_PROXY=http://"+proxyAddr, "https_proxy=http://"+proxyAddr)
	}
	cmd := command(ctx, args)
	// The second wins over what npm is configured with on this machine.
	cmd.Dir, cmd.Env = work, append(env, "NODE_EXTRA_CA_CERTS="+w.at("authority.pem"), "npm_config_cafile="+w.at("authority.pem"))
	began := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(began)
	if err != nil {
		return 0, fmt.Errorf("%w: %s", err, tail(string(out)))
	}
	installed, err := os.ReadDir(filepath.Join(work, "node_modules"))
	if err == nil && len(installed) < p.packages {
		err = fmt.Errorf("%d of %d packages are there", len(installed), p.packages)
	}
	return took, errors.Join(err, w.internet.Reset())
}

func npmTable(peers []peer, times map[string]series, packages, installs int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### npm install\n\n%d packages, empty cache, registry in memory, %d installs each; seconds, and times direct within each round.\n\n| | median | x direct |\n|---|---|---|\n", packages, installs)
	for _, peer := range peers {
		fmt.Fprintf(&b, "| %s | %.2f | %s |\n", peer.name, times[peer.name].median(), times[peer.name].over(times[nameDirect]).spread("%.2f"))
	}
	return b.String()
}
