package main

import (
	"errors"
	"fmt"
	"testing"

	"scupper.dev/scupper/sandbox"
)

// TestStep tells the step that failed from those that were not reached.
func TestStep(t *testing.T) {
	network := fmt.Errorf("prepare: %w", &sandbox.Error{Code: sandbox.ExitEnvironment, Doing: "set up the network namespace: no nftables", Hint: "modprobe nft_tproxy"})
	folder := &sandbox.Error{Code: sandbox.ExitUsage, Doing: `--workdir "/" is the whole host`, Hint: "use another"}
	for _, c := range []struct {
		name  string
		err   error
		doing string
		want  fact
	}{
		{"well", nil, "x", fact{OK: true, Needed: true, Detail: "fine"}},
		{"failed", network, "set up the network namespace", fact{Needed: true, Detail: network.Error(), Remedy: "modprobe nft_tproxy"}},
		{"not reached", network, "mount a fresh /proc", fact{Detail: "not tried: the sandbox was not built that far"}},
		{"a folder that is no sandbox's", folder, "", fact{Detail: folder.Error(), Remedy: "use another"}},
		{"unknown", errors.New("x"), "", fact{Needed: true, Detail: "x"}},
	} {
		if got := step(c.err, "", c.doing, "fine"); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}
