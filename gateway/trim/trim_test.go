package trim

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"scupper.dev/scupper/gateway"
)

func collect(text string, limit int64, keep gateway.Part) Text {
	c := NewCollector(limit, keep)
	for b := []byte(text); len(b) > 0; {
		n := min(len(b), 7) // so that characters come in pieces
		_, _ = c.Write(b[:n])
		b = b[n:]
	}
	return c.Text()
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d of many\n", i+1)
	}
	return b.String()
}

func TestVisible(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"plain":                {"a\tb\r\nc\n", "a\tb\r\nc\n"},
		"TOOL-15 CSI":          {"\x1b[2J\x1b[31mred", "␛[2J␛[31mred"},
		"TOOL-15 OSC 52":       {"\x1b]52;c;ZXZpbA==\x07", "␛]52;c;ZXZpbA==␇"},
		"TOOL-15 title report": {"\x1b]2;x\x1b\\\x1b[21t", "␛]2;x␛\\␛[21t"},
		"TOOL-15 DCS":          {"\x1bP$q\x1b\\", "␛P$q␛\\"},
		"TOOL-15 C1":           {"\u009b2J\u0090q\u009c", "<U+009B>2J<U+0090>q<U+009C>"},
		"TOOL-15 C1 as bytes":  {"\x9b2J", "\uFFFD2J"},
		"TOOL-15 overwriting":  {"rm -rf /\rls      \n", "rm -rf /␍ls      \n"},
		"TOOL-15 backspace":    {"abc\b\b\bxyz\x7f\x00", "abc␈␈␈xyz␡␀"},
		"order of text":        {"a\u202eb\u2066c", "a<U+202E>b<U+2066>c"},
		"nothing to see":       {"a\u200bb\ufeff\u00ad", "a<U+200B>b<U+FEFF><U+00AD>"},
		"tags":                 {"ok\U000E0041\U000E0042", "ok<U+E0041><U+E0042>"},
		"variation selectors":  {"a\ufe0f\ufe01 \U000E0101", "a<U+FE0F><U+FE01> <U+E0101>"},
		"an emoji":             {"👩\u200d💻 ❤\ufe0f 1\ufe0f⃣", "👩\u200d💻 ❤\ufe0f 1\ufe0f⃣"},
		"a script":             {"می\u200cخواهم", "می\u200cخواهم"},
		"joiners in a row":     {"👩\u200d\u200d\u200c", "👩\u200d<U+200D><U+200C>"},
		"separators":           {"a\u2028b", "a<U+2028>b"},
		"not UTF-8":            {"a\xff\xc3(\xed\xa0\x80", "a\uFFFD\uFFFD(\uFFFD\uFFFD\uFFFD"},
	} {
		t.Run(name, func(t *testing.T) {
			var s sight
			got := s.visible(c.text)
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if changed := got != c.text; changed != (len(s.notes()) > 0) {
				t.Errorf("notes %q", s.notes())
			}
			if again := s.visible(got); again != got {
				t.Errorf("again: %q", again)
			}
		})
	}
}

func TestCut(t *testing.T) {
	text := numbered(1000)
	for name, c := range map[string]struct {
		text  string
		keep  gateway.Part
		first string
		last  string
		cut   bool
	}{
		"short":                 {numbered(10), gateway.Ends, "line 1 of many\n", "line 10 of many\n", false},
		"TOOL-13 ends":          {text, gateway.Ends, "line 1 of many\n", "line 1000 of many\n", true},
		"TOOL-13 start":         {text, gateway.Start, "line 1 of many\n", "chars truncated]", true},
		"TOOL-14 one huge line": {strings.Repeat("é", 4<<20), gateway.Ends, "éé", "éé", true},
		"TOOL-14 then a line":   {strings.Repeat("x", 1<<20) + "\nlast\n", gateway.Ends, "xx", "x\nlast\n", true},
		"no UTF-8 at all":       {strings.Repeat("\xff", 100_000), gateway.Ends, "\uFFFD", "\uFFFD", true},
		"controls":              {strings.Repeat("\x1b[0m", 100_000), gateway.Ends, "␛[0m", "␛[0m", true},
	} {
		t.Run(name, func(t *testing.T) {
			got := collect(c.text, 4096, c.keep)
			check(t, c.text, 4096, got)
			if !strings.HasPrefix(got.Shown, c.first) || !strings.HasSuffix(got.Shown, c.last) || (got.Cut > 0) != c.cut {
				t.Errorf("cut %d: %q ... %q", got.Cut, got.Shown[:min(40, len(got.Shown))], got.Shown[max(0, len(got.Shown)-40):])
			}
		})
	}
}

