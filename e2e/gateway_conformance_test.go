package e2e

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestGatewayConforms runs the official suite against the gateway with fixture tools. What
// the gateway does not offer is listed, with the reason, in testdata/mcp: a failure that
// is not listed fails the test, and so does a listed one that passes.
func TestGatewayConforms(t *testing.T) {
	tools := conformanceTools()
	var granted []string
	for _, r := range tools {
		granted = append(granted, r.Definition.Name)
	}
	g := serveFixtures(t, "dev", granted, tools)
	for _, revision := range []string{"2026-07-28", "2025-11-25"} {
		t.Run(revision, func(t *testing.T) {
			expected, err := filepath.Abs("testdata/mcp/expected-failures-" + revision + ".yml")
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
			defer cancel()
			out, err := node22(ctx, t, "@modelcontextprotocol/conformance/dist/index.js",
				"server", "--url", g.url+"/mcp", "--requirements", revision, "--expected-failures", expected).CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%s", err, tail(string(out), 12000))
			}
			if !strings.Contains(string(out), "tools-call-simple-text") {
				t.Errorf("the suite did not run:\n%s", out)
			}
		})
	}
}

func tail(text string, n int) string { return text[max(0, len(text)-n):] }
