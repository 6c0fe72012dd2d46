// Package face is how callers reach the gateway: MCP over stdio and streamable HTTP, in
// the revisions of 2026-07-28 and 2025-11-25, and plain HTTP for harnesses without MCP.
//
//	f := face.New(gateway, face.Config{Version: "1.0"})
//	go f.ServeHTTP(ctx, listener, face.Doors{Token: true})
//	err := f.ServeStdio(ctx, principal, os.Stdin, os.Stdout)
//
// Guarantees: a message has one reading before anything else looks at it: names given
// twice or in another case, invalid UTF-8, trailing data, depth and size are refused, and
// what goes on is written anew. Batches are refused. What a caller may not call is not in
// the server object that he talks to, and calling it goes the way that a name goes that
// no tool has: one middleware answers both. There are no sessions, so there is none to
// take over: each request proves who sent it. Over HTTP the Host must be this machine's
// or named, the Origin likewise, before anything of the request is read.
//
// Non-guarantees: over HTTP in the revision of 2025-11-25 a call goes on when its client
// goes away, up to the tool's own time: that revision asks for it. In that of 2026-07-28,
// over stdio and over plain HTTP it is cancelled.
package face
