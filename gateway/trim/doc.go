// Package trim cuts what tools return to what may be shown, and makes it harmless to
// look at.
//
//	store, err := trim.NewStore("") // wholes are kept in unlinked files
//	if err != nil { ... }
//	defer store.Close()
//	pipeline.Trimmer, files.Rest = &trim.Trimmer{Store: store}, store
//
// A result loses, in this order: fields that its tool does not declare; what a terminal
// or a reader could be deceived with; and, where it is longer than the tool may show, its
// middle (output of commands) or its end (files). What is left says how many characters
// are missing, which lines those are, and under which path the tool "read" has them:
//
//	first line
//	... [48213 chars truncated]
//	last line
//	[lines 2 to 1804 of 1805 are left out; read "result:01J9-7" has all 61310 bytes]
//
// Guarantees: the text shown, notes included, has at most the bytes that the tool may show
// (and at least twice MinLimit), is valid UTF-8, and holds no control character but tab, line
// feed and carriage return before line feed: the others are shown as symbols (ESC as ␛),
// so that no sequence of them acts on a terminal. Invisible characters, which hide text
// from people or change its order, stand as <U+202E> and are listed; joiners stay where a
// script or an emoji has them. The number of characters left out is exact: bytes that are
// not UTF-8 count as one character each. Memory is a few times the limit, however much is
// produced. Structured content fits the tool's schema or is left out. A whole is read only
// by the role that got its result.
//
// Non-guarantees: the text can say anything, also something that looks like a note. A
// visible character can look like another one. Wholes end with the store, and what is
// longer than a file of it may be has lost its end. SHA-256 of the whole is over the bytes
// as the tool produced them.
package trim
