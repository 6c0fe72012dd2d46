package scenario

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"scupper.dev/scupper/replay/attempt"
)

func encoded(b []byte) cty.Value { return cty.StringVal(base64.StdEncoding.EncodeToString(b)) }

// question is a DNS message with the length that goes before it over TCP.
func question() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "name", Type: cty.String}, {Name: "type", Type: cty.String}},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			d := attempt.DNS{Name: args[0].AsString(), Type: args[1].AsString()}
			if !attempt.KnowsType(d.Type) {
				return cty.NilVal, fmt.Errorf("no record type %q is known here", d.Type)
			}
			message, err := d.Message()
			if err != nil {
				return cty.NilVal, err
			}
			return encoded(append(binary.BigEndian.AppendUint16(nil, uint16(len(message))), message...)), nil
		},
	})
}

// The frames of RFC 9113 section 6 that a request needs.
const (
	frameData     = 0
	frameHeaders  = 1
	frameSettings = 4
	endStream     = 1
	endHeaders    = 4
)

// http2 is a request on stream 1, behind the preface and empty settings.
func http2() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "headers", Type: cty.DynamicPseudoType}, {Name: "body", Type: cty.String}},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			block, err := headerBlock(args[0])
			if err != nil {
				return cty.NilVal, function.NewArgError(0, err)
			}
			body := args[1].AsString()
			if len(block) > 16000 || len(body) > 16000 {
				return cty.NilVal, errors.New("more than one frame holds")
			}
			out := append([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(frameSettings, 0, 0, nil)...)
			if body == "" {
				return encoded(append(out, frame(frameHeaders, endHeaders|endStream, 1, block)...)), nil
			}
			out = append(out, frame(frameHeaders, endHeaders, 1, block)...)
			return encoded(append(out, frame(frameData, endStream, 1, []byte(body))...)), nil
		},
	})
}

func frame(kind, flags byte, stream uint32, payload []byte) []byte {
	n := len(payload)
	head := []byte{byte(n >> 16), byte(n >> 8), byte(n), kind, flags}
	return append(binary.BigEndian.AppendUint32(head, stream), payload...)
}

// headerBlock has every field as a literal without indexing and without Huffman coding
// (RFC 7541 section 6.2.2), so that nothing checks what it holds.
func headerBlock(v cty.Value) (out []byte, err error) {
	wrong := errors.New(`headers are a list of [name, value]: [[":method", "GET"], …]`)
	if !v.CanIterateElements() || v.Type().IsMapType() || v.Type().IsObjectType() {
		return nil, wrong
	}
	for _, field := range v.AsValueSlice() {
		if field.IsNull() || !field.CanIterateElements() || field.LengthInt() != 2 {
			return nil, wrong
		}
		pair := field.AsValueSlice()
		if pair[0].Type() != cty.String || pair[1].Type() != cty.String || pair[0].IsNull() || pair[1].IsNull() {
			return nil, wrong
		}
		out = literal(append(out, 0), pair[0].AsString())
		out = literal(out, pair[1].AsString())
	}
	return out, nil
}

// literal is a string with its length before it (RFC 7541 sections 5.1 and 5.2).
func literal(out []byte, s string) []byte {
	n := len(s)
	if n < 127 {
		return append(append(out, byte(n)), s...)
	}
	out, n = append(out, 127), n-127
	for ; n >= 128; n /= 128 {
		out = append(out, byte(n%128|128))
	}
	return append(append(out, byte(n)), s...)
}
