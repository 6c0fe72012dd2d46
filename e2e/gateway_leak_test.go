package e2e

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"scupper.dev/scupper/gateway"
)

// leakRounds is how often each form asks each kind of tool that is not there.
const leakRounds = 2000

// hiddenTools are three tools that a caller cannot have, of equal length: one is denied to
// it, one is disabled, one does not exist.
var hiddenTools = [3]string{"tool_of_other", "tool_disabled", "tool_not_made"}

// leakForm is one way to ask for a tool: it returns all bytes of the answer.
type leakForm struct {
	name string
	ask  func(tool string) ([]byte, error)
}

// TestDenialTellsNothing asks for tools that are denied, disabled and unknown, by turns,
// in every form. The answers are the same bytes apart from the name, and take the same
// time: the Kolmogorov-Smirnov distance of any two is under 0.1.
func TestDenialTellsNothing(t *testing.T) {
	schema := `{"type":"object","additionalProperties":false,"required":["text"],"properties":{"text":{"type":"string"}}}`
	say := func(context.Context, *gateway.Call) gateway.Result { return gateway.Text("this must not be seen") }
	tools := []gateway.Registered{
		fixture("mine", schema, gateway.Read, say), fixture(hiddenTools[0], schema, gateway.IrreversibleWrite, say), fixture(hiddenTools[1], schema, gateway.Read, say),
	}
	tools[1].Calls, tools[1].Approval = 1, true
	g := serveFixtures(t, "dev", []string{"mine", hiddenTools[1]}, tools, hiddenTools[1])
	for _, f := range append(g.httpForms(), g.stdioForms(t)...) {
		t.Run(f.name, func(t *testing.T) { f.compare(t) })
	}
}

func (f leakForm) compare(t *testing.T) {
	for again := range 2 {
		worst, ok := f.distance(t)
		if worst < 0.1 || !ok {
			return
		}
		t.Logf("distance %.3f", worst)
		if again == 1 {
			t.Errorf("the times tell which tool exists: distance %.3f", worst)
		}
	}
}

// distance asks, compares the bytes and returns the greatest distance of the times.
func (f leakForm) distance(t *testing.T) (worst float64, ok bool) {
	var times [3][]float64
	var first []byte
	for round := range leakRounds {
		for i := range hiddenTools {
			k := (round + i) % len(hiddenTools) // each comes after each other equally often
			began := time.Now()
			answer, err := f.ask(hiddenTools[k])
			times[k] = append(times[k], float64(time.Since(began)))
			if err != nil {
				t.Fatal(err)
			}
			answer = bytes.ReplaceAll(answer, []byte(hiddenTools[k]), []byte("NAME"))
			if first == nil {
				first = answer
			}
			if !bytes.Equal(first, answer) {
				t.Errorf("%s: got\n%s\nwant\n%s", hiddenTools[k], answer, first)
				return 0, false
			}
		}
	}
	for i := range times {
		for j := range i {
			worst = max(worst, ksDistance(times[i], times[j]))
		}
	}
	return worst, true
}

// ksDistance is the greatest difference of two empirical distribution functions.
func ksDistance(a, b []float64) (d float64) {
	slices.Sort(a)
	slices.Sort(b)
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		x := min(a[i], b[j])
		for i < len(a) && a[i] == x {
			i++
		}
		for j < len(b) && b[j] == x {
			j++
		}
		d = max(d, math.Abs(float64(i)/float64(len(a))-float64(j)/float64(len(b))))
	}
	return d
}

func TestKolmogorovSmirnovDistanceCanFail(t *testing.T) {
	var a, b, c []float64
	for i := range 2000 {
		a, b, c = append(a, float64(i%1000)), append(b, float64(i%1000)), append(c, float64(i%1000+150))
	}
	if same, other := ksDistance(a, b), ksDistance(a, c); same > 0.001 || other < 0.1 {
		t.Errorf("equal: %v, shifted: %v", same, other)
	}
}

const (
	modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"}}`
	cursorCall = `{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"cursor":"%s"}}`
)

