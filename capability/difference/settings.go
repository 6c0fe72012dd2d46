package difference

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/capability/policyfile"
	"scupper.dev/scupper/payload"
)

// direction says what a change of a setting means.
type direction int

const (
	unknown  direction = iota // whatever it was before, it is something else now
	more                      // a larger number is wider
	less                      // a smaller number is wider
	switched                  // true is wider
	held                      // true is narrower
	longer                    // a longer list is narrower
)

// directions of the settings that are known, by their names. A setting that a later
// version adds is unknown here, and every change of it counts as wider.
func directions() map[string]direction {
	d := map[string]direction{
		"best_effort": switched, "fail_open": switched, "approval": held, "disabled": held, "quarantined": held, "deny_commands": longer, "body_rate": less,
	}
	for _, name := range []string{
		"memory", "cpus", "processes", "time", "scratch", "output",
		"header_bytes", "header_count", "header_time", "url_bytes", "query_pairs", "body_time", "request_time", "idle_time",
		"handshake_time", "handshakes", "streams", "open", "questions", "question_rate", "calls", "timeout", "max_output",
	} {
		d[name] = more
	}
	return d
}

// elsewhere are the parts of a file that are compared in their own way, or that decide
// nothing.
var elsewhere = []string{"name", "text", "hash", "policy", "roles", "credentials", "environment", "files", "digests"}

// derived are fields that repeat others, or hold the folder of the policy.
var derived = []string{"input_text", "dir"}

// leaf is one value.
type leaf struct {
	text   string
	number float64
	list   []string
	zero   bool
}

// settings compares everything beside the grants and roles, field by field.
func settings(old, changed *policyfile.File) (out []Setting) {
	before, after := make(map[string]leaf), make(map[string]leaf)
	flatten(before, "", reflect.ValueOf(*old))
	flatten(after, "", reflect.ValueOf(*changed))
	beside(before, old)
	beside(after, changed)
	environment(before, old)
	environment(after, changed)
	names := maps.Clone(before)
	maps.Copy(names, after)
	known := directions()
	for _, name := range slices.Sorted(maps.Keys(names)) {
		b, a := before[name], after[name]
		if b.text == a.text {
			continue
		}
		wider, note := b.widens(a, known[name[strings.LastIndexByte(name, ' ')+1:]])
		if strings.HasPrefix(name, "environment ") && a.text == "" {
			wider, note = false, ""
		}
		out = append(out, Setting{What: name, Old: b.shown(), New: a.shown(), Wider: wider, Note: note})
	}
	return append(out, roles(old, changed)...)
}

func (l leaf) shown() string {
	if l.zero || l.text == "" {
		return "not set"
	}
	return l.text
}

const noDirection = "which of the two permits more is not known"

// widens judges the change from b to a.
func (b leaf) widens(a leaf, d direction) (wider bool, note string) {
	switch d {
	case more, less:
		if b.zero || a.zero || b.text == "" || a.text == "" {
			return true, "from or to a default: " + noDirection
		}
		return (a.number > b.number) == (d == more), ""
	case switched:
		return a.text == "true", ""
	case held:
		return a.text != "true", ""
	case longer:
		return slices.ContainsFunc(b.list, func(s string) bool { return !slices.Contains(a.list, s) }), ""
	}
	return true, noDirection
}

// flatten writes the fields of v, by their names as policies have them.
func flatten(out map[string]leaf, path string, v reflect.Value) {
	switch x := v.Interface().(type) {
	case capability.Position, *capability.Policy:
		return
	case *payload.Schema:
		if x != nil {
			out[path] = leaf{text: x.String() + " " + x.Sum()[:12]}
		}
		return
	case time.Duration:
		out[path] = leaf{text: x.String(), number: float64(x), zero: x == 0}
		return
	case capability.Rate:
		perHour := float64(x.Requests) * float64(time.Hour) / float64(max(x.Per, 1))
		out[path] = leaf{text: showRate(perHour), number: perHour, zero: x == capability.Rate{}}
		return
	case []byte:
		bytesLeaf(out, path, x)
		return
	case fmt.Stringer:
		out[path] = leaf{text: x.String(), zero: v.IsZero()}
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			flatten(out, path, v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			name := snake(f.Name)
			if !f.IsExported() || path == "" && slices.Contains(elsewhere, name) || slices.Contains(derived, name) {
				continue
			}
			if !f.Anonymous {
				name = strings.TrimSpace(path + " " + name)
			} else {
				name = path
			}
			flatten(out, name, v.Field(i))
		}
	case reflect.Slice:
		flattenList(out, path, v)
	case reflect.Array:
		out[path] = leaf{text: fmt.Sprintf("%x", v.Interface()), zero: v.IsZero()}
	case reflect.Int64, reflect.Int:
		out[path] = leaf{text: fmt.Sprint(v.Int()), number: float64(v.Int()), zero: v.IsZero()}
	case reflect.Float64:
		out[path] = leaf{text: fmt.Sprint(v.Float()), number: v.Float(), zero: v.IsZero()}
	default:
		out[path] = leaf{text: fmt.Sprint(v.Interface()), zero: v.IsZero() && v.Kind() != reflect.Bool}
	}
}

