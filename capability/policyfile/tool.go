package policyfile

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/payload"
)

// Tool is what the policy says of a tool. A zero field is what the tool itself brings.
type Tool struct {
	capability.Tool
	Version      string
	Title        string
	Description  string // for the model
	Level        string // read, reversible_write or irreversible_write
	Owner        string
	Input        *payload.Schema // that the arguments must fit besides the tool's own
	InputText    []byte          // of Input
	Output       []string        // fields of the structured result that are shown; nil: all
	Calls        int64           // in one run; 0: no limit
	Timeout      time.Duration
	MaxOutput    int64 // bytes of text that are shown
	Approval     bool  // each call needs one
	DenyCommands []string
	Inspect      *Inspect // nil: that of the policy
}

// Levels of a tool, from the harmless to the one that nothing takes back.
var levels = []string{"read", "reversible_write", "irreversible_write"}

// BuiltIn lists the tools that exist without a word of the policy.
func BuiltIn() []string { return []string{"bash", "edit", "glob", "grep", "read", "write"} }

func (p *parser) tool(b *hcl.Block) {
	name, at := b.Labels[0], b.LabelRanges[0]
	if known := BuiltIn(); !slices.Contains(known, name) {
		p.fail(at, fmt.Sprintf("nothing says how tool %q is called", name), "the tools of this version are "+strings.Join(known, ", ")+suggest(name, known...))
		return
	}
	if i := p.tuned(name); i >= 0 {
		p.fail(at, fmt.Sprintf("two tool blocks for %q", name), "the first is at "+p.file.Tools[i].Position.String()+": write one")
		return
	}
	t := Tool{Tool: capability.Tool{Name: name, Position: p.position(b.DefRange.Start)}}
	content := p.content(b.Body, toolBlock)
	p.once(content.Blocks, "inspect")
	p.toolWords(&t, content)
	p.toolLimits(&t, content)
	p.toolShape(&t, content)
	if block := firstOf(content.Blocks, "inspect"); block != nil {
		t.Inspect = p.inspect(block)
	}
	p.file.Tools = append(p.file.Tools, t)
}

func (p *parser) tuned(name string) int {
	return slices.IndexFunc(p.file.Tools, func(t Tool) bool { return t.Name == name })
}

func (p *parser) toolWords(t *Tool, content *hcl.BodyContent) {
	for name, to := range map[string]*string{"version": &t.Version, "title": &t.Title, "description": &t.Description, "owner": &t.Owner} {
		if a := content.Attributes[name]; a != nil {
			*to, _ = p.str(a.Expr)
		}
	}
	if a := content.Attributes["level"]; a != nil {
		if v, ok := p.word(a.Expr); ok && !slices.Contains(levels, v) {
			p.fail(a.Expr.Range(), fmt.Sprintf("%q is not a level", v), "they are "+strings.Join(levels, ", ")+suggest(v, levels...))
		} else {
			t.Level = v
		}
	}
	if a := content.Attributes["disabled"]; a != nil {
		t.Disabled, _ = p.boolean(a.Expr)
	}
	if a := content.Attributes["approval"]; a != nil {
		v, ok := p.word(a.Expr)
		if t.Approval = v == "required"; ok && !t.Approval && v != "none" {
			p.fail(a.Expr.Range(), fmt.Sprintf("%q is not an approval rule", v), `write approval = "required", or "none"`)
		}
	}
}

func (p *parser) toolLimits(t *Tool, content *hcl.BodyContent) {
	if a := content.Attributes["calls"]; a != nil {
		t.Calls, _ = p.integer(a.Expr, 1<<31)
	}
	if a := content.Attributes["timeout"]; a != nil {
		t.Timeout, _ = p.duration(a.Expr)
	}
	if a := content.Attributes["max_output"]; a != nil {
		t.MaxOutput, _ = p.sizeUpTo(a.Expr, MaxInspected)
	}
}

func (p *parser) toolShape(t *Tool, content *hcl.BodyContent) {
	if a := content.Attributes["input"]; a != nil {
		t.Input, t.InputText = p.inputSchema(a.Expr)
	}
	if a := content.Attributes["output"]; a != nil {
		t.Output = p.wordList(a.Expr, `output = ["exit_code", "output"]`)
	}
	if a := content.Attributes["deny_commands"]; a != nil {
		if t.Name != "bash" {
			p.fail(a.NameRange, fmt.Sprintf("deny_commands on tool %q", t.Name), `only "bash" runs commands`)
			return
		}
		items, _ := p.list(a.Expr, `deny_commands = ["sudo", "git push"]`)
		for _, i := range items {
			if v, ok := p.str(i); ok {
				t.DenyCommands = append(t.DenyCommands, v)
			}
		}
	}
}

// inputSchema reads a schema that narrows what the tool takes: file("name").
func (p *parser) inputSchema(e hcl.Expression) (*payload.Schema, []byte) {
	name, args, ok := call(e)
	if !ok || name != "file" || len(args) != 1 {
		p.fail(e.Range(), "not a schema", `write input = file("arguments.schema.json")`)
		return nil, nil
	}
	text, path, ok := p.hashedFile(args[0])
	if !ok {
		return nil, nil
	}
	schema, mistakes := payload.CompileSchema(path, text)
	for _, m := range mistakes {
		p.fail(e.Range(), fmt.Sprintf("schema %q %s", path, m), "schemas are JSON Schema of draft 2020-12")
	}
	return schema, text
}

// registry is every tool there is, in the order of names.
func (p *parser) registry() []Tool {
	all := make(map[string]Tool)
	for _, name := range BuiltIn() {
		all[name] = Tool{Tool: capability.Tool{Name: name}}
	}
	for _, t := range p.file.Tools {
		all[t.Name] = t
	}
	out := make([]Tool, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t := all[name]
		if t.Inspect == nil {
			t.Inspect = p.file.Inspect
		}
		out = append(out, t)
	}
	return out
}

func judgedTools(tools []Tool) []capability.Tool {
	out := make([]capability.Tool, len(tools))
	for i, t := range tools {
		out[i] = t.Tool
	}
	return out
}

// wordList reads a list of words.
func (p *parser) wordList(e hcl.Expression, example string) []string {
	var out []string
	items, _ := p.list(e, example)
	for _, i := range items {
		if v, ok := p.word(i); ok {
			out = append(out, v)
		}
	}
	return out
}

// protectedNames reads names of files and folders, of one or more components.
func (p *parser) protectedNames(e hcl.Expression, example string) []string {
	var out []string
	items, _ := p.list(e, example)
	for _, i := range items {
		v, ok := p.word(i)
		if ok && !fs.ValidPath(v) || v == "." {
			p.fail(i.Range(), fmt.Sprintf("%q is not a protected name", v), "write components without a slash in front or behind, and without dots: "+example)
			continue
		}
		out = append(out, v)
	}
	return out
}
