// Package sandbox holds one run from start to destruction: the cage that a command runs in, and what serves its network.
//
// The cage is made in three steps, so that nothing runs before what judges it is ready:
//
//	cage, err := sandbox.Prepare(ctx, sandbox.CageConfig{Command: []string{"npm", "ci"}, Workdir: ".", StateDir: state, Stdout: os.Stdout, Stderr: os.Stderr})
//	if err != nil { ... } // *Error: Code is the exit code, Hint the next thing to type
//	defer cage.Close()
//	serve(cage.Sockets())
//	if err := cage.Start(); err != nil { ... }
//	code, err := cage.Wait()
//
// Main calls IsStage and Stage before anything else: Prepare starts the program anew, in fresh namespaces, and the child sets them up, hands over the
// sockets, waits for Start and becomes bubblewrap, which makes the inner namespaces, drops every capability, loads the seccomp filter and starts the
// command in the root that the child has built. Only the child mounts; only bubblewrap confines.
//
// Guarantees: inside are the host's /usr, /bin, /sbin, /lib*, /etc and /opt, read-only, one writable folder, the paths that were asked for, temporary
// directories of a fixed size, and nothing else of the host; no network but the sockets handed over; no capabilities, no set-user-id programs, no
// descriptor of the caller; an environment built from a short list. Protected paths cannot be written, replaced, renamed or, where absent, created.
// Everything ends with the run, also when the supervisor is killed; placeholders and control groups are then removed by the next run with the same
// state directory. The sandbox as a whole has the memory, processors, processes, time and output that Limits names: what is asked for holds, or nothing
// runs. The supervisor is not readable by its own user and has no capability in effect. A terminal inside is one of ours.
//
// Non-guarantees: the kernel is trusted. The first process inside is bubblewrap's and of the command's user: a command that writes its memory through
// /proc can keep its own run from ending, until the run's time is up or scupper is killed.
// A file that another program of the host replaces (rename over it) while a run protects it is not protected
// from then on, since the kernel takes the mount away. A folder that is mounted at two places of the host is protected at the place that was named.
// Repositories nested in the writable folder are not protected; the one at its root is. For an ordinary user the sandbox keeps the user's supplementary
// groups, which the kernel does not let go; for root it has none. A folder of the host has no limit of size. What the command prints on a terminal goes
// there as it is, escape sequences included. A supervisor that is root can write what belongs to root. Where control groups of version 2 are shared with a
// service manager, that one may take their controllers away.
package sandbox
