package scenario

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// maxFile is how long a file of scenarios may be.
const maxFile = 4 << 20

// PolicyFile is what the policy of a folder is called. It, and whatever lies in a folder
// named PolicyFolder, is no file of scenarios.
const (
	PolicyFile   = "policy.hcl"
	PolicyFolder = "policies"
)

// Options of Load.
type Options struct {
	// Policy is that of scenarios that name none; empty: policy.hcl in the scenario's
	// folder or in the nearest one above it, up to the path that was given.
	Policy string
	// Known reports whether a host of the pretend Internet has a stand-in.
	Known func(host string) bool
}

// Load reads files, and folders with all below them. The error is Mistakes, all of them,
// or says what could not be read.
func Load(paths []string, o Options) (*Pack, error) {
	l := &loader{options: o, pack: &Pack{}, named: map[string]hcl.Range{}}
	for _, path := range paths {
		if err := l.find(path); err != nil {
			return nil, err
		}
	}
	if len(l.files) == 0 && len(l.diags) == 0 {
		return nil, errors.New("no file of scenarios among what is to be replayed")
	}
	l.services()
	for _, f := range l.files {
		l.scenarios(f)
	}
	if found := mistakes(l.diags); len(found) > 0 {
		return nil, found
	}
	if len(l.pack.Scenarios) == 0 {
		return nil, fmt.Errorf("no scenario in %s", strings.Join(paths, ", "))
	}
	return l.pack, nil
}

// loader reads the files of a pack.
type loader struct {
	options Options
	files   []parsed
	pack    *Pack
	named   map[string]hcl.Range // scenarios by name
	diags   hcl.Diagnostics
}

// parsed is a file and where to look for its policy.
type parsed struct {
	path, root string
	body       *hclsyntax.Body
}

func (l *loader) find(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("read scenarios: %w", err)
	}
	if !info.IsDir() {
		return l.parse(path, filepath.Dir(path))
	}
	return filepath.WalkDir(path, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("read scenarios: %w", err)
		case e.IsDir() && e.Name() == PolicyFolder:
			return filepath.SkipDir
		case !e.Type().IsRegular() || filepath.Ext(name) != ".hcl" || e.Name() == PolicyFile:
			return nil
		}
		return l.parse(name, path)
	})
}

func (l *loader) parse(path, root string) error {
	info, err := os.Stat(path)
	if err == nil && info.Size() > maxFile {
		err = fmt.Errorf("%d bytes are more than %d", info.Size(), maxFile)
	}
	if err != nil {
		return fmt.Errorf("read scenarios %q: %w", path, err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read scenarios: %w", err)
	}
	file, diags := hclsyntax.ParseConfig(text, path, hcl.InitialPos)
	l.diags = append(l.diags, diags...)
	if diags.HasErrors() {
		return nil
	}
	l.files = append(l.files, parsed{path, root, file.Body.(*hclsyntax.Body)})
	return nil
}

// services reads the services of all files, which every scenario may name.
func (l *loader) services() {
	for _, f := range l.files {
		for _, b := range f.body.Blocks {
			switch b.Type {
			case "scenario":
			case "service":
				r := reader{ctx: context(nil), diags: &l.diags}
				if s, ok := r.service(b); ok {
					l.pack.Services = append(l.pack.Services, s)
				}
			default:
				l.wrong(b.TypeRange, fmt.Sprintf("no block is named %q here", b.Type), `a file has scenario "name" { … } and service "name" { … }`)
			}
		}
		for _, a := range f.body.Attributes {
			l.wrong(a.NameRange, fmt.Sprintf("%q stands outside of any block", a.Name), `a file has scenario "name" { … } and service "name" { … }`)
		}
	}
}

func (l *loader) scenarios(f parsed) {
	for _, b := range f.body.Blocks {
		if b.Type != "scenario" {
			continue
		}
		if len(b.Labels) != 1 || !isName(b.Labels[0]) {
			l.wrong(b.DefRange(), "a scenario has one name of lower-case letters, digits and hyphens", `scenario "attackers-key" { … }`)
			continue
		}
		if first, twice := l.named[b.Labels[0]]; twice {
			l.wrong(b.DefRange(), fmt.Sprintf("a second scenario %q", b.Labels[0]), fmt.Sprintf("the first is at %s:%d", first.Filename, first.Start.Line))
			continue
		}
		l.named[b.Labels[0]] = b.DefRange()
		l.family(f, b)
	}
}

// family reads a scenario once for each key of its for_each.
func (l *loader) family(f parsed, b *hclsyntax.Block) {
	r := reader{ctx: context(b.Body), diags: &l.diags, known: l.known}
	items := []item{{}}
	if a := b.Body.Attributes["for_each"]; a != nil {
		items = r.items(a.Expr)
	}
	for _, it := range items {
		l.one(f, b, it)
	}
}

func (l *loader) one(f parsed, b *hclsyntax.Block, it item) {
	s := Scenario{Name: b.Labels[0], File: f.path, Line: b.DefRange().Start.Line}
	if it.set {
		s.Name += "[" + it.key + "]"
	}
	ctx, canaries := withCanaries(context(b.Body), b.Body, s.Name)
	if it.set {
		ctx.Variables["each"] = it.object()
	}
	s.Canaries = canaries
	r := reader{ctx: ctx, diags: &l.diags, known: l.known}
	before := len(l.diags)
	r.scenario(&s, b)
	s.Policy = l.policy(f, b, s.Policy)
	if len(l.diags) == before {
		l.pack.Scenarios = append(l.pack.Scenarios, s)
	}
}

// policy finds the policy of a scenario.
func (l *loader) policy(f parsed, b *hclsyntax.Block, own string) string {
	path := cmp.Or(own, l.options.Policy)
	switch {
	case own != "" && !filepath.IsAbs(own):
		path = filepath.Join(filepath.Dir(f.path), own)
	case path == "":
		path = above(filepath.Dir(f.path), f.root)
	}
	if info, err := os.Stat(path); path == "" || err != nil || info.IsDir() {
		at := b.DefRange()
		if a := b.Body.Attributes["policy"]; a != nil {
			at = a.Expr.Range()
		}
		l.wrong(at, fmt.Sprintf("there is no policy %q", path), `policy = "policies/llm.hcl", --policy FILE, or a policy.hcl in the folder`)
	}
	return path
}

// above is the nearest policy.hcl in dir or above it, as far as root.
func above(dir, root string) string {
	for {
		path := filepath.Join(dir, PolicyFile)
		if _, err := os.Stat(path); err == nil || filepath.Clean(dir) == filepath.Clean(root) {
			return path
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// known reports whether a host is one of the pretend Internet's or of a service.
func (l *loader) known(host string) bool {
	if l.options.Known != nil && l.options.Known(host) {
		return true
	}
	return slices.ContainsFunc(l.pack.Services, func(s Service) bool { return Matches(s.Host, host) })
}

// Matches reports whether a service at pattern answers for host.
func Matches(pattern, host string) bool {
	if suffix, ok := strings.CutPrefix(pattern, "*"); ok {
		return strings.HasSuffix(host, suffix)
	}
	return pattern == host
}

func (l *loader) wrong(at hcl.Range, summary, detail string) {
	l.diags = append(l.diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: &at})
}

func isName(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}
