package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"scupper.dev/scupper/capability"
)

func explanation(t *testing.T, dir, id string) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteExplanation(&b, dir, id); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestWriteExplanation(t *testing.T) {
	g := newGuard(t, nil)
	g.Authorize(ask(t, "GET", "api.example.com", "/repos/app"))
	d := g.Authorize(ask(t, "PUT", "api.example.com", "/repos/app"))
	g.Authorize(ask(t, "PUT", "api.example.com", "/repos/app"))
	g.Close(0)
	text := explanation(t, g.config.Dir, d.ID)
	for _, want := range []string{
		"asked     PUT https://api.example.com/repos/app\n",
		"answer    deny: method_not_granted, 2 times\n",
		"because   method PUT is not in GET\n",
		"grant     api comes nearest\n",
		"policy    policy.hcl:3:3\n",
		"              1  grant \"api\" {\n              ...\n          >   3    allow { path = \"/repos/{repo}\" }\n",
		"record    line 3 of 000001.jsonl\n",
		"id        " + d.ID + "\n",
		"  grant \"new-api.example.com\" {\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the explanation has no %q:\n%s", want, text)
		}
	}
	if last := explanation(t, g.config.Dir, "last"); last != text {
		t.Errorf("last is\n%s", last)
	}
	var b bytes.Buffer
	var back Explanation
	e, err := Explain(g.config.Dir, g.Run())
	if err != nil || e.WriteJSON(&b) != nil || json.Unmarshal(b.Bytes(), &back) != nil || back.ID != d.ID || back.Times != 2 || !bytes.Contains(back.Record, []byte(`"method_not_granted"`)) {
		t.Errorf("JSON is %s, %v", b.String(), err)
	}
}

func TestExcerpt(t *testing.T) {
	const text = "version = 1\n\ngrant \"api\" {\n  host = \"h\"\n  allow {\n    path = \"/{a}\"\n    body {\n    }\n  }\n  allow {\n  }\n}\n"
	for at, want := range map[int]string{
		3:  ">   3  grant \"api\" {|    4    host = \"h\"|    5    allow {|    6      path = \"/{a}\"|    7      body {|    8      }|    9    }|   10    allow {|   11    }|   12  }",
		5:  "    3  grant \"api\" {|    ...|>   5    allow {|    6      path = \"/{a}\"|    7      body {|    8      }|    9    }",
		4:  "    3  grant \"api\" {|>   4    host = \"h\"",
		1:  ">   1  version = 1",
		0:  "",
		99: "",
	} {
		var got []string
		for _, l := range excerpt(text, at) {
			got = append(got, l.String())
		}
		if s := strings.Join(got, "|"); s != want {
			t.Errorf("line %d: got\n%s\nwant\n%s", at, strings.Join(got, "\n"), strings.ReplaceAll(want, "|", "\n"))
		}
	}
	if n := len(excerpt("grant \"x\" {\n"+strings.Repeat("  a = 1\n", 100)+"}\n", 1)); n != maxExcerptLines+1 {
		t.Errorf("a long block has %d lines", n)
	}
}

func TestChangedPolicyTextIsNotQuoted(t *testing.T) {
	g := newGuard(t, nil)
	d := g.Authorize(ask(t, "PUT", "api.example.com", "/repos/app"))
	g.Close(0)
	path := policyFile(g.config.Dir, g.run, digestOf([]byte(policyText)))
	if err := os.WriteFile(path, []byte(policyText+"# changed\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	text := explanation(t, g.config.Dir, d.ID)
	if strings.Contains(text, ">   3") || !strings.Contains(text, "it was changed afterwards") {
		t.Errorf("the explanation is\n%s", text)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if text := explanation(t, g.config.Dir, d.ID); !strings.Contains(text, "not beside the log any more") {
		t.Errorf("the explanation is\n%s", text)
	}
}

func TestExplanationIsSafeOnATerminal(t *testing.T) {
	g := newGuard(t, nil)
	g.Refuse(&capability.Request{Kind: capability.KindHTTP, Method: "GET\x1b[2J", Excerpt: "\x1b]0;owned\x07\u202e\u200b\xff\r\nfake"}, capability.MalformedRequest)
	q := ask(t, "GET", "evil.example.com", "/%E2%80%AE%E2%80%8Bx")
	g.Authorize(q)
	g.Close(0)
	for _, id := range []string{"last", g.Run() + "-2"} {
		text := explanation(t, g.config.Dir, id)
		for _, r := range text {
			if r != '\n' && (r < ' ' || r == 0x7f || r == '\u202e' || r == '\u200b') {
				t.Errorf("%s holds %U:\n%q", id, r, text)
			}
		}
	}
	for in, want := range map[string]string{
		"a\x1b[1mb": `a\u{1b}[1mb`, "x\u202ey": `x\u{202e}y`, "\xffz": `\x{ff}z`, "grün": "grün", "\u200b": `\u{200b}`, "a\nb": `a\u{a}b`, "\ufffd": "\ufffd",
	} {
		if got := Printable(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestFindRefusesForeignIDs(t *testing.T) {
	dir := t.TempDir()
	for _, id := range []string{"", "last", "../../etc/passwd", "20261130t124500-k3f9x2", "20261130t124500-k3f7x2-1", "20261130t124500-k3f7x2-", "20261130t124500-k3f7x2-01", "20261130t124500-k3f7x2/..", "99999999t999999-aaaaaa"} {
		if _, err := Find(dir, id); err == nil {
			t.Errorf("%q is found", id)
		}
	}
	if _, err := Find(dir, "last"); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

func TestReadTolerates(t *testing.T) {
	g := newGuard(t, nil)
	g.Authorize(ask(t, "GET", "api.example.com", "/repos/app"))
	g.Close(0)
	path := segmentFile(g.config.Dir, g.run, 1)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	read := func(text string) (n int, err error) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, e := range Records(g.config.Dir, g.run) {
			if e != nil {
				return n, e
			}
			n++
		}
		return n, nil
	}
	if n, err := read(string(whole[:len(whole)-9])); n != 2 || err != nil {
		t.Errorf("AUD-06 torn tail: %d records, %v", n, err)
	}
	if n, err := read(strings.Replace(string(whole), `{"v":1,`, `{"v":1,"later":{"a":[1]},`, 1)); n != 3 || err != nil {
		t.Errorf("unknown field: %d records, %v", n, err)
	}
	if n, err := read(strings.Replace(string(whole), `"seq":2`, `"seq":`, 1)); n != 1 || err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("broken line: %d records, %v", n, err)
	}
	if n, err := read(strings.Replace(string(whole), `{"v":1,"seq":3`, `{"v":2,"seq":3`, 1)); n != 2 || err == nil || !strings.Contains(err.Error(), "version 2") {
		t.Errorf("newer line: %d records, %v", n, err)
	}
}
