// Package redact keeps the secrets of a run from coming back: it hides them in what an
// origin answers and in what is printed.
//
//	r := redact.New(set.Secrets)
//	r.Ask(up.Header)          // only codings that can be read, no short ranges
//	err := r.Response(resp)   // header and body, decoded; trailers with r.Header
//	fmt.Fprintln(os.Stderr, r.Text(message))
//
// Guarantees: of a secret of 16 bytes or more nothing is left of the secret itself, of
// its base64 in either alphabet at each alignment, or of its hexadecimal, in either
// case; nor where any of these is written with percent escapes, escapes of JSON or
// JavaScript, or entities of HTML, of all characters or of some. Nor is there the
// first half of such a form, its first third at the end of a body, or, of secrets of
// 24 bytes or more, two thirds of one from any place on. Each hidden byte becomes one
// asterisk; every other byte stays as it is. Of a stream nothing is held back but an
// end that is the beginning of a form. Memory is bounded by the secrets' lengths.
//
// Answers under gzip, deflate (zlib), br and zstd are read and passed on without their
// coding; another coding, two of them, a part of a coded body, a body that is not what
// its coding says, or one that grows more than 256 times, is an error. At the beginning
// of a part of a body, where a secret may have begun before it, the rest of a form is
// hidden from an eighth of it on; short ranges are not asked for.
//
// Non-guarantees: an origin that changes the secret otherwise (encrypts, reverses,
// splits it, escapes it twice, breaks its base64 into lines, puts it into an archive or
// a compressed message inside the body) gives it away. So do up to two bytes at either
// end of base64, in whose characters neighbours have a part, and the length of what is
// hidden, where asterisks stand for it. Secrets of less than eight bytes are not looked
// for: they cannot be told from other text. From there to 16 bytes what is cut off may
// show seven.
package redact
