package gateway

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/payload"
)

// maxArguments is the largest text of arguments, in bytes.
const maxArguments = 8 << 20

// maxFaults is the number of mismatches that an answer lists.
const maxFaults = 10

// validate reads the arguments in one way only and checks them. What the tool gets is
// what was checked, written anew. It fills in what the record has of them.
func (g *Gateway) validate(r *capability.Request, t *tool, asked *Asked) *Answer {
	if len(asked.Arguments) == 0 {
		asked.Arguments = json.RawMessage("{}")
	}
	compact, faults := t.faults(asked.Arguments)
	if len(faults) > 0 {
		refused := g.refuse(r, capability.ArgumentsInvalid)
		refused.Detail = faults
		return refused
	}
	asked.Arguments = compact
	sum := sha256.Sum256(compact)
	r.Tool.Length, r.Tool.Digest = int64(len(compact)), hex.EncodeToString(sum[:])
	return nil
}

// faults says where the arguments do not fit: place, rule, expectation. It shows no
// value that was sent.
func (t *tool) faults(arguments []byte) (compact []byte, faults []string) {
	if len(arguments) > maxArguments {
		return nil, []string{fmt.Sprintf("the arguments are over %d bytes", maxArguments)}
	}
	compact, found, err := t.input.Mismatches(arguments)
	if err != nil {
		return nil, []string{"the arguments have no one reading: " + err.Error()}
	}
	if len(found) == 0 && t.Narrow != nil {
		if _, found, err = t.Narrow.Mismatches(compact); err != nil {
			return nil, []string{"the arguments have no one reading: " + err.Error()}
		}
	}
	for _, m := range found[:min(len(found), maxFaults)] {
		faults = append(faults, t.describe(m))
	}
	return compact, faults
}

func (t *tool) describe(m payload.Mismatch) string {
	place := m.Place
	if place == "" {
		place = "the arguments"
	}
	if want := expectation(t.document, m); want != "" {
		return fmt.Sprintf("%s: %s: expected %s", place, m.Keyword, want)
	}
	return fmt.Sprintf("%s: %s", place, m.Keyword)
}

// expectation is what the schema has behind a keyword at a place: "string", "at most 4".
// It is empty where the way there is not plain.
func expectation(schema any, m payload.Mismatch) string {
	object, _ := schema.(map[string]any)
	if m.Place != "" {
		for _, token := range strings.Split(m.Place[1:], "/") {
			if object = below(object, token); object == nil {
				return ""
			}
		}
	}
	if m.Keyword == "additionalProperties" {
		properties, _ := object["properties"].(map[string]any)
		names := make([]string, 0, len(properties))
		for name := range properties {
			names = append(names, name)
		}
		slices.Sort(names)
		return "none but " + strings.Join(names, ", ")
	}
	value, known := object[m.Keyword]
	if !known {
		return ""
	}
	if text, ok := value.(string); ok {
		return text
	}
	text, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(text)
}

// below is the schema of a member or of an item.
func below(object map[string]any, token string) map[string]any {
	if _, err := strconv.Atoi(token); err == nil {
		items, _ := object["items"].(map[string]any)
		return items
	}
	properties, _ := object["properties"].(map[string]any)
	member, _ := properties[strings.NewReplacer("~1", "/", "~0", "~").Replace(token)].(map[string]any)
	return member
}
