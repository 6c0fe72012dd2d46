package trial

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"scupper.dev/scupper/replay"
	"scupper.dev/scupper/replay/canary"
	"scupper.dev/scupper/replay/scenario"
)

// flows are all that the far side received, but what went to one of the hosts in without.
func flows(e *Evidence, without []string) (out []canary.Flow) {
	apart := make(map[netip.AddrPort]bool)
	for i := range e.Requests {
		r := &e.Requests[i]
		if among(bare(r.Host), without) {
			apart[r.Destination] = true
			continue
		}
		out = append(out, ofRequest(r))
	}
	for _, q := range e.Queries {
		out = append(out, ofQuery(q))
	}
	for _, c := range e.Connections {
		if len(c.Head) > 0 && !apart[c.Destination] {
			out = append(out, canary.Flow{Host: c.Destination.String(), Kind: "tcp", Parts: []canary.Part{{Slot: "bytes", Text: string(c.Head)}}})
		}
	}
	for _, p := range e.Packets {
		if len(p.Payload) > 0 {
			out = append(out, canary.Flow{Host: p.Destination.Addr().String(), Kind: p.Protocol, Parts: []canary.Part{{Slot: "payload", Text: string(p.Payload)}}})
		}
	}
	return out
}

func among(host string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return scenario.Matches(p, host) })
}

// bare is an authority without its port.
func bare(authority string) string {
	if host, _, err := net.SplitHostPort(authority); err == nil {
		authority = host
	}
	return strings.ToLower(strings.TrimSuffix(authority, "."))
}

func ofRequest(r *replay.Exchange) canary.Flow {
	f := canary.Flow{Host: bare(r.Host), Kind: "http"}
	add := func(slot, text string) { f.Parts = append(f.Parts, canary.Part{Slot: slot, Text: text}) }
	path, query, _ := strings.Cut(r.URI, "?")
	for i, segment := range strings.Split(strings.TrimPrefix(path, "/"), "/") {
		add(fmt.Sprintf("segment %d", i+1), segment)
	}
	if query != "" {
		for pair := range strings.SplitSeq(query, "&") {
			name, value, _ := strings.Cut(pair, "=")
			add("parameter-name "+name, name)
			add("parameter "+name, value)
		}
		add("query", query)
	}
	add("method", r.Method)
	for i, label := range strings.Split(bare(r.Host), ".") {
		add(fmt.Sprintf("label %d", i), label)
	}
	if r.SNI != "" {
		add("server-name", r.SNI)
	}
	addHeader(add, "header", r.Header)
	addHeader(add, "trailer", r.Trailer)
	if r.BodyHead != "" {
		add("body", r.BodyHead)
	}
	return f
}

func addHeader(add func(slot, text string), kind string, h http.Header) {
	names := make([]string, 0, len(h))
	for name := range h {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		add(kind+"-name "+strings.ToLower(name), name)
		for _, value := range h[name] {
			add(kind+" "+strings.ToLower(name), value)
		}
	}
}

func ofQuery(q replay.Query) canary.Flow {
	labels := strings.Split(q.Name, ".")
	f := canary.Flow{Host: strings.Join(labels[1:], "."), Kind: "dns"}
	for i, label := range labels {
		f.Parts = append(f.Parts, canary.Part{Slot: fmt.Sprintf("label %d", i), Text: label})
	}
	return f
}
