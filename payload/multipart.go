package payload

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"strings"

	"scupper.dev/scupper/capability"
)

// boundary is between the parts of what is sent. A part that has it in it is refused.
const boundary = "scupper-0f5d1c9a7be24638"

// MultipartType is the content type of what a Multipart writes.
const MultipartType = "multipart/form-data; boundary=" + boundary

// Multipart inspects multipart/form-data (RFC 7578). Parts are sent in its order, with
// no other headers than their name, the filename and the type that are declared.
type Multipart struct {
	Parts []Part
}

// Part is one declared part. It may occur once.
type Part struct {
	Name     string
	Type     string             // media type; empty: the part says none, and is text
	Max      int64              // bytes
	Filename capability.Pattern // the zero Pattern: the part is no file
	Value    capability.Pattern // the zero Pattern: any content
	Required bool
}

var (
	errOpening  = errors.New("it does not begin with a boundary")
	errBoundary = errors.New("a boundary that parsers read differently")
	errEnd      = errors.New("it does not end with the closing boundary")
	errHeaders  = errors.New("a part with other headers than its name, filename and type")
	errPart     = errors.New("a part that is not declared")
)

// sentPart is a part as it came.
type sentPart struct {
	name, filename, media string
	file                  bool
	content               []byte
}

// Inspect reads body and writes it anew. The boundary is the one that body begins
// with, whatever its header said: what is sent has another.
func (m *Multipart) Inspect(body []byte) ([]byte, error) {
	parts, err := split(body)
	if err != nil {
		return nil, fmt.Errorf("read multipart form: %w", err)
	}
	var out bytes.Buffer
	known := 0
	for _, rule := range m.Parts {
		p, err := only(parts, rule)
		if err != nil {
			return nil, fmt.Errorf("check multipart form: %w", err)
		}
		if p != nil {
			known++
			rule.write(&out, p)
		}
	}
	if known < len(parts) {
		return nil, fmt.Errorf("check multipart form: %w", errPart)
	}
	out.WriteString("--" + boundary + "--\r\n")
	return out.Bytes(), nil
}

// only is the part of the rule, nil where there is none.
func only(parts []sentPart, rule Part) (*sentPart, error) {
	var found *sentPart
	for i := range parts {
		switch {
		case parts[i].name != rule.Name:
		case found != nil:
			return nil, fmt.Errorf("part %q occurs more than once", rule.Name)
		default:
			found = &parts[i]
		}
	}
	if found == nil {
		if rule.Required {
			return nil, fmt.Errorf("part %q is missing", rule.Name)
		}
		return nil, nil
	}
	return found, rule.check(found)
}

func (rule Part) check(p *sentPart) error {
	wants := rule.Filename.String() != ""
	switch {
	case int64(len(p.content)) > rule.Max:
		return fmt.Errorf("part %q is over %d bytes", rule.Name, rule.Max)
	case p.media != rule.Type && !(isText(p.media) && isText(rule.Type)):
		return fmt.Errorf("part %q is of another type", rule.Name)
	case p.file != wants:
		return fmt.Errorf("part %q has a filename, or lacks one", rule.Name)
	case wants && (!rule.Filename.Match(p.filename) || !plainName(p.filename)):
		return fmt.Errorf("the filename of part %q is not %s, or not plain", rule.Name, rule.Filename)
	case rule.Value.String() != "" && !rule.Value.Match(string(p.content)):
		return fmt.Errorf("the value of part %q is not %s", rule.Name, rule.Value)
	case bytes.Contains(p.content, []byte("--"+boundary)):
		return errBoundary
	}
	return nil
}

// isText: a part without a type is text (RFC 7578 section 4.4).
func isText(media string) bool { return media == "" || media == "text/plain" }

func (rule Part) write(out *bytes.Buffer, p *sentPart) {
	fmt.Fprintf(out, "--%s\r\nContent-Disposition: form-data; name=\"%s\"", boundary, rule.Name)
	if p.file {
		fmt.Fprintf(out, "; filename=\"%s\"", p.filename)
	}
	if rule.Type != "" {
		fmt.Fprintf(out, "\r\nContent-Type: %s", rule.Type)
	}
	out.WriteString("\r\n\r\n")
	out.Write(p.content)
	out.WriteString("\r\n")
}

