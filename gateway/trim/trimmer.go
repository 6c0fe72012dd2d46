package trim

import (
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"scupper.dev/scupper/gateway"
	"scupper.dev/scupper/payload"
)

// Trimmer is the gateway's step between a tool and its caller. Store may be nil: then
// what is left out is gone.
type Trimmer struct {
	Store *Store

	schemas sync.Map // compiled *payload.Schema by text
}

// Trim returns what is shown of r. A tool that has trimmed its text itself has set Whole,
// and perhaps Digest: both are kept.
func (t *Trimmer) Trim(c *gateway.Call, d *gateway.Definition, r gateway.Result) gateway.Result {
	limit := max(d.MaxOutput, 2*MinLimit)
	r.Content = slices.Clone(r.Content)
	var notes []string
	if len(d.Fields) > 0 && !r.Failed {
		notes = append(notes, declared(&r, d.Fields)...)
	}
	notes = append(notes, t.structured(d, &r, limit)...)
	whole, digest := measure(r.Content)
	if r.Digest == ([32]byte{}) {
		r.Whole, r.Digest = max(r.Whole, whole), digest
	}
	notes = append(t.texts(c, &r, limit-int64(lengthOf(notes))), notes...)
	if len(notes) > 0 {
		r.Content = append(r.Content, gateway.Content{Text: strings.Join(notes, "")})
	}
	r.Shown, _ = measure(r.Content)
	return r
}

// roomForFacts is what structured content may have besides a copy of the text, in which
// each quote and line feed takes two bytes.
const roomForFacts = 4096

// measure is the size and the SHA-256 of all texts together.
func measure(content []gateway.Content) (size int64, digest [32]byte) {
	h := sha256.New()
	for _, c := range content {
		size += int64(len(c.Text))
		h.Write([]byte(c.Text))
	}
	h.Sum(digest[:0])
	return size, digest
}

func lengthOf(texts []string) (n int) {
	for _, t := range texts {
		n += len(t)
	}
	return n
}

// texts trims each text to its part of the limit: the short ones have what they need, the
// long ones share what is left evenly.
func (t *Trimmer) texts(c *gateway.Call, r *gateway.Result, limit int64) (notes []string) {
	if whole, _ := measure(r.Content); whole > limit && int64(len(r.Content))*MinLimit > limit {
		r.Content = merged(r.Content)
	}
	places := textsByLength(r.Content)
	for i, at := range places {
		share := limit / int64(len(places)-i)
		collector := t.Store.Collect(share, r.Keep)
		_, _ = collector.Write([]byte(r.Content[at].Text)) // never fails
		text := collector.Text()
		handle, kept := c.ID, int64(0)
		if len(places) > 1 {
			handle = part(c.ID, at)
		}
		if text.Cut > 0 {
			kept = t.Store.Keep(collector, c.Role, handle)
		}
		collector.Close()
		r.Content[at].Text = text.Shown
		used := int64(len(text.Shown))
		if note := text.Note(handle, kept); note != "" {
			notes = append(notes, note)
			used += int64(len(note))
		}
		limit -= used
	}
	return notes
}

// merged is content with all texts in one, where they are too many for a marker in each.
func merged(content []gateway.Content) (out []gateway.Content) {
	var texts []string
	for _, c := range content {
		if c.Text != "" {
			texts = append(texts, c.Text)
			continue
		}
		out = append(out, c)
	}
	return append([]gateway.Content{{Text: strings.Join(texts, "\n")}}, out...)
}

// textsByLength are the places of the texts, the shortest first.
func textsByLength(content []gateway.Content) []int {
	var places []int
	for i, c := range content {
		if c.Text != "" {
			places = append(places, i)
		}
	}
	slices.SortStableFunc(places, func(a, b int) int { return len(content[a].Text) - len(content[b].Text) })
	return places
}

// structured makes the structured content harmless and short enough, or leaves it out.
func (t *Trimmer) structured(d *gateway.Definition, r *gateway.Result, limit int64) (notes []string) {
	if r.Structured == nil {
		return nil
	}
	out := func(why string) []string {
		r.Structured = nil
		return []string{"[the structured content is left out: " + why + "]"}
	}
	text, err := visibleJSON(r.Structured)
	switch {
	case err != nil:
		return out("it is not JSON")
	case int64(len(text)) > 2*limit+roomForFacts:
		return out("it is longer than this tool may show")
	case !t.fits(d.Output, text):
		return out("it does not fit the output schema of the tool")
	}
	r.Structured = text
	return nil
}

// fits reports whether text fits a schema. Without one everything does.
func (t *Trimmer) fits(schema, text json.RawMessage) bool {
	if schema == nil {
		return true
	}
	compiled, known := t.schemas.Load(string(schema))
	if !known {
		s, mistakes := payload.CompileSchema("output", schema)
		if len(mistakes) > 0 {
			return false
		}
		compiled, _ = t.schemas.LoadOrStore(string(schema), s)
	}
	_, err := payload.JSON{Schema: compiled.(*payload.Schema)}.Inspect(text)
	return err == nil
}
