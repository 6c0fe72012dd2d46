//go:build !brokencontrols

package sandbox

// broken reports whether a control is left out on purpose. In this build none can be: only a test of what looks for broken sandboxes is built otherwise.
func broken(string) bool { return false }

// brokenForChild is what the child has to know of that.
func brokenForChild() []string { return nil }
