// Package probe tries to get out of a sandbox. It has two halves: bait that is laid
// outside, and attempts that are made inside and reach for it.
//
//	bait, err := probe.Lay(probe.Lures{TempDirs: []string{"/tmp", "/var/tmp"}, Env: os.Getenv})
//	if err != nil { ... }
//	defer bait.Close()
//	// in a sandbox, with bait.Scene as it was encoded:
//	for _, r := range probe.Run(scene) {
//		fmt.Println(r.Control, r.Name, r.Came, r.Out)
//	}
//	// outside again:
//	reached := bait.Reached()
//
// Guarantees: each attempt does the thing itself and is judged by its result, never by
// what a status file says. Each belongs to one control; with that control broken, and
// no other, one of its attempts succeeds. An attempt takes a second at most. Should the
// sandbox be broken, nothing is sent to a real host: destinations are loopback and the
// documentation ranges (RFC 5737, RFC 3849), and services of the host are connected to
// and sent nothing.
//
// Non-guarantees: what is not tried is not proved. A kernel with a fault in a call that
// is permitted can be broken out of all the same.
package probe
