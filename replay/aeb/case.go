package aeb

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxCase is more than any case has, in bytes.
const maxCase = 8 << 20

// The verdicts of a case.
const (
	Block = "block"
	Allow = "allow"
)

// Case is one case, as far as judging needs it. Other fields are for readers.
type Case struct {
	File     string   `json:"-"`
	Version  int      `json:"schema_version"`
	ID       string   `json:"id"`
	Category string   `json:"category"`
	Title    string   `json:"title"`
	Input    string   `json:"input_type"`
	Carrier  string   `json:"transport"`
	Payload  Payload  `json:"-"`
	Expected string   `json:"expected_verdict"`
	Requires []string `json:"requires"`

	Raw json.RawMessage `json:"payload"`
}

// Payload is the request of a case whose input is one.
type Payload struct {
	Method  string                     `json:"method"`
	URL     string                     `json:"url"`
	Headers map[string]json.RawMessage `json:"headers"` // a text, or a list of them
	Type    string                     `json:"content_type"`
	Body    json.RawMessage            `json:"body"`
}

// newest is the newest version of the form that is known here.
const newest = 4

// Read reads the files, and all files of the folders that end in .json. A file of a
// folder that has neither an input type nor a verdict is something else and left out.
func Read(paths []string) (cases []Case, err error) {
	var faults []error
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("read cases: %w", err)
		}
		if !info.IsDir() {
			c, _, err := readCase(path)
			cases, faults = append(cases, c), append(faults, err)
			continue
		}
		err = filepath.WalkDir(path, func(at string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(at) != ".json" {
				return err
			}
			c, is, err := readCase(at)
			if faults = append(faults, err); err == nil && is {
				cases = append(cases, c)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("read cases in %s: %w", path, err)
		}
	}
	if err := errors.Join(append(faults, doubles(cases))...); err != nil {
		return nil, err
	}
	if len(cases) == 0 {
		return nil, fmt.Errorf("there is no case in %s", strings.Join(paths, ", "))
	}
	return cases, nil
}

// readCase: is is false for a document that does not look like a case.
func readCase(path string) (c Case, is bool, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return c, false, fmt.Errorf("read case: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxCase {
		return c, false, fmt.Errorf("read case %s: it is no file of at most %d bytes", path, maxCase)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return c, false, fmt.Errorf("read case: %w", err)
	}
	c, is, err = parse(text)
	if c.File = path; err != nil {
		return c, is, fmt.Errorf("read case %s: %w", path, err)
	}
	return c, is, nil
}

func parse(text []byte) (c Case, is bool, err error) {
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(text, &keys); err != nil {
		if json.Valid(text) {
			return c, false, nil // a list, say
		}
		return c, false, err
	}
	if keys["input_type"] == nil && keys["expected_verdict"] == nil {
		return c, false, nil
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return c, true, err
	}
	return c, true, c.check()
}

func (c *Case) check() error {
	switch {
	case c.Version < 1 || c.Version > newest:
		return fmt.Errorf("its schema_version is %d; 1 to %d are known", c.Version, newest)
	case c.ID == "":
		return errors.New("it has no id")
	case c.Expected != Block && c.Expected != Allow:
		return fmt.Errorf("its expected_verdict is %q; write \"block\" or \"allow\"", c.Expected)
	case c.Input == "" || c.Carrier == "":
		return errors.New("it needs input_type and transport")
	case !request(c.Input):
		return nil // its payload has another form
	}
	if err := json.Unmarshal(c.Raw, &c.Payload); err != nil {
		return fmt.Errorf("payload: %w", err)
	}
	if c.Payload.URL == "" {
		return errors.New("payload: it has no url")
	}
	return nil
}

// request reports whether the input is a request that can be judged.
func request(input string) bool {
	switch input {
	case "url", "request_body", "header", "websocket_frame":
		return true
	}
	return false
}

func doubles(cases []Case) error {
	seen := make(map[string]string)
	for _, c := range cases {
		if first, ok := seen[c.ID]; ok && c.ID != "" {
			return fmt.Errorf("%s and %s are both case %q", first, c.File, c.ID)
		}
		seen[c.ID] = c.File
	}
	return nil
}
