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
//
// Guarantees: an allow is answered after its record's write(2) has returned. A full
// disk, a read-only or a hung file system deny within the write timeout, and the
// log goes on by itself when the fault is over, with a gap record that counts what
// was refused meanwhile. A record is one line whatever the request held, of bounded
// size. No header value, body byte or query value is in it, except query values that
// the policy lists itself.
//
// Non-guarantees: records are handed to the kernel, not forced to the disk, so a
// crash of the machine can lose the last of them. Nothing shows yet that a log was
// changed afterwards. The command line of the run is recorded as it was typed.
package audit
