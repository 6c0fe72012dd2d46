package face

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"scupper.dev/scupper/payload"
)

var (
	errBatch  = errors.New("batches are not taken: send each message alone")
	errObject = errors.New("a message is a JSON object")
	errID     = errors.New("an id is a string, or a whole number of less than 2^53")
)

// strict reads a message in one way only and writes it anew. What follows reads what was
// read here.
func strict(message []byte) ([]byte, error) {
	compact, err := payload.Compact(message)
	switch {
	case err != nil:
		return nil, err
	case compact[0] == '[':
		return nil, errBatch
	case compact[0] != '{':
		return nil, errObject
	}
	message = compact
	params := member(message, "params")
	for _, id := range [][]byte{member(message, "id"), member(params, "requestId"), member(member(params, "_meta"), "progressToken")} {
		if id != nil && !identifies(id) {
			return nil, errID
		}
	}
	return message, nil
}

// member is the value that an object has under a name, nil where there is none.
func member(object []byte, name string) json.RawMessage {
	var all map[string]json.RawMessage
	if len(object) == 0 || object[0] != '{' || json.Unmarshal(object, &all) != nil {
		return nil
	}
	return all[name]
}

// identifies reports whether an id comes back as it was sent, from whoever keeps numbers
// as doubles too.
func identifies(id []byte) bool {
	if id[0] == '"' {
		return true
	}
	n, err := strconv.ParseInt(string(id), 10, 64)
	return err == nil && -1<<53 < n && n < 1<<53
}

// methodCall is the method that calls a tool.
const methodCall = "tools/call"

// isCall reports whether a message asks for a call.
func isCall(message []byte) bool {
	return string(member(message, "method")) == `"`+methodCall+`"`
}

// callable reports whether a call has what makes it one.
func callable(message []byte) bool {
	var params mcp.CallToolParamsRaw
	return member(message, "id") != nil && json.Unmarshal(member(message, "params"), &params) == nil
}

// parseError is the answer to a message that has no one reading. It has no id: an id of
// a message that cannot be read is not known (JSON-RPC 2.0 section 5).
func parseError(err error) []byte {
	code := int64(jsonrpc.CodeParseError)
	if errors.Is(err, errBatch) || errors.Is(err, errObject) || errors.Is(err, errID) {
		code = jsonrpc.CodeInvalidRequest
	}
	return errorMessage(code, err.Error())
}

func errorMessage(code int64, text string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // into memory
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":%s}}`, code, bytes.TrimSpace(b.Bytes()))
}
