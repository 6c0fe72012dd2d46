package retrial

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/capability/policyfile"
)

// oldPolicy is a policy that a run was judged by.
type oldPolicy struct {
	file   *policyfile.File
	issues string
	places map[string][]before // by grant and position
}

// history is what the log has said so far of policies and roles.
type history struct {
	dir, run string
	changed  string // path of the new policy
	start    *audit.Start
	policies map[string]*oldPolicy // by hash; nil: it does not load
	newest   string                // hash
	calls    map[string]string     // role by the ID of the call
}

func newHistory(dir, run, changed string) *history {
	return &history{dir: dir, run: run, changed: changed, policies: make(map[string]*oldPolicy), calls: make(map[string]string)}
}

// load reads the text of a policy from beside the log. The files that it names are looked
// for where they were, and count when they are what they were.
func (h *history) load(hash string) *oldPolicy {
	text, err := audit.PolicyText(h.dir, h.run, hash)
	if err != nil {
		return nil
	}
	read := func(path string) ([]byte, error) { return h.named(path, hash) }
	file, diags := policyfile.Parse(h.start.Policy, text, policyfile.Options{ReadFile: read})
	if diags.HasErrors() {
		return nil
	}
	old := &oldPolicy{file: file, issues: issuesOf(file.Policy), places: make(map[string][]before)}
	for _, g := range file.Policy.Grants() {
		for _, a := range g.Allows {
			key := g.Name + "\n" + a.Position.String()
			old.places[key] = append(old.places[key], before{g, a})
		}
	}
	return old
}

var errOther = errors.New("it is not the file that the policy named")

// named reads a file that the policy named when the run started: from its place, or from
// beside the new policy, which may be in a copy of the same tree.
func (h *history) named(path, hash string) ([]byte, error) {
	want := h.start.PolicyFiles[path]
	if hash != h.start.PolicyHash || want == "" {
		return nil, errOther
	}
	places := []string{path}
	if beside, err := filepath.Rel(filepath.Dir(h.start.Policy), path); err == nil {
		places = append(places, filepath.Join(filepath.Dir(h.changed), beside))
	}
	for _, place := range places {
		text, err := os.ReadFile(place)
		sum := sha256.Sum256(text)
		if err == nil && hex.EncodeToString(sum[:]) == want {
			return text, nil
		}
	}
	return nil, errOther
}

func (h *history) enact(hash string) {
	h.newest = hash
	if _, known := h.policies[hash]; !known {
		h.policies[hash] = h.load(hash)
	}
}

// judgedBy is the policy that a record names.
func (h *history) judgedBy(r *audit.Record) *oldPolicy {
	if r.Policy == "" {
		return h.policies[h.newest]
	}
	for hash, p := range h.policies {
		if strings.HasPrefix(hash, r.Policy) {
			return p
		}
	}
	return nil
}

// role is that of the call that caused the record, or of the run. ok is false for a call
// of which nothing is on record.
func (h *history) role(r *audit.Record) (role string, ok bool) {
	if r.Call != "" {
		role, ok = h.calls[r.Call]
		return role, ok
	}
	if h.start == nil {
		return "", false
	}
	return h.start.Role, true
}

// request reads a decision. What a preset granted is known only for the scupper that
// wrote the log.
func (h *history) request(r *audit.Record, version string) *request {
	q := &request{Record: r, permitted: r.Verdict == "allow", under: h.judgedBy(r), times: 1, reasonThen: capability.Reason(r.Reason)}
	q.readPath()
	if q.under == nil || r.Preset != "" && (h.start == nil || h.start.Scupper != version) {
		return q
	}
	position := r.Position
	if r.Preset != "" {
		position = r.Preset
	}
	found := q.under.places[r.Grant+"\n"+position]
	if len(found) != 1 {
		return q // not known, or one of several in one place
	}
	if q.permitted && found[0].allow.Path.Match(q.path) {
		q.allow = &found[0]
	}
	if !q.permitted {
		q.nearest = &found[0]
	}
	return q
}
