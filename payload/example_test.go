package payload_test

import (
	"fmt"

	"scupper.dev/scupper/payload"
)

func Example() {
	schema, mistakes := payload.CompileSchema("comment.schema.json", []byte(`{
		"type": "object", "additionalProperties": false,
		"properties": {"body": {"type": "string", "maxLength": 10}}
	}`))
	if len(mistakes) > 0 {
		fmt.Println(mistakes)
		return
	}
	for _, sent := range []string{`{ "body": "hello" }`, `{"body": "a long comment"}`, `{"body": "", "body": "x"}`} {
		body, err := payload.JSON{Schema: schema}.Inspect([]byte(sent))
		fmt.Println(string(body), err)
	}
	// Output:
	// {"body":"hello"} <nil>
	//  check JSON body: /body: maxLength
	//  read JSON body: at byte 19: a name that an object has twice
}
