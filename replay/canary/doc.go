// Package canary finds planted secrets in what the far side received, however they were
// written.
//
//	secret := canary.New("token")
//	...                                   // a sandbox holds secret.Value and tries what it can
//	found := canary.Find([]canary.Canary{secret}, flows)
//	for _, f := range found {
//		fmt.Println(f.Canary, f.Form, f.Where)
//	}
//
// Guarantees: a canary is found in plain, reversed, in any case, in UTF-16, hexadecimal,
// base32, base64 at every alignment, percent-encoded, in gzip, zlib, deflate, brotli and
// zstd, in up to three of these inside each other; whole in one place, or cut into pieces
// over headers, labels, segments, parameters, chunk sizes or several messages in order.
//
// Non-guarantees: raw deflate and brotli, which begin like nothing, are found where a place
// begins with them. What was encrypted, or encoded in a way of the sender's own, or in the
// times of messages, is not found. The package shares no code with the one that takes
// secrets out of answers, so that neither hides a fault of the other.
package canary
