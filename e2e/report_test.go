package e2e

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// markup is what must stay text on every page.
const markup = `%3C%2Fcode%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E%3Cimg%20src=x%20onerror=alert(2)%3E%E2%80%AE`

// TestReportInABrowser looks at the report of a real run as a reviewer does: in a
// browser, by day and by night, wide and narrow, with the keyboard, and as assistive
// technology reads it. What the sandbox sent must be text, and the page must ask nobody
// for anything.
func TestReportInABrowser(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	w.policy(publicAPI)
	a := w.run(shell(`curl -sS https://api.example.com/public/a -o /dev/null -X GET
		for i in 1 2 3; do curl -sS --path-as-is 'https://api.example.com/` + markup + `' -o /dev/null; done
		curl -sS -X PUT -d secret https://api.example.com/public/a -o /dev/null; curl -sS https://evil.example.net/; true`)).wantExit(0)
	page := w.at("work/report.html")
	w.scupper("audit", "report", "--audit", a.audit, "--out", page).wantExit(0).farSideNothing()
	if err := w.inet.Reset(); err != nil {
		t.Fatal(err)
	}
	b := browse(w)
	pictures := map[string][]byte{}
	for _, scheme := range []string{"light", "dark"} {
		for name, width := range map[string]int{"wide": 1280, "narrow": 480} {
			b.open(page, width, scheme)
			pictures[scheme+"-"+name] = b.picture()
			b.wantContrast(scheme)
			b.wantNoOverflow(width)
		}
	}
	pictures["print.pdf"] = b.printed()
	keep(t, pictures)
	if light, dark := brightness(t, pictures["light-wide"]), brightness(t, pictures["dark-wide"]); light < 200 || dark > 80 {
		t.Errorf("the page is %d bright by day and %d by night, of 255", light, dark)
	}
	b.wantAccessible()
	b.wantInert()
	b.wantKeyboard()
	if len(b.faults) > 0 {
		t.Errorf("the page caused %s", strings.Join(b.faults, "\n"))
	}
	seen := &attempt{t: t, client: client{argv: []string{"chromium"}}, looked: map[string]bool{}}
	seen.collect(w.inet)
	seen.farSideNothing()
}

// TestBrowserSeesFaults is the control: a page that does what a report must not.
func TestBrowserSeesFaults(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	page := w.work("bad.html", `<!doctype html><title>bad</title><img src="http://198.51.100.9/x"><p style="color:#aaa;background:#fff;width:2000px">pale and wide</p>
		<script>console.log("said"); setTimeout(() => { throw new Error("thrown") }, 0)</script>`)
	b := browse(w)
	b.open(page, 480, "light")
	b.value("new Promise(done => setTimeout(done, 50)).then(() => 1), 1", new(int))
	b.picture()
	for _, want := range []string{"198.51.100.9", "said", "thrown"} {
		if !strings.Contains(strings.Join(b.faults, "\n"), want) {
			t.Errorf("the browser did not see %q: %v", want, b.faults)
		}
	}
	if pale := b.pale(); len(pale) != 1 {
		t.Errorf("pale texts: %v", pale)
	}
	if b.overflow() < 1000 {
		t.Errorf("the page is %d too wide, want 1520 or so", b.overflow())
	}
	if tree := b.accessible(); !slices.Contains(tree, "RootWebArea: bad") {
		t.Errorf("accessible: %v", tree)
	}
}

// keep leaves the pictures for whoever wants to look at them.
func keep(t *testing.T, pictures map[string][]byte) {
	t.Helper()
	dir := t.ArtifactDir()
	for name, content := range pictures {
		if filepath.Ext(name) == "" {
			name += ".png"
		}
		if err := os.WriteFile(filepath.Join(dir, "report-"+name), content, 0o644); err != nil {
			t.Error(err)
		}
	}
}

// brightness is the mean of all pixels, from 0 to 255.
func brightness(t *testing.T, picture []byte) int {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		t.Fatal(err)
	}
	return mean(img)
}

func mean(img image.Image) int {
	sum, n := 0, 0
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y += 3 {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x += 3 {
			r, g, b, _ := img.At(x, y).RGBA()
			sum, n = sum+int(r+g+b)/3>>8, n+1
		}
	}
	return sum / max(n, 1)
}