func TestCutKeepsLines(t *testing.T) {
	got := collect(numbered(1000), 4096, gateway.Ends)
	head, tail, _ := strings.Cut(got.Shown, marker(got.Cut)+"\n")
	first, last := strings.Count(head, "\n"), strings.Count(tail, "\n")
	if got.From != int64(first+1) || got.To != int64(1000-last) || got.Lines != 1000 {
		t.Errorf("lines %d to %d of %d are said to be left out; shown are %d and %d", got.From, got.To, got.Lines, first, last)
	}
	if whole := numbered(1000); !strings.HasPrefix(whole, head) || !strings.HasSuffix(whole, tail) {
		t.Error("what is shown is not what there was")
	}
	if last < 3*first {
		t.Errorf("%d lines of the head, %d of the tail", first, last)
	}
}

// markers finds the number in a marker.
var markers = regexp.MustCompile(`(?m)^\.\.\. \[(\d+) chars truncated\]$`)

// check holds what must hold for every text.
func check(t *testing.T, text string, limit int, got Text) {
	t.Helper()
	shown := len(got.Shown) + len(got.Note("01JABCDEFGHJKMNPQRSTVWXYZ0-12345", got.Whole))
	if shown > limit {
		t.Errorf("%d bytes shown of %d allowed", shown, limit)
	}
	if !utf8.ValidString(got.Shown) {
		t.Error("not UTF-8")
	}
	if i := strings.IndexFunc(strings.ReplaceAll(got.Shown, "\r\n", "\n"), hidden); i >= 0 {
		t.Errorf("a control character at %d of %q", i, got.Shown)
	}
	if got.Whole != int64(len(text)) || got.Digest != sha256.Sum256([]byte(text)) {
		t.Errorf("whole %d, want %d; or its digest", got.Whole, len(text))
	}
	total := int64(utf8.RuneCountInString(text))
	if got.Cut == 0 {
		var s sight
		if want := s.visible(text); got.Shown != want {
			t.Errorf("nothing was cut, and %q is not %q", got.Shown, want)
		}
		return
	}
	// Text without anything to make visible shows as many characters as it has.
	if len(got.Notes) == 0 {
		var numbers [][]int
		for _, m := range markers.FindAllStringSubmatchIndex(got.Shown, -1) {
			if n, err := strconv.ParseInt(got.Shown[m[2]:m[3]], 10, 64); err == nil && n == got.Cut {
				numbers = append(numbers, m)
			}
		}
		for _, m := range numbers {
			head, tail := got.Shown[:m[0]], strings.TrimPrefix(got.Shown[m[1]:], "\n")
			for _, h := range []string{head, strings.TrimSuffix(head, "\n")} {
				left := total - int64(utf8.RuneCountInString(h)) - int64(utf8.RuneCountInString(tail))
				if left == got.Cut && strings.HasPrefix(text, h) && strings.HasSuffix(text, tail) {
					return
				}
			}
		}
		t.Errorf("the marker of %d characters is wrong: %q", got.Cut, got.Shown)
	}
}

// hidden reports what may not be in text that is shown.
func hidden(r rune) bool {
	return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r == 0x202e || r == 0x200b || between(r, 0xe0000, 0xe0fff)
}

// TestCutAtRandom makes texts of pieces that are hard to cut.
func TestCutAtRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "\n", "\r\n", "\r", "é", "日本", "👩\u200d💻", "\xff", "\xe2\x82", "\x1b[0m", "\u202e", strings.Repeat("w", 500), "... [12 chars truncated]\n"}
	for range 2000 {
		var b strings.Builder
		for range random.IntN(600) {
			b.WriteString(pieces[random.IntN(1+random.IntN(len(pieces)))])
		}
		limit := int64(MinLimit + random.IntN(2000))
		check(t, b.String(), int(limit), collect(b.String(), limit, gateway.Part(random.IntN(2))))
		if t.Failed() {
			t.Fatalf("limit %d, text %q", limit, b.String())
		}
	}
}

