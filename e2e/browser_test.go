package e2e

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// browser is a headless Chromium that is spoken to through a pipe, in the protocol of
// its developer tools (chromedevtools.github.io/devtools-protocol): JSON messages, each
// ended by a zero byte. Nothing of it listens anywhere.
type browser struct {
	t       *testing.T
	to      *os.File
	answers chan message
	session string
	id      int
	faults  []string // script errors, console messages, requests for anything but the page
	page    string   // the address that may be asked for
}

type message struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// browse starts Chromium as the world's user. It ends with the test.
func browse(w *world) *browser {
	w.t.Helper()
	theirIn, ourOut := pipe(w.t)
	ourIn, theirOut := pipe(w.t)
	ctx, cancel := context.WithCancel(context.Background())
	cmd := w.command(ctx, []string{
		"chromium", "--headless=new", "--remote-debugging-pipe", "--user-data-dir=" + w.user.folder(w.t), "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-default-apps", "--disable-breakpad",
		"--host-resolver-rules=MAP * ~NOTFOUND", "about:blank",
	}, nil)
	cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	cmd.SysProcAttr.Setpgid = true
	if err := cmd.Start(); err != nil {
		w.t.Fatalf("start Chromium: %v; scripts/setup chromium installs it", err)
	}
	theirIn.Close()
	theirOut.Close()
	b := &browser{t: w.t, to: ourOut, answers: make(chan message, 1024)}
	go b.listen(ourIn)
	w.t.Cleanup(func() { b.end(cmd, cancel) })
	b.attach()
	return b
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return r, w
}

func (b *browser) end(cmd *exec.Cmd, cancel func()) {
	b.session = ""
	b.send("Browser.close", nil)
	timer := time.AfterFunc(10*time.Second, cancel)
	_ = cmd.Wait()
	timer.Stop()
	cancel()
	b.to.Close()
}

// listen hands messages on until the browser has gone.
func (b *browser) listen(from *os.File) {
	defer close(b.answers)
	defer from.Close()
	in := bufio.NewReaderSize(from, 1<<20)
	for {
		text, err := in.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(text[:len(text)-1], &m) == nil {
			b.answers <- m
		}
	}
}

func (b *browser) send(method string, params any) int {
	b.id++
	text, err := json.Marshal(map[string]any{"id": b.id, "method": method, "params": params, "sessionId": b.session})
	if b.session == "" {
		text, err = json.Marshal(map[string]any{"id": b.id, "method": method, "params": params})
	}
	if err != nil {
		b.t.Fatal(err)
	}
	_, _ = b.to.Write(append(text, 0)) // a browser that has gone gives no answer
	return b.id
}

// call waits for the answer to one command.
func (b *browser) call(method string, params, result any) {
	b.t.Helper()
	id := b.send(method, params)
	m := b.await(method, func(m message) bool { return m.ID == id })
	if m.Error != nil {
		b.t.Fatalf("%s: %s", method, m.Error.Message)
	}
	if result != nil {
		if err := json.Unmarshal(m.Result, result); err != nil {
			b.t.Fatalf("%s: %v in %s", method, err, m.Result)
		}
	}
}

// await takes messages, and notes faults, until one is what is waited for.
func (b *browser) await(what string, is func(message) bool) message {
	b.t.Helper()
	timeout := time.After(patience)
	for {
		select {
		case m, ok := <-b.answers:
			if !ok {
				b.t.Fatalf("%s: Chromium has ended", what)
			}
			b.note(m)
			if is(m) {
				return m
			}
		case <-timeout:
			b.t.Fatalf("%s: no answer after %v", what, patience)
		}
	}
}

// note keeps what a page must not cause.
func (b *browser) note(m message) {
	switch m.Method {
	case "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded", "Page.javascriptDialogOpening", "Page.windowOpen", "Page.downloadWillBegin":
		b.faults = append(b.faults, m.Method+" "+string(m.Params))
	case "Network.requestWillBeSent":
		var p struct {
			Request struct {
				URL string `json:"url"`
			} `json:"request"`
		}
		if json.Unmarshal(m.Params, &p) != nil || p.Request.URL != b.page {
			b.faults = append(b.faults, m.Method+" "+p.Request.URL)
		}
	}
}

func (b *browser) attach() {
	b.t.Helper()
	var target struct {
		TargetID string `json:"targetId"`
	}
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct {
		SessionID string `json:"sessionId"`
	}
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network", "Accessibility"} {
		b.call(domain+".enable", nil, nil)
	}
}

// open loads a file with a width and a colour scheme.
func (b *browser) open(path string, width int, scheme string) {
	b.t.Helper()
	b.page = "file://" + path
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false}, nil)
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
	id := b.send("Page.navigate", map[string]any{"url": b.page})
	b.await("load "+path, func(m message) bool { return m.Method == "Page.loadEventFired" })
	_ = id
}

// value is what an expression in the page comes to.
func (b *browser) value(expression string, result any) {
	b.t.Helper()
	var r struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		Exception json.RawMessage `json:"exceptionDetails"`
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &r)
	if r.Exception != nil {
		b.t.Fatalf("%s: %s", expression, r.Exception)
	}
	if err := json.Unmarshal(r.Result.Value, result); err != nil {
		b.t.Fatalf("%s: %v in %s", expression, err, r.Result.Value)
	}
}

// picture is the whole page as PNG.
func (b *browser) picture() []byte {
	b.t.Helper()
	return b.bytes("Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": true})
}

// printed is the page as PDF.
func (b *browser) printed() []byte {
	b.t.Helper()
	return b.bytes("Page.printToPDF", map[string]any{"preferCSSPageSize": true})
}

func (b *browser) bytes(method string, params any) []byte {
	b.t.Helper()
	var r struct {
		Data string `json:"data"`
	}
	b.call(method, params, &r)
	raw, err := base64.StdEncoding.DecodeString(r.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	return raw
}

// press presses a key.
func (b *browser) press(key string, code int) {
	b.t.Helper()
	for _, kind := range []string{"keyDown", "keyUp"} {
		b.call("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code}, nil)
	}
}

// accessible is the page as assistive technology has it: "role: name" of each node that
// is not ignored.
func (b *browser) accessible() []string {
	b.t.Helper()
	type text struct {
		Value string `json:"value"`
	}
	var tree struct {
		Nodes []struct {
			Ignored     bool
			Role        text
			Name        json.RawMessage
			Description json.RawMessage
		}
	}
	b.call("Accessibility.getFullAXTree", nil, &tree)
	var out []string
	for _, n := range tree.Nodes {
		var name, description text
		_ = json.Unmarshal(n.Name, &name) // of nodes without text it is not a string
		_ = json.Unmarshal(n.Description, &description)
		if !n.Ignored {
			out = append(out, strings.TrimSuffix(fmt.Sprintf("%s: %s; %s", n.Role.Value, name.Value, description.Value), "; "))
		}
	}
	return out
}
