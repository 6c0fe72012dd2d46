package capability

import (
	"mime"
	"slices"
	"strings"
)

// HeaderRule is one request header that an allow block takes beyond the safe set. A
// literal is sent always, whatever the client said.
type HeaderRule struct {
	Name  string // canonical MIME form
	Value Pattern
}

// UserAgent is what upstreams see of a client when the grant says nothing.
const UserAgent = "scupper"

// overrideHeaders ask an origin to act on another method than the one judged.
var overrideHeaders = [...]string{"X-Http-Method-Override", "X-Http-Method", "X-Method-Override", "X-Method", "X-Original-Method", "X-Rewrite-Method"}

// Overrides reports whether r asks the origin to act on another method than its own.
func (r *Request) Overrides() bool { return r.Kind == KindHTTP && overridesMethod(r) }

func overridesMethod(r *Request) bool {
	for _, name := range overrideHeaders {
		if len(r.Header[name]) > 0 {
			return true
		}
	}
	for i := range r.Query {
		if AsksMethod(r.Query[i].Name) {
			return true
		}
	}
	return false
}

// AsksMethod reports whether origins take a parameter of that name, in a query or a
// body, for the method to act on. PHP makes an underscore of other characters.
func AsksMethod(name string) bool {
	for _, asking := range methodParameters {
		if len(name) == len(asking) && sameParameter(name, asking) {
			return true
		}
	}
	return false
}

var methodParameters = [...]string{"_method", "_httpmethod", "x-http-method-override", "x-http-method", "x-method-override"}

func sameParameter(name, lower string) bool {
	for i := range len(lower) {
		c := name[i]
		switch {
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		case c == '.' || c == ' ' || c == '[':
			c = '_'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// safeHeaders pass under every grant when each value keeps to its grammar. All other
// headers are left out unless the allow block lists them.
func safeHeader(name, value string) bool {
	switch name {
	case "Accept":
		return len(value) <= 512 && allOf(value, isAcceptByte)
	case "Accept-Encoding":
		return len(value) <= 128 && isCodingList(value)
	case "Te":
		return value == "trailers"
	}
	return false
}

// isAcceptByte: media ranges, parameters and weights (RFC 9110 section 12.5.1).
func isAcceptByte(c byte) bool {
	return isAlnum(c) || strings.IndexByte("/*+-._;=, \"", c) >= 0
}

// isCodingList: codings in use, each with a weight at most (RFC 9110 section 12.5.3).
func isCodingList(value string) bool {
	for rest, more := value, true; more; {
		var item string
		item, rest, more = strings.Cut(rest, ",")
		coding, weight, weighted := strings.Cut(item, ";")
		switch strings.Trim(coding, " ") {
		case "gzip", "deflate", "br", "zstd", "identity", "*", "":
		default:
			return false
		}
		if weighted && !isWeight(strings.Trim(weight, " ")) {
			return false
		}
	}
	return true
}

// isWeight: q= and a number from 0 to 1 of at most three decimals (RFC 9110 section
// 12.4.2).
func isWeight(s string) bool {
	whole, decimals, _ := strings.Cut(strings.TrimPrefix(s, "q="), ".")
	return strings.HasPrefix(s, "q=") && (whole == "0" || whole == "1") && len(decimals) <= 3 && allOf(decimals, isDigit)
}

// checkHeaders reports whether the headers that a lists have values inside their
// patterns. Literals need no check: they replace what the client sent.
func (a *Allow) checkHeaders(r *Request) bool {
	for i := range a.Headers {
		rule := &a.Headers[i]
		values := r.Header[rule.Name]
		if len(values) > 1 {
			return false
		}
		if len(values) == 1 && len(rule.Value.fixed) != 1 && !rule.Value.Match(values[0]) {
			return false
		}
	}
	return true
}

// Header is the header to send upstream for r: the safe set, what the grant lists,
// its constants, the declared content type. stripped counts the names left out, those
// that belong to the connection or to framing not counted.
func (d Decision) Header(r *Request) (header map[string][]string, stripped int) {
	header = make(map[string][]string, 4)
	if !d.allowed || d.Allow == nil {
		return header, 0
	}
	header["User-Agent"] = []string{UserAgent}
	for name, values := range r.Header {
		if d.Grant.Credential.ownsHeader(name) {
			continue // written by whoever has the secret
		}
		if kept := d.keep(r, name, values); kept != nil {
			header[name] = kept
		} else if !isHop(name) && name != "User-Agent" {
			stripped++
		}
	}
	for i := range d.Allow.Headers {
		if rule := &d.Allow.Headers[i]; len(rule.Value.fixed) == 1 {
			header[rule.Name] = []string{rule.Value.fixed[0]}
		}
	}
	return header, stripped
}

// keep is what passes of one header, nil for nothing.
func (d Decision) keep(r *Request, name string, values []string) []string {
	if c := &d.Grant.Credential; c.Mode != Anonymous && c.brought(r, name, values) {
		return values
	}
	if isCredentialHeader(name) || slices.ContainsFunc(values, func(v string) bool { return keyIn(v) != "" }) {
		return nil
	}
	return d.Allow.keep(r, name, values)
}

func (a *Allow) keep(r *Request, name string, values []string) []string {
	if len(values) != 1 {
		return nil
	}
	if name == "Content-Type" && r.Body.Present {
		return []string{a.contentType(values[0])}
	}
	if safeHeader(name, values[0]) {
		return values
	}
	for i := range a.Headers {
		if a.Headers[i].Name == name {
			return values
		}
	}
	return nil
}

// contentType is the declared media type, with the one parameter that multipart
// bodies cannot do without.
func (a *Allow) contentType(sent string) string {
	switch {
	case a.Body == nil:
		return ""
	case a.Body.Sent != "":
		return a.Body.Sent
	}
	if _, params, err := mime.ParseMediaType(sent); err == nil && params["boundary"] != "" && strings.HasPrefix(a.Body.Type, "multipart/") {
		return mime.FormatMediaType(a.Body.Type, map[string]string{"boundary": params["boundary"]})
	}
	return a.Body.Type
}

// isHop names the headers that belong to one connection or to framing, and are
// written anew on the next (RFC 9110 section 7.6.1).
func isHop(name string) bool {
	switch name {
	case "Connection", "Proxy-Connection", "Keep-Alive", "Transfer-Encoding", "Te", "Trailer", "Upgrade",
		"Content-Length", "Host", "Expect":
		return true
	}
	return false
}
