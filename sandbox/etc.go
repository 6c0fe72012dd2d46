package sandbox

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"scupper.dev/scupper/netns"
)

// etcFiles are the files of /etc that the sandbox gets from us. One that the host lacks is left out: programs know what to do without it.
func etcFiles() ([]stagedFile, error) {
	texts := []stagedFile{
		{"/etc/passwd", "root:x:0:0:root:/root:/usr/sbin/nologin\n" + innerName + ":x:1000:1000::" + Home + ":/bin/sh\nnobody:x:65534:65534::/nonexistent:/usr/sbin/nologin\n"},
		{"/etc/group", "root:x:0:\n" + innerName + ":x:1000:\nnogroup:x:65534:\n"},
		{"/etc/hosts", "127.0.0.1 localhost " + hostname + "\n::1 localhost " + hostname + "\n"},
		{"/etc/nsswitch.conf", "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nnetworks: files\nprotocols: files\nservices: files\n"},
		{"/etc/resolv.conf", "nameserver " + netns.Gateway4().String() + "\n"},
	}
	var files []stagedFile
	for _, f := range texts {
		dest, ok := followInside(f.Dest)
		if ok {
			files = append(files, stagedFile{dest, f.Text})
			continue
		}
		if f.Dest == "/etc/resolv.conf" {
			return nil, environment("find /etc/resolv.conf", nil, "touch /etc/resolv.conf: without one no program inside can ask for a name")
		}
	}
	return files, nil
}

// followInside follows the symlinks of a host path as they will be followed inside, where some of the places they lead to are empty directories of
// ours (/run, for instance, where systemd-resolved keeps resolv.conf). It returns where the file has to stand.
func followInside(dest string) (string, bool) {
	for range 40 { // as many as the kernel follows
		for _, s := range scratch() {
			if inside(dest, s.dest) {
				return dest, true
			}
		}
		real, err := filepath.EvalSymlinks(filepath.Dir(dest))
		if err != nil {
			return "", false
		}
		dest = filepath.Join(real, filepath.Base(dest))
		target, err := os.Readlink(dest)
		if err != nil {
			return dest, exists(dest) && visible(dest, nil)
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(dest), target)
		}
		dest = strings.Replace(path.Clean(target), "/var/run/", "/run/", 1)
	}
	return "", false
}
