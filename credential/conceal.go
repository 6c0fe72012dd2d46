package credential

import "strings"

// fragment is how many bytes that a text has in common with a secret are too many: a
// log has no prefix and no suffix of one either.
const fragment = 6

// Conceal is text with every piece of a secret in it replaced, for what is kept of the
// operator's own words.
func (s *Set) Conceal(text string) string {
	if s == nil {
		return text
	}
	for _, secret := range s.Secrets() {
		text = conceal(text, secret.Reveal(), secret.String())
	}
	return text
}

func conceal(text, value, instead string) string {
	size := min(fragment, len(value))
	var b strings.Builder
	for i := 0; i < len(text); {
		end := i + size
		if end > len(text) || !strings.Contains(value, text[i:end]) {
			b.WriteByte(text[i])
			i++
			continue
		}
		for end < len(text) && strings.Contains(value, text[i:end+1]) {
			end++
		}
		b.WriteString(instead)
		i = end
	}
	return b.String()
}
