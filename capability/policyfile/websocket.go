package policyfile

import "github.com/hashicorp/hcl/v2"

// webSocket reads whether a request may go on as a WebSocket, which begins as a GET.
func (s *source) webSocket(content *hcl.BodyContent, methods []string) bool {
	a := content.Attributes["websocket"]
	if a == nil {
		return false
	}
	granted, ok := s.boolean(a.Expr)
	if granted && ok && (len(methods) != 1 || methods[0] != "GET") {
		s.fail(a.Expr.Range(), "a WebSocket begins as a GET", `write methods = ["GET"] in this allow block, and another block for other methods`)
		return false
	}
	return granted && ok
}
