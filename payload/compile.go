package payload

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// node is one schema with its keywords read.
type node struct {
	never      bool // the schema false
	types      []string
	assertions []assertion
	weight     int // what trying it on one value costs, as a number of visits

	every, anyOf, oneOf             []*node // every: $ref and allOf
	not, condition, then, otherwise *node
	dependent, properties           map[string]*node
	patterns                        []namePattern
	additional, propertyNames       *node
	prefix                          []*node
	items, contains                 *node
	minContains, maxContains        int
	unevaluatedItems                *node
	unevaluatedProperties           *node
}

// namePattern is what patternProperties says of the names that match.
type namePattern struct {
	expr *regexp.Regexp
	node *node
}

// compiler makes nodes of a schema that was reviewed.
type compiler struct {
	words      map[string]role
	assertions map[string]assertionMaker
	nodes      map[string]*node // by JSON Pointer
	anchors    map[string]*node
	references []reference
	mistakes   []Finding
}

// reference is a $ref that is to be followed when all nodes are made.
type reference struct {
	from *node
	to   string
	path string
}

// compile makes the nodes of doc and joins them where it refers to itself.
func compile(doc any) (*node, []Finding) {
	c := &compiler{words: keywords(), assertions: assertions(), nodes: make(map[string]*node), anchors: make(map[string]*node)}
	root := c.schema(doc, "")
	for _, r := range c.references {
		if to := c.find(r.to); to != nil {
			r.from.every = append(r.from.every, to)
		} else {
			c.mistakes = append(c.mistakes, Finding{r.path, "not found: there is no schema at that place"})
		}
	}
	return root, c.mistakes
}

// find is the node of a reference: a JSON Pointer in a fragment (RFC 6901 section 6)
// or an anchor.
func (c *compiler) find(ref string) *node {
	at, err := url.PathUnescape(strings.TrimPrefix(ref, "#"))
	switch {
	case err != nil || !strings.HasPrefix(ref, "#"):
		return nil
	case at == "" || at[0] == '/':
		return c.nodes[at]
	}
	return c.anchors[at]
}

func (c *compiler) schema(v any, path string) *node {
	n := &node{weight: 1, minContains: 1, maxContains: unlimited}
	c.nodes[path] = n
	switch v := v.(type) {
	case bool:
		n.never = !v
	case map[string]any:
		for _, word := range slices.Sorted(maps.Keys(v)) {
			below := path + "/" + pointer.Replace(word)
			if !c.keyword(n, word, v[word], below) {
				c.mistakes = append(c.mistakes, Finding{below, "not a schema: " + word + " takes another kind of value"})
			}
		}
	default:
		c.mistakes = append(c.mistakes, Finding{path, "not a schema: it is neither an object nor true or false"})
	}
	return n
}

// keyword reads one keyword and reports whether its value is of the right kind.
func (c *compiler) keyword(n *node, word string, v any, path string) bool {
	if maker, ok := c.assertions[word]; ok {
		return n.assert(word, v, maker)
	}
	switch c.words[word] {
	case one:
		*n.single(word) = c.schema(v, path)
		return true
	case list:
		return c.list(n.several(word), v, path)
	case byName:
		return c.byName(n, word, v, path)
	}
	return c.plain(n, word, v, path)
}

func (n *node) assert(word string, v any, maker assertionMaker) bool {
	holds, weight := maker(v)
	if holds == nil {
		return false
	}
	n.assertions = append(n.assertions, assertion{word, holds})
	n.weight += weight
	if word == "type" {
		n.types, _ = typeNames(v)
	}
	return true
}

func (n *node) single(word string) **node {
	return map[string]**node{
		"not": &n.not, "if": &n.condition, "then": &n.then, "else": &n.otherwise, "items": &n.items, "contains": &n.contains,
		"additionalProperties": &n.additional, "propertyNames": &n.propertyNames,
		"unevaluatedItems": &n.unevaluatedItems, "unevaluatedProperties": &n.unevaluatedProperties,
	}[word]
}

func (n *node) several(word string) *[]*node {
	return map[string]*[]*node{"allOf": &n.every, "anyOf": &n.anyOf, "oneOf": &n.oneOf, "prefixItems": &n.prefix}[word]
}

func (c *compiler) list(to *[]*node, v any, path string) bool {
	schemas, _ := v.([]any)
	for i, s := range schemas {
		*to = append(*to, c.schema(s, path+"/"+strconv.Itoa(i)))
	}
	return len(schemas) > 0
}

func (c *compiler) byName(n *node, word string, v any, path string) bool {
	schemas, ok := v.(map[string]any)
	nodes := make(map[string]*node)
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		nodes[name] = c.schema(schemas[name], path+"/"+pointer.Replace(name))
		if word != "patternProperties" {
			continue
		}
		expr, err := regexp.Compile(name)
		if err != nil {
			return false
		}
		n.patterns = append(n.patterns, namePattern{expr, nodes[name]})
		n.weight++
	}
	switch word {
	case "properties":
		n.properties = nodes
	case "dependentSchemas":
		n.dependent = nodes
	}
	return ok
}

// plain reads what neither holds schemas nor asserts by itself.
func (c *compiler) plain(n *node, word string, v any, path string) bool {
	text, isText := v.(string)
	switch word {
	case "$ref":
		c.references = append(c.references, reference{n, text, path})
		return isText
	case "$anchor":
		_, twice := c.anchors[text]
		c.anchors[text] = n
		return isAnchor(text) && !twice
	case "$id":
		id, err := url.Parse(text)
		return isText && err == nil && id.Fragment == ""
	case "minContains":
		return countOf(v, &n.minContains)
	case "maxContains":
		return countOf(v, &n.maxContains)
	case "deprecated", "readOnly", "writeOnly":
		_, ok := v.(bool)
		return ok
	case "examples":
		_, ok := v.([]any)
		return ok
	case "default":
		return true
	}
	return isText // $schema, $comment, title, description
}

// isAnchor: section 8.2.2 of the core specification.
func isAnchor(s string) bool {
	for i := range len(s) {
		c := s[i]
		first := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !first && (i == 0 || c != '-' && c != '.' && !('0' <= c && c <= '9')) {
			return false
		}
	}
	return s != ""
}