// flattenList writes structures with a name one by one, and other elements together.
func flattenList(out map[string]leaf, path string, v reflect.Value) {
	var texts []string
	for i := range v.Len() {
		e := v.Index(i)
		if e.Kind() == reflect.Struct && e.FieldByName("Name").IsValid() {
			name := fmt.Sprintf("%s %q", strings.TrimSuffix(path, "s"), e.FieldByName("Name"))
			out[name] = leaf{text: "present"}
			flatten(out, name, e)
			continue
		}
		texts = append(texts, fmt.Sprint(e.Interface()))
	}
	if len(texts) > 0 {
		out[path] = leaf{text: strings.Join(texts, ", "), list: texts}
	}
}

// bytesLeaf shows certificates by their fingerprints, and other bytes by one.
func bytesLeaf(out map[string]leaf, path string, text []byte) {
	if len(text) == 0 {
		return
	}
	var sums []string
	for b, rest := pem.Decode(text); b != nil; b, rest = pem.Decode(rest) {
		sums = append(sums, fingerprint(b.Bytes))
	}
	if sums == nil {
		sums = []string{fingerprint(text)}
	}
	out[path] = leaf{text: strings.Join(sorted(sums), ", ")}
}

func fingerprint(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:8])
}

// snake writes a field's name as policies write it.
func snake(name string) string {
	if name == strings.ToUpper(name) || name == "CPUs" {
		return strings.ToLower(name)
	}
	var b strings.Builder
	for i, r := range name {
		upper := 'A' <= r && r <= 'Z'
		if upper && i > 0 && !('A' <= name[i-1] && name[i-1] <= 'Z') {
			b.WriteByte('_')
		}
		b.WriteString(strings.ToLower(string(r)))
	}
	return b.String()
}

// beside makes the paths of files relative to the policy, wherever that lies.
func beside(out map[string]leaf, f *policyfile.File) {
	for name, l := range out {
		if rel, err := filepath.Rel(filepath.Dir(f.Name), l.text); strings.HasSuffix(name, "_file") && l.text != "" && err == nil {
			l.text = rel
			out[name] = l
		}
	}
}

// environment has what the sandbox sees: variables, and placeholders of secrets that
// grants bind.
func environment(out map[string]leaf, f *policyfile.File) {
	for _, v := range f.Environment {
		out["environment "+v.Name] = leaf{text: fmt.Sprintf("%q", v.Value)}
	}
	for _, c := range f.CredentialsOf(f.Policy) {
		if c.Expose != "" {
			out["environment "+c.Expose] = leaf{text: "the placeholder of " + identity(f, c)}
		}
	}
}

// roles compares which there are. What one permits is compared grant by grant.
func roles(old, changed *policyfile.File) (out []Setting) {
	find := func(in []capability.Role, name string) *capability.Role {
		for i := range in {
			if in[i].Name == name {
				return &in[i]
			}
		}
		return nil
	}
	for _, r := range changed.Roles {
		if find(old.Roles, r.Name) == nil {
			note := "grants " + strings.Join(r.Grants, ", ")
			out = append(out, Setting{What: fmt.Sprintf("role %q", r.Name), Old: "not set", New: short(r.Position), Wider: true, Note: note})
		}
	}
	for _, r := range old.Roles {
		if find(changed.Roles, r.Name) == nil {
			out = append(out, Setting{What: fmt.Sprintf("role %q", r.Name), Old: short(r.Position), New: "not set"})
		}
	}
	return out
}

// tools compares which tools each role can call; the policies decide a call of each.
func (r *Report) tools(c *comparison, old, changed *policyfile.File) error {
	before, err := c.side(old, "")
	if err != nil {
		return err
	}
	after, err := c.side(changed, "")
	if err != nil {
		return err
	}
	for _, role := range rolesOf(old, changed) {
		mine, theirs := after.proof.ToolsOf(role), before.proof.ToolsOf(role)
		for _, tool := range mine {
			if !slices.Contains(theirs, tool) {
				r.Settings = append(r.Settings, toolSetting(role, tool, after, before, true))
			}
		}
		for _, tool := range theirs {
			if !slices.Contains(mine, tool) {
				r.Settings = append(r.Settings, toolSetting(role, tool, before, after, false))
			}
		}
	}
	return nil
}

func rolesOf(files ...*policyfile.File) (names []string) {
	for _, f := range files {
		for _, r := range f.Roles {
			names = append(names, r.Name)
		}
	}
	return sorted(names)
}

func toolSetting(role, tool string, s, o *side, wider bool) Setting {
	p := probe{request: &capability.Request{Time: firstMoment(), Kind: capability.KindTool, Tool: capability.ToolCall{Name: tool, Role: role}}}
	mine, theirs := judge(s.proof, p), judge(o.proof, p)
	set := Setting{What: fmt.Sprintf("role %q tool %q", role, tool), Old: "no", New: "yes", Wider: wider}
	if !wider {
		set.Old, set.New = "yes", "no"
	}
	if mine.allowed && !theirs.allowed {
		set.Example = &Example{Role: role, Tool: tool, Here: mine.reason, There: theirs.reason, probe: p}
	}
	return set
}