func callMessage(tool, arguments, meta string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"%s","arguments":%s%s}}`, tool, arguments, meta)
}

func (g *fixtureGateway) httpForms() []leakForm {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1}, Timeout: time.Minute}
	post := func(path func(tool string) string, body func(tool string) string, header func(tool string) map[string]string) func(string) ([]byte, error) {
		return func(tool string) ([]byte, error) {
			r, err := http.NewRequest(http.MethodPost, g.url+path(tool), strings.NewReader(body(tool)))
			if err != nil {
				return nil, err
			}
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			for name, value := range header(tool) {
				r.Header.Set(name, value)
			}
			return whole(client.Do(r))
		}
	}
	legacy := func(string) map[string]string { return map[string]string{"Mcp-Protocol-Version": "2025-11-25"} }
	modern := func(name func(string) string) func(string) map[string]string {
		return func(tool string) map[string]string {
			return map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": name(tool)}
		}
	}
	mcp := func(string) string { return "/mcp" }
	plain := func(tool string) string { return "/v1/tools/" + tool }
	none := func(string) map[string]string { return nil }
	same := func(tool string) string { return tool }
	with := func(arguments, meta string) func(string) string {
		return func(tool string) string { return callMessage(tool, arguments, meta) }
	}
	text := func(arguments string) func(string) string { return func(string) string { return arguments } }
	return []leakForm{
		{"HTTP 2025-11-25 valid", post(mcp, with(`{"text":"a"}`, ""), legacy)},
		{"HTTP 2025-11-25 invalid", post(mcp, with(`{"text":1,"x":2}`, ""), legacy)},
		{"HTTP 2025-11-25 empty", post(mcp, with(`{}`, ""), legacy)},
		{"HTTP 2025-11-25 pagination", post(mcp, func(tool string) string { return fmt.Sprintf(cursorCall, tool) }, legacy)},
		{"HTTP 2026-07-28 valid", post(mcp, with(`{"text":"a"}`, ","+modernMeta), modern(same))},
		{"HTTP 2026-07-28 invalid", post(mcp, with(`{"text":1}`, ","+modernMeta), modern(same))},
		{"HTTP 2026-07-28 wrong header", post(mcp, with(`{"text":"a"}`, ","+modernMeta), modern(func(string) string { return "mine" }))},
		{"HTTP 2026-07-28 wrong parameter header", post(mcp, with(`{"text":"a"}`, ","+modernMeta), func(tool string) map[string]string {
			h := modern(same)(tool)
			h["Mcp-Param-Text"] = "b"
			return h
		})},
		{"plain valid", post(plain, text(`{"text":"a"}`), none)},
		{"plain invalid", post(plain, text(`{"text":1}`), none)},
		{"plain not JSON", post(plain, text(`{"text":`), none)},
		{"plain with a call key", post(plain, text(`{"text":"a"}`), func(string) map[string]string { return map[string]string{"Idempotency-Key": "k"} })},
	}
}

// whole is all of an answer but the time in it.
func whole(resp *http.Response, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	resp.Header.Del("Date")
	var b bytes.Buffer
	fmt.Fprintln(&b, resp.Status)
	if err := resp.Header.Write(&b); err != nil {
		return nil, err
	}
	_, err = io.Copy(&b, resp.Body)
	return b.Bytes(), err
}

// stdioForms talk over one conversation each.
func (g *fixtureGateway) stdioForms(t *testing.T) []leakForm {
	near, far := net.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- g.face.ServeStdio(ctx, gateway.Principal{Role: "dev", Face: "stdio"}, far, far) }()
	t.Cleanup(func() {
		_ = near.Close()
		_ = far.Close()
		stop()
		<-ended
	})
	r := bufio.NewReader(near)
	say := func(message string) ([]byte, error) {
		if _, err := io.WriteString(near, message+"\n"); err != nil {
			return nil, err
		}
		return r.ReadBytes('\n')
	}
	if _, err := say(initialize); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(near, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	form := func(arguments string) func(string) ([]byte, error) {
		return func(tool string) ([]byte, error) { return say(callMessage(tool, arguments, "")) }
	}
	return []leakForm{
		{"stdio valid", form(`{"text":"a"}`)},
		{"stdio invalid", form(`{"text":1,"x":2}`)},
		{"stdio empty", form(`{}`)},
		{"stdio pagination", func(tool string) ([]byte, error) { return say(fmt.Sprintf(cursorCall, tool)) }},
	}
}
