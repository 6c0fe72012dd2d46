// Package audit is the one place where deciding and recording meet. A Guard decides a
// request, appends the record, and only then answers; what cannot be recorded is
// denied.
//
//	guard, err := audit.New(audit.Config{Dir: dir, Policy: policy, PolicyText: text, PolicyPath: "policy.hcl"})
//	if err != nil {
//		return err // nothing runs without a log
//	}
//	defer guard.Close(0)
//	d := guard.Authorize(req) // the record is in the file now
//	if !d.Allowed() {
//		refuse(d.ID, d.Reason)
//	}
//
// A run's log is a directory of its own, <dir>/<run>, with segments of JSON lines
// (000001.jsonl) and the policy text as it was, by hash. Each line has the version,
// a sequence number without gaps, wall and monotonic time and the event; see Record.
// The bytes of a line are a leaf of a Merkle tree (RFC 6962). Its root and size, signed
// by the installation, are the head of the log; it lies beside the log, in the
// installation's own folder, and at the anchors of the policy. Verify needs no more than
// the log, a head and the public key.
//
// Guarantees: an allow is answered after its record's write(2) has returned, under
// Fsync after the disk has it. A full disk, a read-only or a hung file system deny
// within the write timeout, and the log goes on by itself when the fault is over, with
// a gap record that counts what was refused meanwhile. A record is one line whatever
// the request held, of bounded size. No header value, body byte or query value is in it,
// except query values that the policy lists itself; of a body there is the size and the
// SHA-256, of a credential a keyed fingerprint. A changed, missing or additional record
// under a head is found, and the first is named. A log that was left by a killed writer
// is closed by the next start, if its heads are true of it.
//
// Non-guarantees: under Commit a power cut can lose the records of the last 20 ms.
// Records after the newest head (a second at most) can be changed without trace by who
// can write the log, until there is a head. Someone who has the key and can write the
// installation's folder can make a log anew: heads at an anchor, or kept by the reviewer,
// show that. The SHA-256 of a body confirms a guess of it. The command line of the run is
// recorded as it was typed.
package audit
