package e2e

import (
	"strings"
	"testing"
)

// nestedEscapes are tried with every capability of a user namespace made inside.
const nestedEscapes = `
mount -o remount,rw,bind /usr; touch /usr/escaped && echo REACHED usr
umount -l $PWD/policy.hcl 2>/dev/null && echo REACHED policy
umount -l $PWD/.git/hooks && echo REACHED hooks
touch .git/hooks/escaped && echo REACHED hook
cat /etc/shadow && echo REACHED shadow
ip link add escaped type dummy && echo REACHED link
nft list ruleset && echo REACHED rules
chroot /proc/1/root cat /etc/shadow && echo REACHED host
nsenter -t 1 -n true && echo REACHED network
curl -s --max-time 5 http://198.51.100.9/ && echo REACHED far
exit 0`

// TestNestedSandbox: an agent that brings a sandbox of its own gets one where the operator
// says so, and with it nothing that was out of reach.
func TestNestedSandbox(t *testing.T) {
	for _, u := range users(t) {
		t.Run(u.name, func(t *testing.T) {
			w := newWorld(t, u)
			w.policy("version = 1\n")
			w.repository()
			inner := shell("bwrap --unshare-all --ro-bind / / --dev /dev --tmpfs /tmp sh -c 'id -u; echo inner'")
			w.run(inner).wantFailure().wantStderr("namespace").farSideNothing()

			w.flags = append(w.flags, "--nested-sandbox")
			w.run(inner).wantExit(0).wantStdout("inner").wantStderr("not in force: no user namespaces").farSideNothing()
			a := w.run(shell("unshare --user --map-root-user --mount --net sh -c " + quoted(nestedEscapes))).wantExit(0).farSideNothing()
			if reached := lines(a.stdout, "REACHED"); len(reached) > 0 {
				t.Errorf("in a user namespace of its own: %v\n%s", reached, a.stderr)
			}
			// Without a network namespace of its own it has the sandbox's, and no more power over it.
			a = w.run(shell("unshare --user --map-root-user --mount sh -c " + quoted(nestedEscapes))).wantExit(0)
			if reached := lines(a.stdout, "REACHED"); len(reached) > 0 {
				t.Errorf("in the sandbox's network namespace: %v\n%s", reached, a.stderr)
			}
		})
	}
}

func quoted(script string) string { return "'" + strings.ReplaceAll(script, "'", `'\''`) + "'" }

// lines are those that begin with a word.
func lines(text, word string) (found []string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, word) {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}
