package differential

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// entry is one request as an origin understood it.
type entry struct {
	Method   string   `json:"method"`
	Target   string   `json:"target"` // as it came
	Path     string   `json:"path"`   // decoded, as the origin looks for a resource
	Host     string   `json:"host"`
	Length   int64    `json:"length"` // of the body
	Sum      string   `json:"sum"`    // SHA-256 of the body, in hexadecimal
	Complete bool     `json:"complete"`
	Headers  []string `json:"headers"` // their names in lower case
}

func (e entry) String() string {
	return fmt.Sprintf("received %s %s%s, resource %q, body of %d bytes, complete %t, headers %v", e.Method, e.Host, e.Target, e.Path, e.Length, e.Complete, e.Headers)
}

// try plays s and says everything that disagrees.
func (w *world) try(s sample) []string {
	answer, err := w.send(s)
	if err != nil {
		return []string{err.Error()}
	}
	if err := w.witness.settle(); err != nil {
		return []string{err.Error()}
	}
	grants, t, err := w.witness.grants()
	if err != nil {
		return []string{err.Error()}
	}
	w.tally.add(t)
	got, found := w.collect(s, grants)
	if len(found) == 0 {
		return nil
	}
	for _, g := range grants {
		found = append(found, "  log: "+g.String())
	}
	for _, e := range got {
		found = append(found, "  "+w.origin.name+": "+e.String())
	}
	return append(found, fmt.Sprintf("  answer: %.400q", answer))
}

// patience is how long an entry may take after its request was answered.
const patience = 3 * time.Second

// collect takes what arrived and compares it with grants, and with those that failed
// before, because a server may notice late that a request broke off.
func (w *world) collect(s sample, grants []grant) (got []entry, found []string) {
	missing := 0
	for _, g := range grants {
		if g.failed == "" {
			missing++
		}
	}
	sent := bodies(s)
	for deadline := time.Now().Add(patience); ; {
		got = append(got, w.origin.take(w.peer, missing, deadline)...)
		left, found := match(s.way.http2(), append(slices.Clone(w.failed), grants...), got, sent)
		missing = len(completed(left))
		if missing == 0 || len(found) > 0 || time.Now().After(deadline) {
			w.failed = slices.DeleteFunc(left, func(g grant) bool { return g.failed == "" })
			for _, g := range completed(left) {
				found = append(found, "not received: "+g.String())
			}
			return got, found
		}
	}
}

func completed(grants []grant) []grant {
	return slices.DeleteFunc(slices.Clone(grants), func(g grant) bool { return g.failed != "" })
}

// late says what arrived although nothing was asked any more.
func (w *world) late() []string {
	time.Sleep(50 * time.Millisecond)
	_, found := w.collect(sample{}, nil)
	return found
}

// match finds the grant of each entry, in the same order unless they were at the same
// time, and returns the grants that are left. A grant that failed on its way may have
// an entry; one that was completed must.
func match(parallel bool, left []grant, got []entry, sent map[string]bool) (rest []grant, found []string) {
	for _, e := range got {
		i := slices.IndexFunc(left, func(g grant) bool { return (g.failed == "") == e.Complete && len(g.differs(e)) == 0 })
		if i < 0 {
			i = slices.IndexFunc(left, func(g grant) bool { return g.failed != "" && len(g.differs(e)) == 0 })
		}
		if i < 0 {
			found = append(found, "not granted: "+e.String())
			for _, g := range left {
				found = append(found, "    "+g.String()+" differs in "+strings.Join(g.differs(e), ", "))
			}
			continue
		}
		if e.Complete && left[i].failed == "" && !sent[e.Method+" "+e.Sum] {
			found = append(found, "not the body that was sent: "+e.String())
		}
		if !parallel && e.Complete && len(completed(left[:i])) > 0 {
			found = append(found, "out of order: "+e.String())
		}
		left = slices.Delete(left, i, i+1)
	}
	return left, found
}

// differs says in what e is not what was granted.
func (g grant) differs(e entry) []string {
	var out []string
	check := func(what string, same bool) {
		if !same {
			out = append(out, what)
		}
	}
	path, query, _ := strings.Cut(g.target, "?")
	resource, err := url.PathUnescape(g.Path)
	check("method", e.Method == g.Method)
	check("host", e.Host == g.Host)
	check("target", e.Target == g.target)
	check("path in the log", path == g.Path)
	check("query in the log", g.queryIs(query))
	check("resource", err == nil && e.Path == resource)
	switch {
	case !e.Complete && g.failed == "":
		check("completeness", false)
	case e.Complete && g.failed == "malformed_request":
		check("completeness of a malformed body", false)
	case g.Body == nil:
		check("absence of a body", e.Length == 0)
	case g.Body.Length >= 0 && e.Complete:
		check("length of the body", e.Length == g.Body.Length)
	}
	for _, name := range e.Headers {
		check("header "+name, slices.Contains([]string{"host", "user-agent", "accept", "accept-encoding", "content-type", "content-length", "transfer-encoding", "te"}, name))
	}
	return out
}

// queryIs compares a query with the names, lengths and shown values in the log.
func (g grant) queryIs(raw string) bool {
	values, err := url.ParseQuery(raw)
	n := 0
	for _, p := range g.Query {
		v := values[p.Name]
		if len(v) != 1 || len(v[0]) != p.Length || p.Value != "…" && p.Value != v[0] {
			return false
		}
		n++
	}
	return err == nil && n == len(values)
}

// bodies are the requests that s holds, by method and sum of the body, as a second
// reader finds them.
func bodies(s sample) map[string]bool {
	out := map[string]bool{}
	if s.way.http2() {
		for _, parts := range streamsOf(s.parts) {
			noteStream(out, parts)
		}
		return out
	}
	from := bufio.NewReader(strings.NewReader(s.raw()))
	for {
		r, err := http.ReadRequest(from)
		if err != nil {
			return out
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return out
		}
		out[r.Method+" "+sum(body)] = true
	}
}

func noteStream(out map[string]bool, parts []string) {
	var method, body string
	for _, p := range parts {
		if m, ok := strings.CutPrefix(p, "H:method\x00"); ok {
			method = m
		}
		if d, ok := strings.CutPrefix(p, "D"); ok {
			body += d
		}
	}
	out[method+" "+sum([]byte(body))] = true
}

func sum(body []byte) string {
	s := sha256.Sum256(body)
	return hex.EncodeToString(s[:])
}
