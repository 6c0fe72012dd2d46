package sandbox

import (
	"os"
	"path/filepath"
	"strings"
)

// place is a path of the host that sandboxes must not get, and why.
type place struct {
	path string
	why  string
	// whole means that only the place itself and what contains it are refused; what lies inside may be used.
	whole bool
	// writing means that only writable use is refused.
	writing bool
}

// forbidden lists the places of this host and this caller, with symlinks resolved.
func (c *CageConfig) forbidden() []place {
	// The home comes before what lies in it: that is what its owner has to be told.
	places := append([]place{{path: "/", why: "it is the whole host", whole: true}}, c.homePlaces()...)
	places = append(places, place{path: c.StateDir, why: "scupper keeps its own state there"})
	for _, p := range c.Forbidden {
		places = append(places, place{path: p, why: "scupper decides and records by what is there"})
	}
	for _, p := range []string{"/proc", "/sys", "/dev", "/run", "/var/run"} {
		places = append(places, place{path: p, why: "it leads to devices and services of the host"})
	}
	places = append(places, place{path: "/etc", why: "the sandbox has its own view of it"})
	for _, p := range append(system(), "/boot", "/var", "/home", "/root", "/srv", "/mnt", "/media") {
		places = append(places, place{path: p, why: "it belongs to the whole system", whole: true, writing: true})
	}
	for _, p := range []string{"/tmp", "/var/tmp", os.TempDir()} {
		places = append(places, place{path: p, why: "other programs keep sockets and files there", whole: true})
	}
	return resolved(places)
}

func (c *CageConfig) homePlaces() []place {
	var places []place
	if home, err := os.UserHomeDir(); err == nil {
		places = append(places, place{path: home, why: "it holds credentials and settings", whole: true})
		for _, name := range []string{".ssh", ".gnupg", ".aws", ".docker", ".kube", ".config/gcloud", ".azure", ".password-store", ".netrc", ".git-credentials"} {
			places = append(places, place{path: filepath.Join(home, name), why: "it holds credentials"})
		}
	}
	sockets := []string{os.Getenv("SSH_AUTH_SOCK"), os.Getenv("XDG_RUNTIME_DIR"), strings.TrimPrefix(os.Getenv("DOCKER_HOST"), "unix://"),
		strings.TrimPrefix(os.Getenv("DBUS_SESSION_BUS_ADDRESS"), "unix:path=")}
	for _, s := range sockets {
		if filepath.IsAbs(s) {
			places = append(places, place{path: s, why: "services of the host listen there"})
		}
	}
	return places
}

// resolved makes each path absolute and free of symlinks, as far as it exists.
func resolved(places []place) []place {
	var kept []place
	for _, p := range places {
		if p.path == "" {
			continue
		}
		abs, err := filepath.Abs(p.path)
		if err != nil {
			continue
		}
		p.path = realPath(abs)
		kept = append(kept, p)
	}
	return kept
}

// realPath resolves the symlinks of the part of path that exists.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if path == "/" {
		return path
	}
	return filepath.Join(realPath(filepath.Dir(path)), filepath.Base(path))
}

// refuse checks a folder against the forbidden places, both ways.
func refuse(flag, given string, f folder, forbidden []place) error {
	for _, p := range forbidden {
		if p.writing && !f.Writable {
			continue
		}
		hint := "use a folder that neither contains nor lies inside " + p.path
		if p.whole && p.path != "/" {
			hint = "use a folder of its own below it, for instance " + filepath.Join(p.path, "project")
		}
		if inside(p.path, f.Path) {
			return usage(hint, "%s %q is or contains %s: %s", flag, given, p.path, p.why)
		}
		if !p.whole && inside(f.Path, p.path) {
			return usage(hint, "%s %q lies inside %s: %s", flag, given, p.path, p.why)
		}
	}
	return nil
}
