package canary

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"slices"
	"strings"
)

// A Canary is a secret that is worth nothing.
type Canary struct {
	Name  string
	Value string // lower-case letters and digits, so that it fits everywhere
}

// Length is that of a canary's value, in characters of five bits each.
const Length = 26

// New makes a canary that nobody has seen.
func New(name string) Canary {
	random := make([]byte, Length)
	rand.Read(random)
	return Canary{Name: name, Value: strings.ToLower(base32.StdEncoding.EncodeToString(random))[:Length]}
}

// Of makes the canary that belongs to a place, the same every time, so that whatever is
// told of it is the same every time too.
func Of(name, place string) Canary {
	sum := sha256.Sum256([]byte(place + "\x00" + name))
	return Canary{Name: name, Value: strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:Length]}
}

// A Flow is one message as the far side received it.
type Flow struct {
	Host  string // that it was for; for a DNS question, the name without its first label
	Kind  string // "http", "dns", "tcp", "udp", "icmp"
	Parts []Part
}

// A Part is one place of a message in which something can be written.
type Part struct {
	Slot string // for example "segment 2", "parameter q", "header x-note", "label 0", "body"
	Text string
}

// A Finding is a canary, or a piece of one, that arrived.
type Finding struct {
	Canary string
	Form   string // how it was written, the outermost encoding first: "gzip, base64"
	Where  string // the place: "api.example.com: header x-note"
	Flow   int    // the message that it was complete with
	Bits   int    // how much of it arrived: 5 for each character
}

// Whole reports whether nothing of the canary is missing.
func (f Finding) Whole() bool { return f.Bits == 5*Length }

// Find returns what arrived of the canaries: each once, in its first whole finding, or
// else with the longest piece of at least eight characters.
func Find(canaries []Canary, flows []Flow) []Finding {
	s := newSearch(canaries)
	for i, f := range flows {
		for _, p := range f.Parts {
			s.look(p.Text, where(f, p.Slot), i)
		}
		for _, j := range joined(f) {
			s.look(j.Text, where(f, j.Slot), i)
		}
	}
	for _, t := range streams(flows) {
		s.look(t.text, t.where, t.last)
	}
	return s.findings()
}

// Trickle returns how many bits of a canary went out message after message, in pieces of
// any length at one place: at most that much. Two characters in a row occur by chance and
// count as none. Find reports pieces only from eight characters on.
func Trickle(c Canary, flows []Flow) (bits int) {
	for _, t := range streams(flows) {
		text := strings.ToLower(t.text)
		for i := range c.Value {
			for n := bits/5 + 1; i+n <= len(c.Value) && strings.Contains(text, c.Value[i:i+n]); n++ {
				bits = 5 * n
			}
		}
	}
	if bits <= 2*5 {
		return 0
	}
	return bits
}

func where(f Flow, slot string) string { return f.Host + ": " + slot }

// joined are the parts of one kind of a message in their order, one after the other.
func joined(f Flow) []Part {
	var all []Part
	for _, p := range f.Parts {
		kind, _, several := strings.Cut(p.Slot, " ")
		if !several {
			continue
		}
		i := slices.IndexFunc(all, func(q Part) bool { return q.Slot == kind+"s" })
		if i < 0 {
			all = append(all, Part{Slot: kind + "s"})
			i = len(all) - 1
		}
		all[i].Text += p.Text
	}
	return all
}

// stream is what one place of messages to one host carried, message after message.
type stream struct {
	where string
	text  string
	last  int
}

// streams are the places of all messages: each as it is, and without what its texts
// begin and end with every time.
func streams(flows []Flow) []stream {
	type place struct{ host, slot string }
	texts, last := map[place][]string{}, map[place]int{}
	var order []place
	for i, f := range flows {
		for _, p := range append(joined(f), f.Parts...) {
			at := place{f.Host, p.Slot}
			if texts[at] == nil {
				order = append(order, at)
			}
			texts[at], last[at] = append(texts[at], p.Text), i
		}
	}
	var all []stream
	for _, at := range order {
		if len(texts[at]) < 2 {
			continue
		}
		name := at.host + ": " + at.slot + ", message after message"
		all = append(all, stream{name, strings.Join(texts[at], ""), last[at]}, stream{name, strings.Join(varying(texts[at]), ""), last[at]})
	}
	return all
}

// varying is texts without their common beginning and end.
func varying(texts []string) []string {
	first := texts[0]
	front, back := len(first), len(first)
	for _, t := range texts[1:] {
		n := 0
		for n < min(front, len(t)) && t[n] == first[n] {
			n++
		}
		front = n
		n = 0
		for n < min(back, len(t)) && t[len(t)-1-n] == first[len(first)-1-n] {
			n++
		}
		back = n
	}
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = t[min(front, len(t)):max(min(front, len(t)), len(t)-back)]
	}
	return out
}
