//go:build brokencontrols

package sandbox

import "os"

// brokenVariable names the control that is left out.
const brokenVariable = "SCUPPER_BROKEN_CONTROL"

// broken reports whether a control is left out on purpose, so that a test sees whether that is found. No binary that is built without the tag
// brokencontrols has this.
func broken(control string) bool { return os.Getenv(brokenVariable) == control }

// brokenForChild is what the child has to know of that.
func brokenForChild() []string { return []string{brokenVariable + "=" + os.Getenv(brokenVariable)} }
