package gitproto

import "strings"

// negotiation is a request of version 0 or 1: wants, the first with capabilities, then
// what bounds the history, a flush, and haves, with flushes among them, up to a last
// flush or "done" (gitprotocol-pack, "Packfile Negotiation").
func negotiation(packets []packet) ([]byte, error) {
	first, caps, _ := strings.Cut(strings.TrimPrefix(packets[0].text, "want "), " ")
	if packets[0].kind != line || !strings.HasPrefix(packets[0].text, "want ") || !objectID(first) {
		return nil, errorAt(0, errCommand)
	}
	kept, err := negotiationCapabilities(caps)
	if err != nil {
		return nil, errorAt(0, err)
	}
	out := appendLine(nil, "want "+first+kept)
	i, out, err := appendWords(out, packets, 1, wantLines)
	if err != nil {
		return nil, err
	}
	for i < len(packets) && packets[i].kind == flush {
		if i, out, err = appendWords(appendFlush(out), packets, i+1, haveLines); err != nil {
			return nil, err
		}
	}
	if i == len(packets) && (packets[i-1].kind == flush || packets[i-1].text == "done") {
		return out, nil
	}
	return nil, errEnd
}

// appendWords writes the lines from packet i on up to a special packet.
func appendWords(out []byte, packets []packet, i int, allowed words) (int, []byte, error) {
	seen := make(map[string]bool)
	for ; i < len(packets) && packets[i].kind == line; i++ {
		if seen["done"] {
			return 0, nil, errorAt(i, errEnd)
		}
		if err := allowed.check(packets[i].text, seen); err != nil {
			return 0, nil, errorAt(i, err)
		}
		out = appendLine(out, packets[i].text)
	}
	if i < len(packets) && (packets[i].kind != flush || seen["done"]) {
		return 0, nil, errorAt(i, errSequence)
	}
	return i, out, nil
}

var wantLines = words{
	"want ": objectID, "shallow ": objectID, "deepen ": depth, "deepen-since ": number, "deepen-not ": refName, "filter ": filterSpec,
}

var haveLines = words{"have ": objectID, "done": flagWord}

// negotiationCapabilities checks the list after the first want and writes what is kept
// of it in its order, each with a blank in front.
func negotiationCapabilities(list string) (string, error) {
	var kept strings.Builder
	seen := make(map[string]bool)
	for _, c := range strings.Fields(list) {
		if err := fetchCapabilities.check(c, seen); err == nil {
			kept.WriteString(" " + c)
			continue
		}
		if err := commonCapabilities.check(c, seen); err != nil {
			return "", err
		}
		if strings.HasPrefix(c, "object-format=") {
			kept.WriteString(" " + c)
		}
	}
	return kept.String(), nil
}

// fetchCapabilities are those of gitprotocol-capabilities that a fetch can ask for.
var fetchCapabilities = words{
	"multi_ack": flagWord, "multi_ack_detailed": flagWord, "no-done": flagWord, "thin-pack": flagWord, "side-band": flagWord,
	"side-band-64k": flagWord, "ofs-delta": flagWord, "shallow": flagWord, "no-progress": flagWord, "include-tag": flagWord,
	"deepen-since": flagWord, "deepen-not": flagWord, "deepen-relative": flagWord, "filter": flagWord,
	"allow-tip-sha1-in-want": flagWord, "allow-reachable-sha1-in-want": flagWord,
}

// commonCapabilities belong to both versions.
var commonCapabilities = words{"agent=": agent, "session-id=": agent, "object-format=": objectFormat}
