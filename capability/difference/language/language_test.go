package language

import (
	"math/rand/v2"
	"strings"
	"testing"

	"scupper.dev/scupper/capability"
)

// accepted runs text through m.
func accepted(m Machine, text string) bool {
	s := m.Start()
	for _, r := range text {
		if s == Dead {
			return false
		}
		s = m.Step(s, r)
	}
	return accepts(m, s)
}

func regex(t *testing.T, expr string) capability.Pattern {
	t.Helper()
	p, err := capability.Regexp(expr)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func patterns(t *testing.T) []capability.Pattern {
	t.Helper()
	var out []capability.Pattern
	for _, name := range capability.Names() {
		p, _ := capability.Named(name)
		out = append(out, p)
	}
	for _, expr := range []string{
		`[a-z]{1,40}`, `a*`, `(?i)straße|k`, `^a|b$`, `a\b-\bb|\Bx`, `(?m)^a$\n^b$`, `(?s).*`, `.*`, `[^/]+`, `\pL\d?`, `(a|ab)(c|bcd)`, `x{3}`, `(?U)a+?`, `\x{10ffff}|é`,
	} {
		out = append(out, regex(t, expr))
	}
	return append(out, capability.OneOf("open", "closed", "é"), capability.Literal(""), capability.GoModule("example.com/a", "b.example/!x"))
}

// samples are values near to what the patterns match.
func samples() []string {
	out := []string{
		"", ".", "..", "...", "a", "é", "K", "k", "\u212a", "STRASSE", "straße", "0", "00", "01", "42", "9999999999999999999", "12345678901234567890", "true", "2026-11-30",
		"1.2.3", "1.2", "1.2.3-rc.1", "01.2.3", "1.2.3-", "12345678901.0.0", "v1.2.3", "v1.2.3+incompatible", "v1.2.3-0.20260101-abc+incompatible",
		strings.Repeat("a", 40), strings.Repeat("0", 64), strings.Repeat("a", 100), strings.Repeat("a", 101), strings.Repeat("a", 1024), strings.Repeat("a", 1025),
		"123e4567-e89b-12d3-a456-426614174000", "@scope/name", "@scope", "@/x", "name", "_x", "example.com/a", "example.com/ab", "example.com/a/v2", "example.com", "b.example/!x/y",
		"example.com//a", "example.com/.a", "example", ".example.com/a", "example.com/" + strings.Repeat("a", 116), "example.com/" + strings.Repeat("a", 117),
		"a-b", "a\nb", "abcd", "acd", "open", "closed", "xxx", "a/b", "\U0010ffff", strings.Repeat("é", 512), strings.Repeat("é", 513),
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		s := []rune(out[random.IntN(51)])
		for range random.IntN(3) {
			i := random.IntN(len(s) + 1)
			c := []rune(".-/@v0a9_!~Aé;\n ")[random.IntN(16)]
			if len(s) > 0 && i < len(s) && random.IntN(2) == 0 {
				s[i] = c
			} else {
				s = append(s[:i:i], append([]rune{c}, s[i:]...)...)
			}
		}
		out = append(out, string(s))
	}
	return out
}

// TestPatterns compares every machine with the pattern that it stands for.
func TestPatterns(t *testing.T) {
	for _, p := range patterns(t) {
		m, err := Of(p)
		if err != nil {
			t.Fatal(err)
		}
		matched := 0
		for _, s := range samples() {
			if got, want := accepted(m, s), p.Match(s); got != want {
				t.Errorf("%s on %q: got %t, want %t", p, s, got, want)
			} else if want {
				matched++
			}
		}
		if matched == 0 {
			t.Errorf("%s matched no sample: nothing was tested", p)
		}
	}
}

type pathCase struct {
	template string
	where    map[string]capability.Pattern
}

func templates(t *testing.T) []pathCase {
	t.Helper()
	named := func(name string) capability.Pattern {
		p, ok := capability.Named(name)
		if !ok {
			t.Fatal(name)
		}
		return p
	}
	type w = map[string]capability.Pattern
	any := regex(t, "(?s).*")
	return []pathCase{
		{"/", nil}, {"/a", nil}, {"/a/", nil}, {"/{x}", nil}, {"/{x}/", nil}, {"/{x...}", nil}, {"/{x...}/", nil}, {"/a/{x...}/b", nil},
		{"/{x}", w{"x": any}}, {"/{x...}", w{"x": any}}, {"/{x...}", w{"x": regex(t, "a*")}}, {"/{x...}/{y...}", w{"x": named("go_module")}},
		{"/{x}-{y}", nil}, {"/{x}-{y}.tgz", w{"y": named("semver")}}, {"/{x}aba{y}ab", w{"x": any, "y": any}}, {"/{x}aab{y}-{z}", w{"x": any, "y": any}},
		{"/a{x}b", w{"x": any}}, {"/@{s}%2f{b}", nil}, {"/{n}", w{"n": named("npm_name")}}, {"/{m...}/@v/{v}.zip", w{"m": named("go_module"), "v": named("go_version")}},
		{"/{m...}@{v}", w{"m": named("go_module")}}, {"/{m...}@{v}-{z}", w{"m": any, "v": any}}, {"/{m...}a%2f{v}b", w{"m": any}},
		{"/{p}/-/{p}-{v}.t", w{"p": capability.OneOf("a", "ab", "a-")}}, {"/{p}x{q}{p}y{q}", w{"p": capability.OneOf("a", "ax"), "q": capability.OneOf("b", "a")}},
		{"/{p}{q}", nil}, {"/.{x}", w{"x": any}}, {"/%41;{x}", w{"x": any}},
	}
}

// segments are pieces of paths near to the templates.
func randomPath(random *rand.Rand) string {
	pieces := []string{"a", "b", "ab", "aba", "aab", "-", ".", "..", ".tgz", "1.2.3", "%2f", "@", "@v", "v1.2.3", ".zip", "example.com", "x", "y", ";", "%C3%A9", "t", "%5C", "A"}
	var b strings.Builder
	for range random.IntN(5) {
		b.WriteByte('/')
		for range random.IntN(5) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
	}
	if b.Len() == 0 || random.IntN(4) == 0 {
		b.WriteByte('/')
	}
	return b.String()
}

// form is how a machine reads a path.
func form(p capability.Path, slash bool) string {
	var b strings.Builder
	for i := range p.Len() {
		if i > 0 {
			b.WriteRune(Separator)
		}
		b.WriteString(p.Segment(i))
	}
	if slash {
		b.WriteRune(Slash)
	}
	return b.String()
}

// TestPaths compares every path machine with the template that it stands for.
func TestPaths(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var paths []string
	for range 60_000 {
		paths = append(paths, randomPath(random))
	}
	for _, c := range templates(t) {
		compiled, err := capability.ParseTemplate(c.template, c.where)
		if err != nil {
			if c.template == "/{p}{q}" {
				continue
			}
			t.Fatal(err)
		}
		m, exact, err := Path(Parse(compiled))
		if err != nil || !exact {
			t.Fatalf("%s: exact %t, %v", c.template, exact, err)
		}
		matched := 0
		for _, raw := range paths {
			p, err := capability.ParsePath(raw)
			if err != nil {
				continue
			}
			text := form(p, strings.HasSuffix(raw, "/"))
			if got, want := accepted(m, text), compiled.Match(p); got != want {
				t.Errorf("%s on %q: got %t, want %t", c.template, raw, got, want)
			} else if want {
				matched++
			}
			if back, err := capability.ParsePath(Escape(text)); err != nil || back.String() != p.String() {
				t.Errorf("%q: Escape gives %q, %v", raw, Escape(text), err)
			}
		}
		t.Logf("%s: %d", c.template, matched)
		witness, found, err := Witness(NewBudget(), m)
		if err != nil {
			t.Fatal(err)
		}
		if !found {
			t.Errorf("%s matches nothing", c.template)
			continue
		}
		if p, err := capability.ParsePath(Escape(witness)); err != nil || !compiled.Match(p) {
			t.Errorf("%s does not match its witness %q", c.template, Escape(witness))
		}
	}
}

// TestValid compares the machine of all paths with ParsePath, from the machine's side.
func TestValid(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	alphabet := []rune{Separator, Slash, '.', '.', ';', '/', 'a', '\\', 0x7f, 2, 'é'}
	taken := 0
	for range 200_000 {
		text := make([]rune, random.IntN(7))
		for i := range text {
			text[i] = alphabet[random.IntN(len(alphabet))]
		}
		s := string(text)
		p, err := capability.ParsePath(Escape(s))
		want := err == nil && form(p, strings.HasSuffix(Escape(s), "/")) == s
		if got := accepted(valid{}, s); got != want {
			t.Errorf("%q as %q: got %t, want %t", s, Escape(s), got, want)
		} else if got {
			taken++
		}
	}
	if taken < 1000 {
		t.Errorf("%d were valid: nothing was tested", taken)
	}
}

func TestWitness(t *testing.T) {
	machine := func(p capability.Pattern) Machine {
		m, err := Of(p)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for _, c := range []struct {
		in, out capability.Pattern
		want    string
		found   bool
	}{
		{capability.Slug(), regex(t, `[A-Za-z0-9._~-]{1,99}`), strings.Repeat("a", 100), true},
		{regex(t, `[0-9]`), regex(t, `\d`), "", false},
		{regex(t, `(?i)k`), regex(t, `[kK]`), "\u212a", true},
		{regex(t, `a|b|c`), capability.OneOf("c", "b", "a"), "", false},
		{regex(t, `[a-c]*`), regex(t, `[a-c]{0,1000}`), strings.Repeat("a", 1001), true},
	} {
		got, found, err := Witness(NewBudget(), machine(c.in), machine(c.out))
		if got != c.want || found != c.found || err != nil {
			t.Errorf("%s without %s: got %q %t %v, want %q %t", c.in, c.out, got, found, err, c.want, c.found)
		}
	}
	hard := regex(t, `(a|b)*a(a|b){18}`)
	if _, _, err := Witness(NewBudget(), machine(hard), machine(regex(t, `(b|a)*a(a|b){18}`))); err != ErrTooLarge {
		t.Errorf("got %v, want %v", err, ErrTooLarge)
	}
}
