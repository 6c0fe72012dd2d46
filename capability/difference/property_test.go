package difference

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/capability/difference/language"
	"scupper.dev/scupper/capability/policyfile"
)

// holds reports whether r lies in b. It asks the patterns and templates themselves, not
// the machines, wherever there are such.
func holds(s *side, b *box, r *capability.Request) bool {
	in := func(dim string, text string) bool { return slices.Contains(b.dims[dim].(words), text) }
	body := noBody
	if r.Body.Present {
		body = strings.TrimSuffix(r.Body.Type+" in "+r.Body.Encoding, " in ")
	}
	length := b.dims[dimSize].(size)
	fits := !r.Body.Present || r.Body.Length > length.over && r.Body.Length <= length.most
	if r.Body.Present && r.Body.Length == -1 {
		fits = length.over == -1 // a length that nobody said
	}
	at := b.dims[dimTime].(span)
	timely := !r.Time.Before(at.from) && (at.until.IsZero() || r.Time.Before(at.until))
	ws := "plain"
	if r.WebSocket {
		ws = "websocket"
	}
	return in(dimEndpoint, fmt.Sprintf("%s:%d", r.Scheme, r.Port)) && b.dims[dimHost].(hosts).has(string(r.Host)) && in(dimMethod, r.Method) &&
		in(dimWebSocket, ws) && in(dimBody, body) && fits && timely && holdsPath(b, r) && holdsQuery(b, r) && holdsHeaders(b, r) && holdsCredential(s, b, r)
}

func holdsPath(b *box, r *capability.Request) bool {
	p := b.dims[dimPath].(paths)
	return p.of.Match(r.Path) && !slices.ContainsFunc(p.without, func(w *template) bool { return w.Match(r.Path) })
}

// isSecret reports whether a parameter is the credential's business.
func isSecret(name string) bool { return name == place2.Name }

func holdsQuery(b *box, r *capability.Request) bool {
	rest := slices.DeleteFunc(slices.Clone(r.Query), func(p capability.Parameter) bool { return isSecret(p.Name) || p.Value == issuedExample })
	seen := make(map[string]int)
	for _, p := range rest {
		seen[p.Name]++
	}
	strange := false
	for name, n := range seen {
		strange = strange || n > 1 || b.dims[prefixQuery+name] == nil
	}
	kinds := b.dims[dimQuery].(words)
	if strange {
		// What is declared may occur in any number and with any value where others are taken.
		return slices.Contains(kinds, others)
	}
	for name, s := range b.dims {
		key, ok := strings.CutPrefix(name, prefixQuery)
		if !ok {
			continue
		}
		i := slices.IndexFunc(rest, func(p capability.Parameter) bool { return p.Name == key })
		if i < 0 && !s.(values).absent || i >= 0 && !holdsValue(s.(values), rest[i].Value) {
			return false
		}
	}
	return slices.Contains(kinds, declared)
}

func holdsValue(v values, text string) bool {
	return v.pattern != nil && matches(v.pattern, text) && !slices.ContainsFunc(v.without, func(p *pattern) bool { return matches(p, text) })
}

func matches(p *pattern, text string) bool {
	s := p.built().machine.Start()
	for _, r := range text {
		if s = p.machine.Step(s, r); s == language.Dead {
			return false
		}
	}
	return p.machine.Accepts(s) && len(text) <= capability.MaxQuery
}

// holdsHeaders: r has been brought into the form that goes out.
func holdsHeaders(b *box, r *capability.Request) bool {
	for name, s := range b.dims {
		key, ok := strings.CutPrefix(name, prefixHeader)
		if !ok {
			continue
		}
		v, sent := s.(values), r.Header[key]
		if len(sent) == 0 && !v.absent || len(sent) == 1 && !holdsValue(v, sent[0]) {
			return false
		}
	}
	return true
}

func holdsCredential(s *side, b *box, r *capability.Request) bool {
	way := carriesNone
	auth := strings.TrimPrefix(strings.Join(r.Header["Authorization"], ""), "Bearer ")
	for _, p := range r.Query {
		if isSecret(p.Name) {
			auth = p.Value
		}
	}
	switch {
	case auth == placeholderExample(secretOne):
		way = carriesSecret + secretOne
	case auth == placeholderExample(secretTwo):
		way = carriesSecret + secretTwo
	case auth == issuedExample:
		way = carriesIssued
	case auth != "":
		way = carriesPinned
	}
	foreign := len(r.Header["X-Api-Key"]) > 0
	return slices.ContainsFunc(b.dims[dimCredential].(words), func(w string) bool {
		base, strips := strings.CutSuffix(w, andForeign)
		if base == "" {
			base = carriesNone
		}
		// A grant that strips leaves out whatever is not its own, other placeholders too.
		return base == way && foreign == strips || way == carriesPinned && strings.HasPrefix(base, way) && foreign == strips || strips
	})
}

// settled is r as policy would send it: headers that do not go out are left out, and
// constants stand in their places.
func settled(policy *capability.Policy, r *capability.Request) *capability.Request {
	d := policy.Decide(r)
	sent, _ := d.Header(r)
	own := *r
	own.Header = make(map[string][]string)
	for name, v := range r.Header {
		switch name {
		case "Authorization", "X-Api-Key", "Content-Type":
			own.Header[name] = v
		}
	}
	for _, name := range []string{"X-A", "Accept", "User-Agent"} {
		if v := sent[name]; v != nil && !(name == "User-Agent" && v[0] == capability.UserAgent) {
			own.Header[name] = v
		}
	}
	return &own
}

