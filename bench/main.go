// Command bench measures what scupper costs beside a direct connection, the least
// proxy that net/http makes, and the intercepting proxies of Debian that are here.
//
//	scripts/bench --quick
//
// It prints Markdown: the machine, the start of a sandbox, an npm install, and for
// each workload how much of the minimal proxy's rate every peer reaches, with the
// spread over the rounds.
//
//	W1  HTTPS GET of 1 KiB, keep-alive, over 1, 16 and 64 connections
//	W3  one large body down, one up
//	W4  HTTP/2, 100 streams on one connection
//
// scupper is measured as it is run: the client is started by `scupper run` in a
// sandbox, under a policy of a thousand rules, with its log written.
//
// Guarantees: nothing leaves the machine, because everything runs in a network
// namespace without exit. Every wait, loop and workload is bounded, and so is the
// whole: after the time budget no further round begins. Peers take turns within a
// round, so that drift of the machine falls on all of them, and ratios are taken
// within a round.
//
// Non-guarantees: client, proxy and origin share the machine's cores, and other work
// on the machine is counted but not kept away. The figures are ratios on this machine
// on this day. The origin is a net/http server; a faster one would show larger
// differences.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"scupper.dev/scupper/replay"
)

// options are what the person at the command line chose.
type options struct {
	quick, check bool
	scupper      string
	only         string
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		if !errors.Is(err, errSaid) {
			fmt.Fprintln(os.Stderr, "bench:", err)
		}
		os.Exit(1)
	}
}

// run is one of the parts that the benchmark starts of itself, or the benchmark.
func run(args []string) error {
	if len(args) > 0 {
		switch args[0] {
		case "load":
			return loadMain(args[1:])
		case "origin":
			return originMain(args[1:])
		case "minimal":
			return minimalMain(args[1:])
		}
	}
	var o options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.BoolVar(&o.quick, "quick", false, "about three minutes instead of ten")
	flags.BoolVar(&o.check, "check", false, "fail if start-up or npm miss their bound")
	flags.StringVar(&o.scupper, "scupper", "scupper", "the scupper binary")
	flags.StringVar(&o.only, "only", "", "run only these parts: startup, npm or workloads, separated by commas")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return sealed(o)
}

// errSaid is for what the sealed copy has said itself.
var errSaid = errors.New("")

// sealed runs the benchmark where no packet can leave.
func sealed(o options) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	code, err := replay.Sealed(ctx, func() int {
		if err := benchmark(ctx, o, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			return 1
		}
		return 0
	})
	if err == nil && code != 0 {
		err = errSaid
	}
	return err
}

func benchmark(ctx context.Context, o options, out io.Writer) error {
	w, err := newWorld(o.scupper)
	if err != nil {
		return err
	}
	defer w.close()
	before := w.processes.snapshot()
	pace := fullPace()
	if o.quick {
		pace = quickPace()
	}
	fmt.Fprint(out, machine())
	peers, missing := installed(peers())
	if len(missing) > 0 {
		fmt.Fprintf(out, "\nNot installed, so not measured: %s (Debian packages).\n", strings.Join(missing, ", "))
	}
	var bounds []bound
	for _, part := range []struct {
		name string
		run  func() (string, []bound, error)
	}{
		{"startup", func() (string, []bound, error) { return startup(ctx, w, pace) }},
		{"npm", func() (string, []bound, error) { return npm(ctx, w, pace, peers) }},
		{"workloads", func() (string, []bound, error) { return workloads(ctx, w, pace, peers) }},
	} {
		if o.only != "" && !strings.Contains(","+o.only+",", ","+part.name+",") {
			continue
		}
		text, met, err := part.run()
		if err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
		fmt.Fprint(out, "\n", text)
		bounds = append(bounds, met...)
	}
	fmt.Fprintf(out, "\nOther work on the machine took %.2f cores on average meanwhile.\n", w.processes.foreign(before))
	return judge(out, bounds, o.check)
}

// bound is a ratio that must not be passed.
type bound struct {
	what       string
	ratio, max float64
}

func judge(out io.Writer, bounds []bound, check bool) error {
	var err error
	for _, b := range bounds {
		word := "within"
		if b.ratio > b.max {
			word = "above"
			err = errors.Join(err, fmt.Errorf("%s: %.2f, want at most %.2f", b.what, b.ratio, b.max))
		}
		fmt.Fprintf(out, "\n%s: %.2f, %s the bound of %.2f.\n", b.what, b.ratio, word, b.max)
	}
	if !check {
		return nil
	}
	return err
}
