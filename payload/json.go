package payload

import (
	"errors"
	"fmt"

	"scupper.dev/scupper/capability"
)

var (
	errBatch  = errors.New("an array of requests where one is granted")
	errMethod = errors.New("a member that asks for another method")
)

// JSON inspects JSON bodies. The zero JSON takes every value but an array: servers of
// JSON-RPC read one as a batch, of which each part would have to be judged alone.
type JSON struct {
	Schema *Schema // nil: any value
}

// Covers reports whether j takes every body that o takes. It may miss some.
func (j JSON) Covers(o JSON) bool {
	switch {
	case j.Schema == nil:
		return o.Schema == nil || !o.Schema.array
	case o.Schema == nil:
		return false
	}
	return j.Schema.sum == o.Schema.sum
}

// Inspect reads body and writes it anew: compact, the names in their order, numbers as
// they were written.
func (j JSON) Inspect(body []byte) ([]byte, error) {
	most := widest()
	if j.Schema != nil {
		most = j.Schema.most
	}
	value, compact, err := read(body, most)
	if err != nil {
		return nil, fmt.Errorf("read JSON body: %w", err)
	}
	if err := j.check(value); err != nil {
		return nil, fmt.Errorf("check JSON body: %w", err)
	}
	return compact, nil
}

func (j JSON) check(value any) error {
	if _, batch := value.([]any); batch && (j.Schema == nil || !j.Schema.array) {
		return errBatch
	}
	members, _ := value.(map[string]any)
	for name := range members {
		if capability.AsksMethod(name) {
			return errMethod
		}
	}
	if j.Schema == nil {
		return nil
	}
	return j.Schema.check(value)
}