func FuzzCollector(f *testing.F) {
	f.Add([]byte(numbered(300)), uint16(0), true, uint8(3))
	f.Add([]byte("a\xe2\x82"), uint16(100), false, uint8(1))
	f.Fuzz(func(t *testing.T, text []byte, over uint16, ends bool, piece uint8) {
		keep := gateway.Start
		if ends {
			keep = gateway.Ends
		}
		text = bytes.Repeat(text, 1+3000/(len(text)+1)) // long enough to be cut
		limit := MinLimit + int64(over)
		c := NewCollector(limit, keep)
		for b := text; len(b) > 0; {
			n := min(len(b), int(piece)+1)
			_, _ = c.Write(b[:n])
			b = b[n:]
		}
		check(t, string(text), int(limit), c.Text())
	})
}

func TestNotesListWhatHides(t *testing.T) {
	got := collect("a\u202eb\u202ec\u200b\x1b[0m\xff", 4096, gateway.Ends)
	want := "[1 bytes are not UTF-8 and shown as \uFFFD; 1 control characters are shown as symbols, such as ␛ for ESC; invisible characters are shown by number: U+200B (1), U+202E (2)]"
	if note := got.Note("x", 0); note != want {
		t.Errorf("got %q\nwant %q", note, want)
	}
}

// TestTextThatSaysItIsCut has a marker of its own: the real one and the note count.
func TestTextThatSaysItIsCut(t *testing.T) {
	got := collect("... [7 chars truncated]\n", 4096, gateway.Ends)
	if got.Cut != 0 || got.Note("x", 0) != "" {
		t.Errorf("%+v", got)
	}
}

