//go:build brokencontrols

package credential

import "os"

// brokenVariable names what goes wrong on purpose.
const brokenVariable = "SCUPPER_BROKEN_CONTROL"

// crash panics while a secret is being written, so that a test sees what that shows: in
// the goroutine of the request, which net/http catches, or in one that nobody catches.
// No binary that is built without the tag brokencontrols has this.
func crash(value string) {
	switch os.Getenv(brokenVariable) {
	case "panic":
		spill(value, nil)
	case "crash":
		ended := make(chan struct{})
		go func() {
			spill(value, nil)
			close(ended)
		}()
		<-ended
	}
}

// spill has the secret among its arguments, which a trace shows.
//
//go:noinline
func spill(value string, to *string) { *to = value }