// split takes body apart at its boundary (RFC 2046 section 5.1.1): nothing before the
// first, nothing behind the last, and nothing on the same line.
func split(body []byte) ([]sentPart, error) {
	first, rest, found := bytes.Cut(body, []byte("\r\n"))
	mark := string(first)
	if !found || !strings.HasPrefix(mark, "--") || !isBoundary(mark[2:]) {
		return nil, errOpening
	}
	var parts []sentPart
	for {
		text, after, found := bytes.Cut(rest, []byte("\r\n"+mark))
		if !found {
			return nil, errEnd
		}
		p, err := readPart(text)
		if err != nil {
			return nil, fmt.Errorf("part %d: %w", len(parts)+1, err)
		}
		parts = append(parts, p)
		switch {
		case string(after) == "--" || string(after) == "--\r\n":
			return parts, nil
		case bytes.HasPrefix(after, []byte("--")):
			return nil, errEnd
		case !bytes.HasPrefix(after, []byte("\r\n")):
			return nil, errBoundary
		}
		rest = after[2:]
	}
}

// isBoundary: bchars of RFC 2046 section 5.1.1 that nobody quotes, and not an ending.
func isBoundary(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !('0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || strings.IndexByte("'+_-.=", c) >= 0) {
			return false
		}
	}
	return 1 <= len(s) && len(s) <= 70 && !strings.HasSuffix(s, "--")
}

// readPart reads one part: its headers, an empty line, its content.
func readPart(text []byte) (sentPart, error) {
	head, content, found := bytes.Cut(text, []byte("\r\n\r\n"))
	if !found || len(head) > 1024 {
		return sentPart{}, errHeaders
	}
	p := sentPart{content: content}
	seen := make(map[string]bool)
	for line := range strings.SplitSeq(string(head), "\r\n") {
		name, value, _ := strings.Cut(line, ":")
		name, value = strings.ToLower(name), strings.TrimPrefix(value, " ")
		ok := !seen[name]
		switch seen[name] = true; name {
		case "content-disposition":
			ok = ok && p.disposition(value)
		case "content-type":
			ok = ok && p.typed(value)
		default:
			ok = false
		}
		if !ok {
			return sentPart{}, errHeaders
		}
	}
	switch {
	case !seen["content-disposition"]:
		return sentPart{}, errHeaders
	case Reserved(p.name):
		return sentPart{}, errReserved
	}
	return p, nil
}

// disposition reads form-data; name="x"; filename="y" and nothing else, as browsers
// and libraries write it.
func (p *sentPart) disposition(value string) bool {
	rest, ok := strings.CutPrefix(value, `form-data; name="`)
	if !ok {
		return false
	}
	if p.name, rest, ok = strings.Cut(rest, `"`); !ok {
		return false
	}
	if rest == "" {
		return plainName(p.name)
	}
	rest, p.file = strings.CutPrefix(rest, `; filename="`)
	if p.filename, rest, ok = strings.Cut(rest, `"`); !ok || !p.file {
		return false
	}
	return plainName(p.name) && rest == ""
}

// typed reads the type of a part; of its parameters only one that says nothing new
// may be there.
func (p *sentPart) typed(value string) bool {
	media, params, err := mime.ParseMediaType(value)
	if err != nil || len(params) > 1 || len(params) == 1 && !strings.EqualFold(params["charset"], "utf-8") {
		return false
	}
	p.media = media
	return true
}

// plainName is printable ASCII that no parser unquotes, decodes or takes for a path.
func plainName(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f || strings.IndexByte(`"\/%;:`, s[i]) >= 0 {
			return false
		}
	}
	return s != "" && s != "." && s != ".." && len(s) <= 255 && strings.TrimSpace(s) == s
}

// IsPartName reports whether a part can be declared under the name.
func IsPartName(name string) bool { return plainName(name) && len(name) <= 64 && !Reserved(name) }
