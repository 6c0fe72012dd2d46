// Package payload reads the bodies of requests in one way only and writes them anew:
// JSON (RFC 8259), HTML forms and multipart forms (RFC 7578).
//
//	schema, mistakes := payload.CompileSchema("comment.schema.json", text)
//	if len(mistakes) > 0 {
//		return mistakes // where in the schema, and what is wrong there
//	}
//	body, err := payload.JSON{Schema: schema}.Inspect(sent)
//	if err != nil {
//		return err // "/comment/body: maxLength": the place and the rule, never the value
//	}
//	upstream(body)
//
// Guarantees: what is returned means the same to every parser that keeps to the
// standard, and inspecting it again returns it unchanged. Nothing on which parsers
// disagree gets through: names given twice or in another case, lone surrogates, numbers
// out of range, trailing bytes, epilogues, undeclared parts. A parameter that asks for
// another method is refused in every kind of body. No network and no file is read:
// a schema has what its own text has. The time that a schema takes is bounded by the
// size of the body and by limits that are checked when it is compiled. Numbers are
// judged exactly, as they are sent. A program without schemas pays nothing for them.
//
// Non-guarantees: what a schema or a pattern leaves free can carry anything; Remarks
// says where that is. Strings are not normalised: two spellings of one accented letter
// are two names. Whole numbers beyond 2^53 are kept as written, and some parsers round
// them. Formats have one strict reading each: an address of mail with quotes in it is
// none. The content of a file in a multipart form is not looked at.
package payload
