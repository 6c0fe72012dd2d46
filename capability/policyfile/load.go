package policyfile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"scupper.dev/scupper/capability"
)

// Version is the version of the policy language that this package reads.
const Version = 1

// Limits of what is read, so that a hostile file cannot exhaust the reader.
const (
	maxPolicy    = 1 << 20  // bytes of a policy
	maxNamed     = 64 << 20 // bytes of a file that a policy names; lockfiles are large
	maxDepth     = 64       // of brackets
	maxOperators = 1000     // which the language does not have
)

// File is a policy and what stands beside its grants.
type File struct {
	Name        string // as it was opened
	Text        []byte // as it was read
	Hash        string // SHA-256, in hexadecimal, of the text and of the named files that can widen it
	Policy      *capability.Policy
	Roles       []capability.Role
	Tools       []Tool              // the registry: those that are built in, as the policy tunes them
	Callers     []Caller            // of the gateway over HTTP
	Protected   []string            // names that no file tool writes without a grant, beside those that always are
	Writes      map[string][]string // protected names that a role may write all the same
	Inspect     *Inspect            // of every tool's results; nil: none
	Credentials []Credential
	Upstream    Upstream
	Sandbox     Sandbox
	Connections Connections
	Audit       Audit
	Environment []Variable        // for the sandbox: what presets set for their clients, and the policy itself
	Files       []string          // the files it names, absolute where Name is, else relative to the same folder
	Digests     map[string]string // SHA-256, in hexadecimal, of those of Files that were read, by path
	BestEffort  bool              // a control that cannot be applied is reported, not an error
}

// Upstream is how the outside is reached, and how its names and certificates are checked.
type Upstream struct {
	Resolver string // address:port of a DNS server; empty: the system's
	ExtraCA  []byte // PEM certificates beside the system's
	Proxy    *Proxy // through which everything goes; nil: none
}

// Proxy is an HTTP proxy on the way outside, and where its credential is. The
// credential itself is in no policy.
type Proxy struct {
	Host capability.Host
	Port uint16

	User         string // or
	UserEnv      string // the variable that holds it; both empty: no credential
	PasswordEnv  string // the variable that holds the password, or
	PasswordFile string // the file, absolute where the policy's name is, else relative to the same folder
}

// Variable is one variable of the sandbox's environment.
type Variable struct {
	Name, Value string
	Grant       string // the preset's grant it belongs to; empty: it belongs to the run
}

// EnvironmentFor is the environment of a role: variables of presets that the role does
// not name are left out. The empty role has all.
func (f *File) EnvironmentFor(role string) []Variable {
	i := slices.IndexFunc(f.Roles, func(r capability.Role) bool { return r.Name == role })
	if i < 0 {
		return f.Environment
	}
	var out []Variable
	for _, v := range f.Environment {
		if v.Grant == "" || slices.Contains(f.Roles[i].Grants, v.Grant) {
			out = append(out, v)
		}
	}
	return out
}

// Options of Parse. The zero value reads no files and does not look at the time.
type Options struct {
	Now      time.Time                         // expiry is remarked on against it
	ReadFile func(path string) ([]byte, error) // of the files that a policy names
}

// Load reads the policy at path and the files it names. The File is never nil; with a
// mistake among the Diagnostics its policy denies everything and nothing else is set
// that could loosen a run.
func Load(path string) (*File, Diagnostics) {
	text, err := readFile(path, maxPolicy)
	if err != nil {
		return deniesAll(path), Diagnostics{{Severity: Error, Summary: escape(fmt.Sprintf("read policy %q: %v", path, cause(err)))}}
	}
	read := func(name string) ([]byte, error) { return readFile(name, maxNamed) }
	return Parse(path, text, Options{Now: time.Now(), ReadFile: read})
}

// Parse reads a policy from text. name stands in positions, and the files that the
// policy names are looked up beside it.
func Parse(name string, text []byte, o Options) (*File, Diagnostics) {
	var diags Diagnostics
	p := &parser{
		source:  source{name: name, text: text, diags: &diags},
		options: o,
		file:    deniesAll(name),
		hash:    newHash(text),
	}
	p.file.Text, p.files = text, p.hashedFile
	if o.ReadFile != nil {
		p.file.Digests = make(map[string]string)
		p.options.ReadFile = p.digesting(o.ReadFile)
	}
	if body := p.syntax(); body != nil {
		p.policy(body)
	}
	diags.sort()
	if !diags.HasErrors() {
		p.compile()
	}
	if diags.HasErrors() {
		p.file = &File{Name: name, Text: text, Files: p.file.Files, Policy: new(capability.Policy)}
	}
	p.file.Hash = p.hash.sum()
	return p.file, diags
}

// digesting keeps the digest of what read returns: the files are part of the policy, and
// a log says which they were.
func (p *parser) digesting(read func(string) ([]byte, error)) func(string) ([]byte, error) {
	digests := p.file.Digests
	return func(path string) ([]byte, error) {
		text, err := read(path)
		if err == nil {
			sum := sha256.Sum256(text)
			digests[path] = hex.EncodeToString(sum[:])
		}
		return text, err
	}
}

func deniesAll(name string) *File {
	return &File{Name: name, Policy: new(capability.Policy)}
}

// syntax parses the text; it is nil where that has mistakes, because what stands
// around them cannot be judged.
func (s *source) syntax() *hclsyntax.Body {
	whole := hcl.Range{Filename: s.name, Start: hcl.InitialPos, End: hcl.InitialPos}
	if len(s.text) > maxPolicy {
		s.fail(whole, "the policy is too large", fmt.Sprintf("it may have %d bytes", maxPolicy))
		return nil
	}
	if at, deep := tooDeep(s.name, s.text); deep {
		s.fail(at, "brackets or operators without end", "a policy is flat, and has no operators")
		return nil
	}
	f, diags := hclsyntax.ParseConfig(s.text, s.name, hcl.InitialPos)
	if f != nil {
		s.nav = f.Nav
	}
	s.adopt(diags)
	if diags.HasErrors() {
		return nil
	}
	body, ok := f.Body.(*hclsyntax.Body)
	if !ok {
		return nil
	}
	return body
}

// tooDeep finds nesting that would exhaust the stack of a recursive parser. Operators
// nest without brackets; the language has none, so there is no need to tell how deep.
func tooDeep(name string, text []byte) (hcl.Range, bool) {
	tokens, _ := hclsyntax.LexConfig(text, name, hcl.InitialPos)
	depth, operators := 0, 0
	for _, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen, hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc:
			depth++
		case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc:
			depth--
		case hclsyntax.TokenMinus, hclsyntax.TokenBang, hclsyntax.TokenQuestion, hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
			operators++
		}
		if depth > maxDepth || operators > maxOperators {
			return t.Range, true
		}
	}
	return hcl.Range{}, false
}

// readFile reads a regular file of at most limit bytes: a pipe would block, a device
// would not end.
func readFile(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("it has more than %d bytes", limit)
	}
	return text, err
}

// cause is err without the path, which the caller shows escaped.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// beside is a path of the policy, looked up in the policy's folder.
func (p *parser) beside(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(filepath.Dir(p.name), path)
}
