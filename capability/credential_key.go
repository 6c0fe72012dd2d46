package capability

import "strings"

// keyPrefixes are those by which the keys of services are known wherever they stand. What
// follows them is of the length given at least.
var keyPrefixes = [...]struct {
	text string
	rest int
}{
	{"sk-ant-", 20}, {"sk-proj-", 20}, {"sk-svcacct-", 20}, {"github_pat_", 20}, {"ghp_", 20}, {"gho_", 20}, {"ghs_", 20}, {"ghu_", 20}, {"ghr_", 20},
	{"glpat-", 20}, {"gldt-", 20}, {"glcbt-", 20}, {"npm_", 30}, {"pypi-AgE", 30}, {"hf_", 30}, {"xoxb-", 20}, {"xoxp-", 20}, {"xoxa-", 20}, {"xapp-", 20},
	{"AIza", 30}, {"ya29.", 20}, {"lin_api_", 20}, {"rubygems_", 30}, {"dop_v1_", 30}, {"sntrys_", 20}, {"hvs.", 20},
}

// shortestKey is the length of the shortest of them.
const shortestKey = 24

// looksLikeKey reports whether s is a key by the prefix and the looks of it: long, and
// with digits and letters in it. "bot", a number and a colon begin one of a chat service.
func looksLikeKey(s string) bool {
	if len(s) < shortestKey {
		return false
	}
	for _, p := range keyPrefixes {
		if rest, ok := strings.CutPrefix(s, p.text); ok {
			return len(rest) >= p.rest && strings.ContainsAny(rest, "0123456789") && allOf(rest, isSlugByte)
		}
	}
	number, rest, ok := strings.Cut(strings.TrimPrefix(s, "bot"), ":")
	return ok && len(number) < len(s) && isNumber(number) && strings.HasPrefix(s, "bot") && len(rest) >= 30
}

// keyIn is the first key in s, which may have other text around it; empty: there is none.
func keyIn(s string) string {
	for start := 0; len(s)-start >= shortestKey; start++ {
		end := start
		for end < len(s) && isSlugByte(s[end]) {
			end++
		}
		if looksLikeKey(s[start:end]) {
			return s[start:end]
		}
		start = end
	}
	return ""
}

// Shown is a text that could not be read, such as a request line, for records: keys and
// userinfo in it are left out.
func Shown(text string) string {
	for key := keyIn(text); key != ""; key = keyIn(text) {
		text = strings.ReplaceAll(text, key, "…")
	}
	words := strings.Split(text, " ")
	for i, word := range words {
		before, rest, ok := strings.Cut(word, "://")
		if !ok {
			before, rest = "", word
		}
		authority := rest[:strings.IndexAny(rest+"/", "/?#")]
		at := strings.LastIndexByte(authority, '@')
		if at < 0 {
			continue
		}
		if ok {
			before += "://"
		}
		words[i] = before + "…" + rest[at:]
	}
	return strings.Join(words, " ")
}

// Shown is the name of the parameter for records and messages, left out where a key is in
// it.
func (p Parameter) Shown() string {
	if keyIn(p.Name) != "" {
		return "…"
	}
	return p.Name
}

// Shown is the path for records and messages: a segment that looks like a key is left out.
func (p Path) Shown() string {
	s := p.String()
	for i := range p.Len() {
		if segment := p.Segment(i); looksLikeKey(segment) {
			s = strings.ReplaceAll(s, string(appendEscaped(nil, segment)), "…")
		}
	}
	return s
}
