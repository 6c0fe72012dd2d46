package main

import (
	"flag"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite what the scripts expect")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"scupper": main})
}

// TestScripts runs testdata/script: each file is a command, what it is given and what
// it prints. The home of each is its own, so that none finds another's state.
func TestScripts(t *testing.T) {
	homes := t.TempDir()
	home := func(e *testscript.Env) error {
		dir, err := os.MkdirTemp(homes, "")
		e.Setenv("HOME", dir)
		return err
	}
	testscript.Run(t, testscript.Params{Dir: "testdata/script", UpdateScripts: *update, Setup: home})
}
