package gateway

import (
	"fmt"
	"strings"

	"scupper.dev/scupper/capability"
)

// Shown is what the caller sees of the answer: the result, or one sentence about the
// refusal. Of a Hidden answer a face shows nothing but that there is no such tool.
func (a Answer) Shown() Result {
	switch {
	case a.Reason == capability.Granted:
		return a.Result
	case a.Hidden():
		return Failure(capability.ToolUnknown.Sentence())
	}
	text := fmt.Sprintf("refused: %s: %s", a.Reason, a.Reason.Sentence())
	if len(a.Detail) > 0 {
		text += "\n" + strings.Join(a.Detail, "\n")
	}
	if a.ID != "" {
		text += fmt.Sprintf("\n(record %s)", a.ID)
	}
	return Failure(text)
}
