package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const gatewayPolicy = `version = 1

role "dev" { tools = ["read", "write", "bash"] }
`

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// post calls a tool of the gateway inside.
func post(tool, arguments string) string {
	return fmt.Sprintf(`curl -s -w '\n' --unix-socket "$SCUPPER_GATEWAY" -d %s http://localhost/v1/tools/%s`, quoted(arguments), tool)
}

// TestRunWithGateway: whoever is inside has the role's tools, and can neither move the
// socket nor become another role.
func TestRunWithGateway(t *testing.T) {
	for _, u := range users(t) {
		t.Run(u.name, func(t *testing.T) {
			w := newWorld(t, u)
			w.policy(gatewayPolicy)
			w.work("a.txt", "hello from the workspace\n")
			w.flags = append(w.flags, "--role", "dev", "--gateway")
			w.run(shell(post("read", `{"path":"a.txt"}`) + "; " + post("write", `{"path":"made.txt","content":"made by the tool"}`) + "; cat made.txt")).
				wantExit(0).wantStdout("hello from the workspace").wantStdout("made by the tool").farSideNothing()

			t.Run("MCP over the socket, a message a line", func(t *testing.T) {
				a := w.in(t).run(python(`import os, socket
s = socket.socket(socket.AF_UNIX); s.connect(os.environ["SCUPPER_GATEWAY"]); f = s.makefile("rw")
f.write('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}\n'); f.flush(); print(f.readline())
f.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n{"jsonrpc":"2.0","id":2,"method":"tools/list"}\n'); f.flush(); print(f.readline())`, false)).wantExit(0).farSideNothing()
				if !strings.Contains(a.stdout, `"name":"read"`) || strings.Contains(a.stdout, `"name":"edit"`) || strings.Contains(a.stdout, `"name":"bash"`) {
					t.Errorf("listed: %s", a.stdout)
				}
			})
			t.Run("SBX-14 SBX-16 what a process says of itself does not count", func(t *testing.T) {
				denied := post("edit", `{"path":"a.txt","old_string":"hello","new_string":"x"}`)
				a := w.in(t).run(command("bash", "-c", "(exec -a scupper bash -c "+quoted(denied)+"); LD_PRELOAD=/nowhere.so "+denied+"; "+strings.Replace(denied, "curl", "curl -H 'Authorization: Bearer x' -H 'X-Scupper-Role: ops' -A scupper", 1)))
				a.wantDenials("tool tool_not_granted").farSideNothing()
				if n := strings.Count(a.stdout, `"reason":"tool_unknown"`); n != 3 {
					t.Errorf("%d refusals in %s", n, a.stdout)
				}
			})
			t.Run("the socket cannot be moved", func(t *testing.T) {
				a := w.in(t).run(shell(`d=$(dirname "$SCUPPER_GATEWAY"); rm "$SCUPPER_GATEWAY" || echo kept; mv "$SCUPPER_GATEWAY" "$d/x" || echo kept; touch "$d/new" || echo kept; mv "$d" "$d.away" || echo kept`)).farSideNothing()
				if n := strings.Count(a.stdout, "kept"); n != 4 {
					t.Errorf("%s%s", a.stdout, a.stderr)
				}
			})
			t.Run("TOOL-23 a tool reaches nothing that its role is not granted", func(t *testing.T) {
				w.in(t).run(shell(post("read", `{"path":"/etc/hostname"}`) + "; " + post("read", `{"path":"../policy.hcl"}`))).wantStdout("not in the workspace").farSideNothing()
			})
			t.Run("scupper inside asks the gateway around it", func(t *testing.T) {
				inside := w.in(t)
				defer func(flags []string) { w.flags = flags }(w.flags)
				inside.flags = append(slices.Clone(w.flags), "--ro", prepared("scupper"))
				call := prepared("scupper") + " call "
				a := inside.run(shell(call + `read '{"path":"a.txt"}'; ` + call + `edit '{}'; ` + call + `nothing; ` + call + `read '{"path":1}'; (printf '%s\n' '` + initialize + `'; sleep 1) | ` + prepared("scupper") + " gateway --stdio"))
				a.wantStdout("hello from the workspace").wantStdout(`"serverInfo"`).wantStderr(`no tool is named "edit"`).wantStderr(`no tool is named "nothing"`).wantStderr("/path: type: expected string").farSideNothing()
			})
			t.Run("without the flag there is none", func(t *testing.T) {
				plain := w.in(t)
				plain.flags = plain.flags[:len(plain.flags)-1]
				plain.run(shell(`echo "[$SCUPPER_GATEWAY]"`)).wantStdout("[]").farSideNothing()
			})
		})
	}
}
