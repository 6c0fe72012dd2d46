package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// VersionCmd prints the version.
type VersionCmd struct{}

// Run prints the version, the Go release and the platform on one line.
func (VersionCmd) Run(app *App) error {
	_, err := fmt.Fprintf(app.Stdout, "scupper %s %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// version is the module's version as the Go toolchain stamped it, or "devel".
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return info.Main.Version
}
