package trim

import (
	"slices"
	"strings"

	"scupper.dev/scupper/gateway"
)

// declared drops from a result what its tool does not declare. fields are JSON Pointers
// (RFC 6901) in which "*" stands for every element or member and the first slash may be
// left out. The text of such a result is
// the JSON that is left, so that no other text carries what was dropped.
func declared(r *gateway.Result, fields []string) (notes []string) {
	source := []byte(r.Structured)
	if source == nil && len(r.Content) == 1 {
		source = []byte(r.Content[0].Text)
	}
	left, err := Fields(source, fields)
	if err != nil {
		r.Content, r.Structured = nil, nil
		return []string{"[the result is left out: the tool declares fields of its output, and this is not JSON]"}
	}
	if r.Structured != nil {
		r.Structured = left
	}
	r.Content = []gateway.Content{{Text: string(left)}}
	return nil
}

// Fields is the JSON text with nothing in it but the fields: compact, in its order.
// Elements of arrays keep their order and close up.
func Fields(text []byte, fields []string) ([]byte, error) {
	var pointers [][]string
	for _, f := range fields {
		pointers = append(pointers, tokens(f))
	}
	keep := func(path []string, inner bool) bool {
		return slices.ContainsFunc(pointers, func(p []string) bool { return leads(p, path) && (inner || len(path) >= len(p)) })
	}
	return rewrite(text, func(v string) string { return v }, keep)
}

// tokens are those of a JSON Pointer.
func tokens(pointer string) []string {
	if pointer == "" {
		return nil
	}
	all := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, t := range all {
		all[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(t)
	}
	return all
}

// leads reports whether path lies on the way to the place of a pointer, or in it.
func leads(pointer, path []string) bool {
	for i := range min(len(pointer), len(path)) {
		if pointer[i] != path[i] && pointer[i] != "*" {
			return false
		}
	}
	return true
}
