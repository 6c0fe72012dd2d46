package gitproto

import (
	"errors"
	"fmt"
	"strings"
)

// Fetch inspects what git posts to git-upload-pack: clone, fetch and ls-remote, in
// every version of the protocol.
type Fetch struct{}

// MediaType is the type of such bodies.
const MediaType = "application/x-git-upload-pack-request"

// String is how policies call it.
func (Fetch) String() string { return "git_fetch" }

var (
	errCommand  = errors.New("not a command of a fetch")
	errEnd      = errors.New("the request does not end with a flush packet, or goes on after it")
	errSequence = errors.New("a special packet where none belongs")
)

// Inspect reads body and writes it anew. The empty request, which clients send to find
// out whether they are let in, is one flush packet in every version.
func (Fetch) Inspect(body []byte) ([]byte, error) {
	packets, err := split(body)
	if err != nil {
		return nil, fmt.Errorf("read git request: %w", err)
	}
	var out []byte
	switch {
	case len(packets) == 0:
		err = errEnd
	case packets[0].kind == flush && len(packets) == 1:
		out = appendFlush(nil)
	case strings.HasPrefix(packets[0].text, "command="):
		out, err = command(packets)
	default:
		out, err = negotiation(packets)
	}
	if err != nil {
		return nil, fmt.Errorf("read git request: %w", err)
	}
	return out, nil
}

// errorAt says which packet, counted from 1, is refused; never what it holds.
func errorAt(i int, err error) error { return fmt.Errorf("packet %d: %w", i+1, err) }
