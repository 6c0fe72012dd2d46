package capability

// node is one place in the trie of path segments of one endpoint. Literal segments
// are found by a map; segments with variables are edges, one for each distinct
// pattern, so that a thousand grants with the same shape share one edge.
type node struct {
	literals map[string]*node
	edges    []edge
	leaves   []leaf // templates that end here
	slashed  []leaf // and those that end here with a slash
}

type edge struct {
	segment *segment
	vars    []variable // of the template that made the edge
	to      *node
}

type leaf struct {
	grant *Grant
	allow *Allow
}

func (n *node) add(t *Template, l leaf) {
	for i := range t.segments {
		n = n.child(&t.segments[i], t.variables)
	}
	if t.slash {
		n.slashed = append(n.slashed, l)
	} else {
		n.leaves = append(n.leaves, l)
	}
}

func (n *node) child(s *segment, vars []variable) *node {
	if s.isLiteral() {
		if n.literals == nil {
			n.literals = make(map[string]*node)
		}
		next := n.literals[s.parts[0].literal]
		if next == nil {
			next = &node{}
			n.literals[s.parts[0].literal] = next
		}
		return next
	}
	for _, e := range n.edges {
		if e.segment.key == s.key {
			return e.to
		}
	}
	e := edge{segment: s, vars: vars, to: &node{}}
	n.edges = append(n.edges, e)
	return e.to
}

// walk is one search through a trie: it remembers the best answer so far.
type walk struct {
	req  *Request
	held []string // placeholders of the run
	vars bindings
	best Decision
	rank int
}

// visit walks from n with segments i and on; it reports whether a leaf allowed.
func (w *walk) visit(n *node, i int) bool {
	if i == w.req.Path.Len() {
		leaves := n.leaves
		if w.req.Path.slash {
			leaves = n.slashed
		}
		return w.judge(leaves)
	}
	if next := n.literals[w.req.Path.Segment(i)]; next != nil && w.visit(next, i+1) {
		return true
	}
	for k := range n.edges {
		if w.follow(&n.edges[k], i) {
			return true
		}
	}
	return false
}

func (w *walk) follow(e *edge, i int) bool {
	if !e.segment.multi {
		return e.segment.match(w.req.Path.Segment(i), e.vars, &w.vars) && w.visit(e.to, i+1)
	}
	for end := w.req.Path.Len(); end > i; end-- {
		if e.segment.matchMulti(w.req.Path, i, end, e.vars, &w.vars) && w.visit(e.to, end) {
			return true
		}
	}
	return false
}

// judge tries the leaves of a path that matched, and keeps the denial of the one that
// came furthest.
func (w *walk) judge(leaves []leaf) bool {
	for i := range leaves {
		reason, rank := leaves[i].judge(w.req, w.held)
		if rank > w.rank || reason == Granted {
			w.rank = rank
			w.best = Decision{Reason: reason, Grant: leaves[i].grant, Allow: leaves[i].allow, allowed: reason == Granted}
		}
		if reason == Granted {
			return true
		}
	}
	return false
}

// judge decides everything after the path; rank grows with the distance covered.
func (l leaf) judge(r *Request, placeholders []string) (reason Reason, rank int) {
	a, credential := l.allow, &l.grant.Credential
	switch {
	case !a.method(r.Method):
		return MethodNotGranted, 1
	case overridesMethod(r):
		return MethodOverride, 2
	case r.WebSocket && !a.WebSocket:
		return ProtocolNotGranted, 2
	}
	if reason := credential.judge(r, placeholders); reason != Granted {
		return reason, 3
	}
	switch {
	case !a.Query.check(credential.rest(r)):
		return QueryNotGranted, 4
	case !a.checkHeaders(r):
		return HeaderNotGranted, 5
	case !a.bodyDeclared(r):
		return BodyNotGranted, 6
	case r.Body.Present && r.Body.Length > a.Body.Max:
		return BodyTooLarge, 7
	case l.grant.expired(r.Time):
		return GrantExpired, 8
	}
	return Granted, 9
}

func (a *Allow) method(m string) bool {
	for _, granted := range a.Methods {
		if granted == m {
			return true
		}
	}
	return false
}

// bodyDeclared reports whether r has a body of the declared type, or none. A coding is
// taken off where the body is inspected; elsewhere only identity passes. Where a body
// is inspected and a method usually has one, no body is not what was declared.
func (a *Allow) bodyDeclared(r *Request) bool {
	b := r.Body
	if !b.Present {
		return a.Body == nil || a.Body.Inspector == nil || r.Method != "POST" && r.Method != "PUT" && r.Method != "PATCH"
	}
	if a.Body == nil || b.Type != a.Body.Type {
		return false
	}
	return b.Encoding == "" || a.Body.Inspector != nil && b.Encoding == a.Body.Coding
}
