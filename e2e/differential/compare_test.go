package differential

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
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
	Doubtful bool     `json:"-"`       // the origin may take a body that broke off for a whole one
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
	if err := w.settle(); err != nil {
		return []string{err.Error()}
	}
	grants, t, err := w.witness.grants()
	if err != nil {
		return []string{err.Error()}
	}
	w.tally.add(t)
	w.granted = grants
	sent := bodies(s)
	for i := range grants {
		grants[i].sent = sent
	}
	got, found := w.collect(s.way.http2(), grants)
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

// collect takes what arrived and compares it with grants, and with those that failed
// before, because a server may notice late that a request broke off.
func (w *world) collect(parallel bool, grants []grant) (got []entry, found []string) {
	missing := len(completed(grants))
	for deadline := time.Now().Add(w.patience); ; {
		got = append(got, w.origin.take(w.peer, missing, deadline)...)
		left, found := match(parallel, append(slices.Clone(w.failed), grants...), got)
		lost := completed(left)
		if missing = len(lost); missing > 0 && len(found) == 0 && time.Now().Before(deadline) {
			continue
		}
		w.failed = failures(left)
		for _, g := range lost {
			found = append(found, "not received: "+g.String())
		}
		return got, found
	}
}

// failures are those that failed; their entries may still come.
func failures(grants []grant) []grant {
	return slices.DeleteFunc(slices.Clone(grants), func(g grant) bool { return g.failed == "" })
}

func completed(grants []grant) []grant {
	return slices.DeleteFunc(slices.Clone(grants), func(g grant) bool { return g.failed != "" })
}

// late says what arrived although nothing was asked any more.
func (w *world) late() []string {
	time.Sleep(50 * time.Millisecond)
	_, found := w.collect(false, nil)
	return found
}

// match finds the grant of each entry, in the same order unless they were at the same
// time, and returns the grants that are left. A grant that failed on its way may have
// an entry; one that was completed must.
func match(parallel bool, left []grant, got []entry) (rest []grant, found []string) {
	for _, e := range got {
		i := granting(parallel, left, e)
		if i < 0 {
			found = append(found, "not granted: "+e.String())
			for _, g := range left {
				found = append(found, "    "+g.String()+" differs in "+strings.Join(g.differs(e), ", "))
			}
			continue
		}
		if !parallel && e.Complete && len(completed(left[:i])) > 0 {
			found = append(found, "out of order: "+e.String())
		}
		left = slices.Delete(left, i, i+1)
	}
	return left, found
}

// granting is the grant that fits e best, the first of them, -1 where none fits.
func granting(parallel bool, grants []grant, e entry) int {
	best, index := 4, -1
	for i, g := range grants {
		rank := 0
		if (g.failed == "") != e.Complete {
			rank = 2
		}
		if parallel && g.Body != nil && g.Body.Length != e.Length {
			rank++
		}
		if rank < best && len(g.differs(e)) == 0 {
			best, index = rank, i
		}
	}
	return index
}

// differs says in what e is not what was granted.
func (g grant) differs(e entry) []string {
	var out []string
	check := func(what string, same bool) {
		if !same {
			out = append(out, what)
		}
	}
	target := cmp.Or(g.target, e.Target)
	path, query, _ := strings.Cut(target, "?")
	resource, err := url.PathUnescape(g.Path)
	check("method", e.Method == g.Method)
	check("host", e.Host == g.Host)
	check("target", e.Target == target)
	check("path in the log", path == g.Path)
	check("query in the log", g.queryIs(query))
	check("resource", err == nil && e.Path == resource)
	switch {
	case !e.Complete && g.failed == "":
		check("completeness", false)
	case e.Complete && !(e.Doubtful && g.failed != "") && !g.sent[e.Method+" "+e.Sum]:
		check("body", false)
	case g.Body == nil:
		check("absence of a body", e.Length == 0)
	case g.Body.Length >= 0 && e.Complete && g.Body.Type != "application/json": // written anew
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
	from := bufio.NewReader(strings.NewReader(s.raw() + last(s.way)))
	for {
		r, err := http.ReadRequest(from)
		if err != nil {
			return out
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return out
		}
		note(out, r.Method, body)
	}
}

// note enters a body, and what becomes of it where JSON is written anew.
func note(out map[string]bool, method string, body []byte) {
	out[method+" "+sum(body)] = true
	var compact bytes.Buffer
	if json.Compact(&compact, body) == nil {
		out[method+" "+sum(compact.Bytes())] = true
	}
}

// noteStream takes a body that is longer than declared as one of that length too: the
// rest is an error of the stream, which may come when the request is on its way.
func noteStream(out map[string]bool, parts []string) {
	var method, body string
	length := -1
	for _, p := range parts {
		if m, ok := strings.CutPrefix(p, "H:method\x00"); ok {
			method = m
		}
		if n, ok := strings.CutPrefix(p, "Hcontent-length\x00"); ok {
			if n, err := strconv.Atoi(n); err == nil {
				length = n
			}
		}
		if d, ok := strings.CutPrefix(p, "D"); ok {
			body += d
		}
	}
	note(out, method, []byte(body))
	if 0 <= length && length < len(body) {
		note(out, method, []byte(body[:length]))
	}
}

func sum(body []byte) string {
	s := sha256.Sum256(body)
	return hex.EncodeToString(s[:])
}
