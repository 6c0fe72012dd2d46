// Package classifier shows results of tools to an operator's own program or service
// before the agent sees them.
//
//	c := &classifier.Classifier{Exec: []string{"/usr/local/bin/classify"}, Deadline: 5 * time.Second}
//	verdict, why := c.Inspect(ctx, call, result)
//
// The program gets one JSON object on standard input, a service gets it as the body of a
// POST:
//
//	{"id": "...", "tool": "read", "role": "dev", "failed": false,
//	 "content": [{"type": "text", "text": "..."}], "structured": {...}}
//
// and answers with one:
//
//	{"verdict": "pass" | "flag" | "withhold", "reason": "one sentence for the agent"}
//
// Guarantees: an answer that is late, too long, not exactly that, or comes with an exit
// code other than 0 or a status other than 200 is none. Then the result is withheld, or
// marked and shown, as the policy says. The program and all that it started end at the
// deadline.
//
// Non-guarantees: the program runs outside of every sandbox, with the rights and the
// environment of scupper. How good it is at its task is not known here.
package classifier