func newStore(t *testing.T) *Store {
	t.Helper()
	s, err := NewStore(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestTrimmerKeepsTheWhole(t *testing.T) {
	store := newStore(t)
	tr := &Trimmer{Store: store}
	text := numbered(5000)
	r := tr.Trim(&gateway.Call{ID: "r-7", Role: "dev"}, &gateway.Definition{MaxOutput: 8000}, gateway.Text(text))
	if r.Whole != int64(len(text)) || r.Shown > 8000 || r.Digest != sha256.Sum256([]byte(text)) || len(r.Content) != 2 {
		t.Fatalf("%d of %d bytes shown, %d pieces", r.Shown, r.Whole, len(r.Content))
	}
	if note := r.Content[1].Text; !strings.Contains(note, `read "result:r-7" has all `) {
		t.Errorf("note %q", note)
	}
	f, ok := store.Open("dev", "r-7")
	if !ok {
		t.Fatal("no whole")
	}
	got, err := io.ReadAll(f)
	if err != nil || string(got) != text || f.Close() != nil {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	for _, k := range []key{{"other", "r-7"}, {"", "r-7"}, {"dev", "r-8"}, {"dev", ""}, {"dev", "../r-7"}} {
		if _, ok := store.Open(k.role, k.handle); ok {
			t.Errorf("role %q reads %q", k.role, k.handle)
		}
	}
}

func TestTrimmerWithoutStore(t *testing.T) {
	r := new(Trimmer).Trim(&gateway.Call{ID: "r-7"}, &gateway.Definition{MaxOutput: 8000}, gateway.Text(numbered(5000)))
	if note := r.Content[1].Text; !strings.Contains(note, "the whole was not kept") {
		t.Errorf("note %q", note)
	}
}

func TestTrimmerManyTexts(t *testing.T) {
	for _, sizes := range [][]int{{100, 50_000}, {50_000, 50_000, 50_000}, make([]int, 300), {10, 20}} {
		var in gateway.Result
		for i, size := range sizes {
			if size == 0 {
				size = 400
			}
			in.Content = append(in.Content, gateway.Content{Text: strings.Repeat(string(rune('a'+i%26)), size)})
		}
		in.Content = append(in.Content, gateway.Content{Image: []byte("png"), MediaType: "image/png"})
		out := (&Trimmer{Store: newStore(t)}).Trim(&gateway.Call{ID: "c"}, &gateway.Definition{MaxOutput: 10_000}, in)
		shown, _ := measure(out.Content)
		images := 0
		for _, c := range out.Content {
			if c.Image != nil {
				images++
			}
		}
		if shown > 10_000 || out.Shown != shown || images != 1 {
			t.Errorf("%d texts: %d bytes shown, %d said, %d images", len(sizes), shown, out.Shown, images)
		}
	}
}

func TestTrimmerKeepsWhatAToolSays(t *testing.T) {
	in := gateway.Text("short\x1b")
	in.Whole, in.Digest = 1<<30, [32]byte{1}
	out := new(Trimmer).Trim(&gateway.Call{ID: "c"}, &gateway.Definition{}, in)
	if out.Whole != 1<<30 || out.Digest != [32]byte{1} || !strings.HasPrefix(out.Content[0].Text, "short␛") {
		t.Errorf("%+v", out)
	}
}

func TestStructured(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","properties":{"a":{"type":"string","maxLength":8},"n":{"type":"number"}},"additionalProperties":false}`)
	for name, c := range map[string]struct{ in, want, note string }{
		"fits":             {`{"n": 1.50, "a":"x<y"}`, `{"n":1.50,"a":"x<y"}`, ""},
		"made visible":     {`{"a":"\u001b\u202e"}`, ``, "does not fit"}, // as <U+202E> it is too long
		"control":          {`{"a":"\u001b["}`, `{"a":"␛["}`, ""},
		"not by schema":    {`{"b":1}`, ``, "does not fit"},
		"not JSON":         {`{"a":`, ``, "not JSON"},
		"two values":       {`{} {}`, ``, "not JSON"},
		"too long":         {`{"a":"` + strings.Repeat("x", 20_000) + `"}`, ``, "longer"},
		"nested for ever":  {strings.Repeat("[", 2_000_000), ``, "not JSON"},
		"a name that acts": {`{"\u001b":1}`, ``, "does not fit"},
	} {
		t.Run(name, func(t *testing.T) {
			out := new(Trimmer).Trim(&gateway.Call{}, &gateway.Definition{Output: schema}, gateway.Result{Structured: json.RawMessage(c.in)})
			if string(out.Structured) != c.want {
				t.Errorf("got %s, want %s", out.Structured, c.want)
			}
			if c.note != "" && (len(out.Content) != 1 || !strings.Contains(out.Content[0].Text, c.note)) {
				t.Errorf("content %q", out.Content)
			}
		})
	}
}

func TestFields(t *testing.T) {
	text := `{"id":1,"secret":"s","items":[{"name":"a","key":"k"},{"name":"b","key":"k"}],"owner":"o","a/b":{"c~d":[1,2]},"x":{"y":1}}`
	for _, c := range []struct {
		fields []string
		want   string
	}{
		{[]string{"/id"}, `{"id":1}`},
		{[]string{"id", "x"}, `{"id":1,"x":{"y":1}}`},
		{[]string{"/items/*/name"}, `{"items":[{"name":"a"},{"name":"b"}]}`},
		{[]string{"/items/1/name"}, `{"items":[{"name":"b"}]}`},
		{[]string{"/a~1b/c~0d"}, `{"a/b":{"c~d":[1,2]}}`},
		{[]string{"/owner/name"}, `{}`}, // what is there is not what was declared
		{[]string{"/gone"}, `{}`},
		{[]string{""}, text},
		{nil, `{}`},
	} {
		if got, err := Fields([]byte(text), c.fields); err != nil || string(got) != c.want {
			t.Errorf("%q: got %s %v, want %s", c.fields, got, err, c.want)
		}
	}
}

func TestDeclaredFields(t *testing.T) {
	d := &gateway.Definition{Fields: []string{"/id"}}
	for name, c := range map[string]struct {
		in               gateway.Result
		text, structured string
	}{
		"structured":   {gateway.Result{Structured: json.RawMessage(`{"id":1,"s":2}`), Content: []gateway.Content{{Text: "s is 2"}, {Image: []byte("2")}}}, `{"id":1}`, `{"id":1}`},
		"text":         {gateway.Text(`{"id":1,"s":2}`), `{"id":1}`, ``},
		"not JSON":     {gateway.Text("secret"), "[the result is left out: the tool declares fields of its output, and this is not JSON]", ``},
		"its failure":  {gateway.Failure("no such thing"), "no such thing", ``},
		"two texts":    {gateway.Result{Content: []gateway.Content{{Text: "secret"}, {Text: "{}"}}}, "[the result is left out: the tool declares fields of its output, and this is not JSON]", ``},
		"nothing said": {gateway.Result{}, "[the result is left out: the tool declares fields of its output, and this is not JSON]", ``},
	} {
		t.Run(name, func(t *testing.T) {
			out := new(Trimmer).Trim(&gateway.Call{}, d, c.in)
			if len(out.Content) != 1 || out.Content[0].Text != c.text || string(out.Structured) != c.structured {
				t.Errorf("%+v", out)
			}
		})
	}
}

func FuzzFields(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":"c"}]}`), "/a/*/b")
	f.Fuzz(func(t *testing.T, text []byte, field string) {
		once, err := Fields(text, []string{field})
		if err != nil {
			return
		}
		if !json.Valid(once) {
			t.Errorf("not JSON: %s", once)
		}
		if strings.ContainsAny(field, "0123456789") {
			return // elements close up, and have other numbers then
		}
		if again, err := Fields(once, []string{field}); err != nil || !bytes.Equal(once, again) {
			t.Errorf("%s becomes %s %v", once, again, err)
		}
	})
}

func TestStoreIsBounded(t *testing.T) {
	s := newStore(t)
	for i := range maxFiles + 10 {
		c := s.Collect(MinLimit, gateway.Ends)
		_, _ = c.Write(bytes.Repeat([]byte("x"), 3000))
		if s.Keep(c, "dev", strconv.Itoa(i)) != 3000 {
			t.Fatal("not kept")
		}
		c.Close()
	}
	if _, ok := s.Open("dev", "0"); ok || len(s.order) != maxFiles || s.bytes != maxFiles*3000 {
		t.Errorf("%d files of %d bytes", len(s.order), s.bytes)
	}
	if _, ok := s.Open("dev", strconv.Itoa(maxFiles+9)); !ok {
		t.Error("the newest is gone")
	}
}

// TestFlood is TOOL-13 for the collector: memory stays what it was.
func TestFlood(t *testing.T) {
	s := newStore(t)
	c := s.Collect(32<<10, gateway.Ends)
	chunk := bytes.Repeat([]byte("flood\n"), 10_000)
	var written int64
	for written < MaxWhole+1<<20 {
		_, _ = c.Write(chunk)
		written += int64(len(chunk))
	}
	if n := cap(c.head) + cap(c.tail.b); n > 4*32<<10 {
		t.Errorf("%d bytes in memory", n)
	}
	if kept := s.Keep(c, "dev", "x"); kept != MaxWhole {
		t.Errorf("%d bytes kept", kept)
	}
	text := c.Text()
	if note := text.Note("x", MaxWhole); text.Whole != written || !strings.Contains(note, "has the first 67108864 of ") {
		t.Errorf("whole %d, note %q", text.Whole, note)
	}
}

func TestStoreWithoutRoom(t *testing.T) {
	s := newStore(t)
	s.dir = "/proc/nowhere"
	c := s.Collect(MinLimit, gateway.Ends)
	_, _ = c.Write(bytes.Repeat([]byte("x"), 3000))
	if n := s.Keep(c, "dev", "x"); n != 0 {
		t.Errorf("%d bytes kept", n)
	}
	if text := c.Text(); text.Cut == 0 || text.Whole != 3000 {
		t.Errorf("%+v", text)
	}
}

func BenchmarkCollector(b *testing.B) {
	chunk := bytes.Repeat([]byte("some output of a command\n"), 1300)
	b.SetBytes(int64(len(chunk)))
	c := NewCollector(32<<10, gateway.Ends)
	for b.Loop() {
		_, _ = c.Write(chunk)
	}
}
