package face

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"scupper.dev/scupper/payload"
)

var (
	errBatch  = errors.New("batches are not taken: send each message alone")
	errObject = errors.New("a message is a JSON object")
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
	return compact, nil
}

// parseError is the answer to a message that has no one reading. It has no id: an id of
// a message that cannot be read is not known (JSON-RPC 2.0 section 5).
func parseError(err error) []byte {
	code := int64(jsonrpc.CodeParseError)
	if errors.Is(err, errBatch) || errors.Is(err, errObject) {
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
