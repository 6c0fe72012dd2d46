package policyfile

import (
	"slices"
	"strings"
	"testing"
	"time"
)

const toolPolicy = `version = 1
tool "bash" {
  description   = "Run a command."
  owner         = "dev-tools"
  timeout       = "90s"
  max_output    = "16KiB"
  calls         = 100
  deny_commands = ["sudo", "git push"]
}
tool "write" { disabled = true }
tool "edit" {
  approval = "required"
  inspect {
    http       = "https://classify.example.com/v1"
    deadline   = "2s"
    on_failure = "open"
  }
}
inspect { exec = ["/usr/bin/classify", "--fast"] }
role "dev" { tools = ["read", "bash"] }
caller "ci" {
  token_sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
  role         = "dev"
}
`

func TestToolBlocksTuneTheRegistry(t *testing.T) {
	f, diags := Parse("p.hcl", []byte(toolPolicy), Options{})
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	names := make([]string, len(f.Tools))
	for i, tool := range f.Tools {
		names[i] = tool.Name
		if (tool.Name == "edit") != (tool.Inspect.URL != "") {
			t.Errorf("tool %q is inspected by %+v", tool.Name, tool.Inspect)
		}
	}
	if !slices.Equal(names, BuiltIn()) {
		t.Errorf("got tools %v", names)
	}
	bash, edit, write := f.Tools[0], f.Tools[1], f.Tools[5]
	if bash.Timeout != 90*time.Second || bash.MaxOutput != 16<<10 || bash.Calls != 100 || !slices.Equal(bash.DenyCommands, []string{"sudo", "git push"}) {
		t.Errorf("got %+v", bash)
	}
	if !edit.Approval || !edit.Inspect.FailOpen || edit.Inspect.Deadline != 2*time.Second || !write.Disabled {
		t.Errorf("got %+v, %+v", edit, write)
	}
	if got := f.Policy.ToolsOf("dev"); !slices.Equal(got, []string{"bash", "read"}) {
		t.Errorf("role dev calls %v", got)
	}
	if len(f.Callers) != 1 || f.Callers[0].Role != "dev" || f.Callers[0].Token[0] != 0x9f {
		t.Errorf("got callers %+v", f.Callers)
	}
}

func TestToolMistakesAreFound(t *testing.T) {
	for name, row := range map[string]struct{ text, want string }{
		"unknown tool in a role":  {`role "dev" { tools = ["raed"] }`, "did you mean read?"},
		"unknown tool block":      {`tool "sql" { }`, "nothing says how tool \"sql\" is called"},
		"two blocks":              {"tool \"bash\" { }\ntool \"bash\" { }", "two tool blocks"},
		"level":                   {`tool "bash" { level = "harmless" }`, "is not a level"},
		"approval":                {`tool "bash" { approval = "sometimes" }`, "is not an approval rule"},
		"deny_commands elsewhere": {`tool "read" { deny_commands = ["x"] }`, "deny_commands on tool"},
		"unknown attribute":       {`tool "read" { schema = 1 }`, "schema"},
		"two classifiers":         {"inspect {\n exec = [\"a\"]\n http = \"http://c.example.com/\"\n}", "one of exec and http"},
		"classifier address":      {`inspect { http = "ftp://c.example.com/" }`, "is not the address"},
		"caller without role":     {`caller "ci" { token_sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" }`, "has no role"},
		"caller with a token":     {"role \"r\" { }\ncaller \"ci\" {\n token_sha256 = \"hunter2\"\n role = \"r\"\n}", "not the hash of a token"},
		"caller of no role":       {"caller \"ci\" {\n token_sha256 = \"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\"\n role = \"r\"\n}", "no role is named"},
	} {
		t.Run(name, func(t *testing.T) {
			f, diags := Parse("p.hcl", []byte("version = 1\n"+row.text+"\n"), Options{})
			if !strings.Contains(diags.Error(), row.want) {
				t.Errorf("got %q, want %q", diags.Error(), row.want)
			}
			if len(f.Tools)+len(f.Callers) > 0 || len(f.Policy.ToolsOf("dev")) > 0 {
				t.Error("a policy with a mistake has tools")
			}
		})
	}
	_, diags := Parse("p.hcl", []byte("version = 1\nrole \"r\" { }\ncaller \"ci\" {\n token_sha256 = \"hunter2\"\n role = \"r\"\n}\n"), Options{})
	for _, d := range diags {
		if strings.Contains(d.Summary+d.Detail, "hunter2") {
			t.Errorf("the message shows what may be a token: %s", d)
		}
	}
}
