package aeb

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/textproto"
	"strconv"
	"strings"

	"scupper.dev/scupper/capability"
)

// read makes of the payload the request that the proxy would judge, and its body. The
// reason is Granted when there is one reading of it.
func (p *Payload) read() (r *capability.Request, body []byte, reason capability.Reason) {
	r = &capability.Request{Kind: capability.KindHTTP, Method: strings.ToUpper(p.Method), Front: capability.Transparent, Protocol: "HTTP/1.1"}
	if r.Method == "" {
		r.Method = "GET"
	}
	target, reason := p.locate(r)
	if reason != capability.Granted {
		return r, nil, reason
	}
	path, query, _ := strings.Cut(target, "?")
	var err error
	if r.Path, err = capability.ParsePath(path); err != nil {
		return r, nil, capability.MalformedPath
	}
	if r.Query, err = capability.ParseQuery(query); err != nil {
		return r, nil, capability.MalformedQuery
	}
	if err := p.header(r); err != nil {
		return r, nil, capability.MalformedRequest
	}
	return r, p.body(r), capability.Granted
}

// locate fills in the destination and returns path and query, with what no client sends
// as it stands escaped, and without the fragment, which no client sends.
func (p *Payload) locate(r *capability.Request) (target string, reason capability.Reason) {
	scheme, rest, ok := strings.Cut(p.URL, "://")
	switch strings.ToLower(scheme) {
	case "https":
		r.Scheme = capability.HTTPS
	case "http":
		r.Scheme = capability.HTTP
	case "wss":
		r.Scheme, r.WebSocket = capability.HTTPS, true
	case "ws":
		r.Scheme, r.WebSocket = capability.HTTP, true
	default:
		return "", capability.ProtocolNotGranted
	}
	if !ok {
		return "", capability.MalformedRequest
	}
	rest, _, _ = strings.Cut(rest, "#")
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	if target = escape(rest[end:]); !strings.HasPrefix(target, "/") {
		target = "/" + target
	}
	return target, authority(r, rest[:end])
}

func authority(r *capability.Request, text string) capability.Reason {
	r.Port = r.Scheme.DefaultPort()
	host := text
	if colon := strings.LastIndexByte(text, ':'); colon > strings.LastIndexByte(text, ']') && strings.Count(text, ":")-strings.Count(text[:max(0, strings.LastIndexByte(text, ']'))], ":") == 1 {
		n, err := strconv.ParseUint(text[colon+1:], 10, 16)
		if err != nil {
			return capability.MalformedHost
		}
		r.Port, host = uint16(n), text[:colon]
	}
	h, err := capability.ParseHost(host)
	if err != nil {
		return capability.MalformedHost // user information is among that
	}
	r.Host = h
	return capability.Granted
}

// escape writes blanks and what is not ASCII as every client does.
func escape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if c := s[i]; c == ' ' || c >= 0x80 || c == '"' || c == '<' || c == '>' || c == '`' || c == '{' || c == '}' || c == '|' || c == '^' {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

var errHeader = errors.New("a header is a text or a list of texts")

func (p *Payload) header(r *capability.Request) error {
	r.Header = make(map[string][]string)
	for name, raw := range p.Headers {
		var one string
		var many []string
		if json.Unmarshal(raw, &one) == nil {
			many = []string{one}
		} else if json.Unmarshal(raw, &many) != nil {
			return errHeader
		}
		for _, v := range many {
			if strings.ContainsAny(v, "\r\n\x00") {
				return errHeader
			}
		}
		name = textproto.CanonicalMIMEHeaderKey(name)
		r.Header[name] = append(r.Header[name], many...)
	}
	if p.Type != "" {
		r.Header["Content-Type"] = []string{p.Type}
	}
	if hosts := r.Header["Host"]; len(hosts) > 0 {
		delete(r.Header, "Host")
		named := &capability.Request{Scheme: r.Scheme}
		if len(hosts) > 1 || authority(named, hosts[0]) != capability.Granted || named.Host != r.Host {
			return errors.New("another host") // the proxy refuses it as well
		}
	}
	return nil
}

// body says of the body what its head would say, and returns it.
func (p *Payload) body(r *capability.Request) []byte {
	if len(p.Body) == 0 || string(p.Body) == "null" {
		return nil
	}
	var text string
	body := []byte(p.Body) // a document instead of its text
	if json.Unmarshal(p.Body, &text) == nil {
		body = []byte(text)
	}
	r.Body = capability.Body{Present: true, Length: int64(len(body))}
	if kinds := r.Header["Content-Type"]; len(kinds) == 1 {
		if kind, _, err := mime.ParseMediaType(kinds[0]); err == nil {
			r.Body.Type = kind
		}
	}
	if codings := r.Header["Content-Encoding"]; len(codings) > 0 && codings[0] != "identity" {
		r.Body.Encoding = strings.Join(codings, ", ")
	}
	return body
}