// contrast lists texts whose colour is too near to what is behind it (WCAG 2.2, 1.4.3).
const contrast = `(() => {
	const parse = c => (c.match(/[\d.]+/g) || []).map(Number);
	const light = c => c.slice(0, 3).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0);
	const behind = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
	const pale = [];
	for (const e of document.body.querySelectorAll('*')) {
		if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) || !e.getClientRects().length) continue;
		const style = getComputedStyle(e), ink = parse(e.namespaceURI.includes('svg') ? style.fill : style.color);
		const [a, b] = [light(ink), light(behind(e))].sort((x, y) => y - x);
		const ratio = (a + 0.05) / (b + 0.05);
		if (ratio < 4.5) pale.push(e.tagName + ' ' + ratio.toFixed(2) + ' ' + e.textContent.slice(0, 40));
	}
	return pale;
})()`

func (b *browser) pale() (texts []string) {
	b.t.Helper()
	b.value(contrast, &texts)
	return texts
}

func (b *browser) wantContrast(scheme string) {
	b.t.Helper()
	if pale := b.pale(); len(pale) > 0 {
		b.t.Errorf("%s: contrast below 4.5:1: %s", scheme, strings.Join(pale, "; "))
	}
}

func (b *browser) overflow() (pixels int) {
	b.t.Helper()
	b.value("document.documentElement.scrollWidth - document.documentElement.clientWidth", &pixels)
	return pixels
}

func (b *browser) wantNoOverflow(width int) {
	b.t.Helper()
	if n := b.overflow(); n > 0 {
		b.t.Errorf("at %d pixels the page is %d too wide", width, n)
	}
}

// wantAccessible looks for landmarks, tables and the plot by their names.
func (b *browser) wantAccessible() {
	b.t.Helper()
	tree := b.accessible()
	for _, want := range []string{
		"banner: ", "navigation: Sections", "main: ", "contentinfo: ", "link: Skip to the report",
		"table: Runs", "table: Controls", "table: Grants", "region: Runs", "region: Refusals",
		"image: Bytes sent by grant over time; public: ", "columnheader: Refused near it", "rowheader: public", "heading: Refusals",
		"heading: 1 run made 5 requests; ",
	} {
		if !slices.ContainsFunc(tree, func(node string) bool { return strings.HasPrefix(node, want) }) {
			b.t.Errorf("assistive technology finds no %q in\n%s", want, strings.Join(tree, "\n"))
		}
	}
}

// wantInert looks for what the sandbox sent: it is there as text, and as nothing else.
func (b *browser) wantInert() {
	b.t.Helper()
	var got struct {
		Scripts, Images, Handlers int
		Text                      bool
	}
	b.value(`({Scripts: document.scripts.length, Images: document.images.length, Handlers: document.querySelectorAll('[onerror],[onload],[onclick]').length,
		Text: document.body.textContent.includes('%3Cscript%3Ealert(1)') || document.body.textContent.includes('<script>alert(1)')})`, &got)
	if got.Scripts+got.Images+got.Handlers > 0 || !got.Text {
		b.t.Errorf("what the sandbox sent is %+v on the page", got)
	}
}

// wantKeyboard walks through the page with the tabulator.
func (b *browser) wantKeyboard() {
	b.t.Helper()
	var at []string
	for range 4 {
		b.press("Tab", 9)
		var text string
		b.value(`(document.activeElement.textContent || '').trim() + (getComputedStyle(document.activeElement).outlineStyle === 'none' ? ' without outline' : '')`, &text)
		at = append(at, text)
	}
	if at[0] != "Skip to the report" || slices.ContainsFunc(at, func(s string) bool { return strings.HasSuffix(s, "without outline") }) {
		b.t.Errorf("the tabulator leads to %q", at)
	}
}

// TestReadingIsSafeOnATerminal sends what a terminal must not get, and reads the log in
// every way (AUD-01).
func TestReadingIsSafeOnATerminal(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	w.policy(publicAPI)
	a := w.attack(sendsRaw("api.example.com", "GET /"+hostile+" HTTP/1.1\r\nX: "+hostile)).wantExit(0).wantStdout("400").wantReason("malformed_path").farSideNothing()
	id := a.log.denials()[0].ID
	for _, args := range [][]string{
		{"audit", "show", "--audit", a.audit},
		{"audit", "show", "--json", "--audit", a.audit},
		{"audit", "show", "--verdict", "deny", "-f", a.audit},
		{"audit", "export", "--audit", a.audit},
		{"explain", "--audit", a.audit, id},
		{"explain", "--json", "--audit", a.audit, id},
		{"audit", "report", "--audit", a.audit},
	} {
		w.scupper(args...).wantExit(0).wantStdout("malformed_path").farSideNothing().terminalSafe()
	}
	w.scupper("explain", "--audit", a.audit, id).wantStdout("proof     verified: the record is under the head ")
}