const pairs = 2000

var oneSeed = flag.Int("seed", -1, "compare the one pair of this seed")

// TestProperty compares random policies. Whatever only one of them allows lies in what
// is reported, and every example is decided as it says.
func TestProperty(t *testing.T) {
	var tally tally
	for seed := uint64(0); tally.pairs < pairs && seed < 2*pairs; seed++ { // some contradict themselves
		if *oneSeed >= 0 && seed != uint64(*oneSeed) {
			continue
		}
		m := &maker{rand.New(rand.NewPCG(seed, 20261130)), t}
		before := m.grants()
		after := m.changed(before)
		if m.seldom(3) {
			after = m.grants()
		}
		old, changed := m.file(before), m.file(after)
		if old == nil || changed == nil {
			tally.contradicted++
			continue
		}
		tally.pair(t, m, seed, old, changed)
	}
	t.Logf("%+v", tally)
	if *oneSeed >= 0 {
		return
	}
	if tally.onlyNew < 2000 || tally.onlyOld < 2000 || tally.examples < 2000 || tally.contradicted > pairs/5 || tally.doubts*5 > tally.pieces {
		t.Errorf("too little was tested: %+v", tally)
	}
}

type tally struct{ contradicted, pairs, equal, pieces, doubts, examples, decided, onlyNew, onlyOld int }

func (y *tally) pair(t *testing.T, m *maker, seed uint64, old, changed *policyfile.File) {
	t.Helper()
	y.pairs++
	for _, f := range []*policyfile.File{old, changed} {
		if r := between(t, f, f); !r.Equal() {
			t.Errorf("seed %d: a policy differs from itself:\n%s", seed, text(t, r))
		}
	}
	r := between(t, old, changed)
	c := newComparison()
	before, err1 := c.side(old, "")
	after, err2 := c.side(changed, "")
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if r.Equal() {
		y.equal++
	}
	y.proofs(t, seed, r, before, after)
	for range 60 {
		request := m.request(old, changed)
		if lies(t, seed, "new", request, after, before, r.more) {
			y.onlyNew++
		}
		if lies(t, seed, "old", request, before, after, r.less) {
			y.onlyOld++
		}
	}
}

// lies checks a request that only the policy s allows.
func lies(t *testing.T, seed uint64, which string, r *capability.Request, s, o *side, pieces []box) bool {
	t.Helper()
	for range 3 { // what goes out may be allowed by another block, which sends something else
		if !s.proof.Decide(r).Allowed() {
			return false
		}
		r = settled(s.proof, r)
	}
	if !s.proof.Decide(r).Allowed() || o.proof.Decide(r).Allowed() {
		return false
	}
	if !slices.ContainsFunc(pieces, func(b box) bool { return holds(s, &b, r) }) {
		d := s.proof.Decide(r)
		t.Errorf("seed %d: only the %s policy allows %s %s (%s, other: %s), and no piece has it: %+v\n%s", seed, which, r.Method, address(r, r.Path.String()), d.Allow.Path, o.proof.Decide(r).Reason, r, policyfile.Print(s.grants))
	}
	return true
}

// proofs decides every example again.
func (y *tally) proofs(t *testing.T, seed uint64, r *Report, before, after *side) {
	t.Helper()
	for _, half := range []struct {
		sets []Set
		s, o *side
	}{{r.Wider, after, before}, {r.Narrower, before, after}} {
		for _, set := range half.sets {
			for _, piece := range set.Pieces {
				y.pieces++
				if !piece.Certain {
					y.doubts++
				}
				if piece.Example != nil {
					y.examples++
					if proof(t, seed, piece.Example, half.s, half.o) {
						y.decided++
					}
				}
			}
		}
	}
	for _, l := range r.Limits {
		if l.Example != nil && l.Wider {
			proof(t, seed, l.Example, after, before)
		}
	}
}

// proof decides an example again. Where the other policy allows the request too, what
// goes out must differ: a header, the body, the address, what the answer hands out.
func proof(t *testing.T, seed uint64, e *Example, s, o *side) (decided bool) {
	t.Helper()
	p := e.probe
	mine, theirs := s.proof.Decide(p.request), o.proof.Decide(p.request)
	effect := len(p.sent) > 0 || p.content != nil || p.address.IsValid() || p.issue != ""
	if !mine.Allowed() || theirs.Allowed() && !effect || !judge(s.proof, p).allowed || judge(o.proof, p).allowed {
		t.Errorf("seed %d: the example %v is decided %s and %s", seed, e.lines(), mine.Verdict(), theirs.Verdict())
	}
	if decided = !theirs.Allowed(); decided && e.There != string(theirs.Reason) {
		t.Errorf("seed %d: the example %v is denied for %s, not %s", seed, e.lines(), theirs.Reason, e.There)
	}
	return decided
}

func between(t *testing.T, old, changed *policyfile.File) *Report {
	t.Helper()
	r, err := Between(old, changed)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func text(t *testing.T, r *Report) string {
	t.Helper()
	var b strings.Builder
	if err := r.Text(&b, false); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
