package policyfile

import (
	"fmt"
	"strings"
	"testing"

	"scupper.dev/scupper/capability"
)

// inferencePolicy uses a preset with a key in its usual place.
func inferencePolicy(preset, url, header string) string {
	return fmt.Sprintf("version = 1\ncredential \"key\" {\n%s\nheader %q { value = \"${secret}\" }\n}\nuse %q {\n url = %q\n credential = credential.key\n}", fromEnv, header, preset, url)
}

// TestInferencePresets: what clients send passes and is not changed; what has the service
// fetch, keep or run something is refused, and so are the neighbours at the host.
func TestInferencePresets(t *testing.T) {
	type try struct{ what, body string }
	for _, c := range []struct {
		preset, url, header, path string
		fine, refused             []try
		neighbours                []string
	}{
		{"anthropic", "https://api.example.com", "x-api-key", "/v1/messages", []try{
			{"text", `{"model":"m-1","max_tokens":10,"messages":[{"role":"user","content":"hello"}],"stream":true}`},
			{"blocks", `{"model":"m-1","max_tokens":10,"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}]},{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"QUJD"},{"type":"tool_use","id":"t1","name":"f","input":{"a":[1,"b"]}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"x"}]}]}]}`},
			{"tools", `{"model":"m-1","max_tokens":10,"messages":[{"role":"user","content":"x"}],"tools":[{"name":"f","description":"d","input_schema":{"type":"object"}},{"type":"bash_20250124","name":"bash"}],"tool_choice":{"type":"auto"}}`},
			{"settings", `{"model":"m-1","max_tokens":10,"messages":[{"role":"user","content":"x"}],"service_tier":"auto","cache_control":{"type":"ephemeral"},"output_config":{"effort":"low","format":{"type":"json_schema","schema":{"type":"object"}}}}`},
		}, []try{
			{"MCP server", `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"x"}],"mcp_servers":[{"type":"url","url":"https://evil.example.net","name":"e"}]}`},
			{"container", `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"x"}],"container":"c"}`},
			{"URL as a source", `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://evil.example.net/secret"}}]}]}`},
			{"file as a source", `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"document","source":{"type":"file","file_id":"f"}}]}]}`},
			{"URL in a tool's result", `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"image","source":{"type":"url","url":"https://evil.example.net"}}]}]}]}`},
			{"web fetch", `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"x"}],"tools":[{"type":"web_fetch_20250910","name":"web_fetch"}]}`},
			{"web search", `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"x"}],"tools":[{"type":"web_search_20250305","name":"web_search"}]}`},
			{"code execution", `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"x"}],"tools":[{"type":"code_execution_20250522","name":"code_execution"}]}`},
			{"metadata", `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"x"}],"metadata":{"user_id":"secret"}}`},
			{"a batch", `[{"model":"m","max_tokens":1,"messages":[]}]`},
		}, []string{"/v1/files", "/v1/skills", "/v1/sessions", "/v1/vaults", "/v1/organizations/x/api_keys", "/v1/messages/batches", "/v1/oauth/token"}},

		{"openai", "https://api.example.com/v1", "x-api-key", "/v1/chat/completions", []try{
			{"text", `{"model":"m-1","messages":[{"role":"user","content":"hello"}],"stream":true,"stream_options":{"include_usage":true}}`},
			{"an image", `{"model":"m-1","messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:image/png;base64,QUJD"}}]}]}`},
			{"tools", `{"model":"m-1","messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"x"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}]}`},
		}, []try{
			{"URL as an image", `{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://evil.example.net/secret"}}]}]}`},
			{"a file", `{"model":"m","messages":[{"role":"user","content":[{"type":"file","file":{"file_id":"f"}}]}]}`},
			{"web search", `{"model":"m","messages":[{"role":"user","content":"x"}],"web_search_options":{}}`},
			{"stored", `{"model":"m","messages":[{"role":"user","content":"x"}],"store":true}`},
		}, []string{"/v1/files", "/v1/uploads", "/v1/batches", "/v1/vector_stores", "/v1/containers", "/v1/conversations", "/v1/realtime/client_secrets", "/v1/organization/admin_api_keys"}},

		{"openai", "https://api.example.com/v1", "x-api-key", "/v1/responses", []try{
			{"text", `{"model":"m-1","input":"hello","store":false}`},
			{"items", `{"model":"m-1","store":false,"input":[{"role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"data:image/png;base64,QUJD"}]},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"x"}],"tools":[{"type":"function","name":"f","parameters":{"type":"object"}}]}`},
		}, []try{
			{"stored by default", `{"model":"m","input":"x"}`},
			{"in the background", `{"model":"m","input":"x","store":false,"background":true}`},
			{"MCP server", `{"model":"m","input":"x","store":false,"tools":[{"type":"mcp","server_label":"e","server_url":"https://evil.example.net"}]}`},
			{"web search", `{"model":"m","input":"x","store":false,"tools":[{"type":"web_search"}]}`},
			{"code interpreter", `{"model":"m","input":"x","store":false,"tools":[{"type":"code_interpreter","container":{"type":"auto"}}]}`},
			{"URL as an image", `{"model":"m","store":false,"input":[{"role":"user","content":[{"type":"input_image","image_url":"https://evil.example.net/secret"}]}]}`},
			{"URL as a file", `{"model":"m","store":false,"input":[{"role":"user","content":[{"type":"input_file","file_url":"https://evil.example.net/secret"}]}]}`},
			{"an earlier response", `{"model":"m","input":"x","store":false,"previous_response_id":"r"}`},
		}, []string{"/v1/responses/r1"}},

		{"gemini", "https://api.example.com", "x-goog-api-key", "/v1beta/models/m-1:generateContent", []try{
			{"text", `{"contents":[{"role":"user","parts":[{"text":"hello"}]}],"generationConfig":{"temperature":0.5}}`},
			{"functions", `{"contents":[{"parts":[{"functionCall":{"name":"f","args":{"a":1}}},{"functionResponse":{"name":"f","response":{}}},{"inlineData":{"mimeType":"image/png","data":"QUJD"}}]}],"tools":[{"functionDeclarations":[{"name":"f","parameters":{"type":"OBJECT"}}]}]}`},
		}, []try{
			{"file URI", `{"contents":[{"parts":[{"fileData":{"fileUri":"https://evil.example.net/secret"}}]}]}`},
			{"file URI in the other spelling", `{"contents":[{"parts":[{"file_data":{"file_uri":"https://evil.example.net/secret"}}]}]}`},
			{"search", `{"contents":[{"parts":[{"text":"x"}]}],"tools":[{"googleSearch":{}}]}`},
			{"URL context", `{"contents":[{"parts":[{"text":"x"}]}],"tools":[{"functionDeclarations":[],"urlContext":{}}]}`},
			{"code execution", `{"contents":[{"parts":[{"text":"x"}]}],"tools":[{"codeExecution":{}}]}`},
			{"cached content", `{"contents":[{"parts":[{"text":"x"}]}],"cachedContent":"c"}`},
		}, []string{"/upload/v1beta/files", "/v1beta/files", "/v1beta/cachedContents", "/v1beta/auth_tokens", "/v1beta/models/m:predictLongRunning", "/v1beta/models/m:batchGenerateContent"}},
	} {
		t.Run(c.preset+" "+c.path, func(t *testing.T) {
			policy := load(t, inferencePolicy(c.preset, c.url, c.header), Options{}).Policy
			ask := func(path string, length int) capability.Decision {
				r := &capability.Request{Kind: capability.KindHTTP, Host: "api.example.com", Port: 443, Scheme: capability.HTTPS, Method: "POST"}
				r.Path, _ = capability.ParsePath(path)
				r.Body = capability.Body{Present: true, Type: "application/json", Length: int64(length)}
				return policy.Decide(r)
			}
			for _, f := range c.fine {
				d := ask(c.path, len(f.body))
				if !d.Allowed() {
					t.Fatalf("%s: %s", f.what, d.Reason)
				}
				if sent, err := d.Allow.Body.Inspector.Inspect([]byte(f.body)); err != nil || string(sent) != f.body {
					t.Errorf("%s: %v, sent as %s", f.what, err, sent)
				}
			}
			for _, r := range c.refused {
				if _, err := ask(c.path, len(r.body)).Allow.Body.Inspector.Inspect([]byte(r.body)); err == nil || strings.Contains(err.Error(), "evil") {
					t.Errorf("%s: %v", r.what, err)
				}
			}
			for _, path := range c.neighbours {
				if d := ask(path, 10); d.Allowed() {
					t.Errorf("%s is granted", path)
				}
			}
		})
	}
}

// TestInferenceWithoutKey: such a preset remarks on what is missing.
func TestInferenceWithoutKey(t *testing.T) {
	for _, preset := range []string{"anthropic", "openai", "gemini"} {
		_, diags := Parse("policy.hcl", []byte(fmt.Sprintf("version = 1\nuse %q {\n url = \"https://api.example.com\"\n}", preset)), Options{Now: testTime})
		matchDiagnostics(t, diags, only("warning: no credential ... credential."+preset))
	}
	_, diags := Parse("policy.hcl", []byte(grantWith(strings.Replace(allowWith("body {\n type = \"application/json\"\n max = \"1KiB\"\n schema = preset(\"no-such\")\n}"), "GET", "POST", 1))), Options{Now: testTime})
	matchDiagnostics(t, diags, only(`error: no schema "no-such" comes with the presets`))
}

// TestAnthropicBetas: those that change how the model answers pass, alone and in lists;
// those that open another function are refused, with or without harmless ones.
func TestAnthropicBetas(t *testing.T) {
	policy := load(t, inferencePolicy("anthropic", "https://api.example.com", "x-api-key"), Options{}).Policy
	for value, want := range map[string]capability.Reason{
		"interleaved-thinking-2025-05-14":                                 capability.Granted,
		"context-1m-2025-08-07,interleaved-thinking-2025-05-14":           capability.Granted,
		"prompt-caching-2024-07-31, token-counting-2024-11-01":            capability.Granted,
		"files-api-2025-04-14":                                            capability.HeaderNotGranted,
		"skills-2025-10-02":                                               capability.HeaderNotGranted,
		"mcp-client-2025-04-04":                                           capability.HeaderNotGranted,
		"mcp-client-2026-09-15":                                           capability.HeaderNotGranted,
		"web-fetch-2025-09-10":                                            capability.HeaderNotGranted,
		"code-execution-2025-05-22":                                       capability.HeaderNotGranted,
		"managed-agents-2026-04-01":                                       capability.HeaderNotGranted,
		"mcp-tunnels-2026-06-22":                                          capability.HeaderNotGranted,
		"interleaved-thinking-2025-05-14,files-api-2025-04-14":            capability.HeaderNotGranted,
		"interleaved-thinking-2025-05-14,the-workspace-in-base64":         capability.HeaderNotGranted,
		"interleaved-thinking-2025-05-14,interleaved-thinking-2025-05-14": capability.HeaderNotGranted,
	} {
		r := &capability.Request{Kind: capability.KindHTTP, Host: "api.example.com", Port: 443, Scheme: capability.HTTPS, Method: "POST"}
		r.Path, _ = capability.ParsePath("/v1/messages")
		r.Query, _ = capability.ParseQuery("beta=true")
		r.Header = map[string][]string{"Anthropic-Beta": {value}}
		r.Body = capability.Body{Present: true, Type: "application/json", Length: 10}
		d := policy.Decide(r)
		if d.Reason != want {
			t.Errorf("%s: %s", value, d.Reason)
		}
		if header, _ := d.Header(r); d.Allowed() && fmt.Sprint(header["Anthropic-Beta"]) != "["+value+"]" {
			t.Errorf("%s: sent as %v", value, header)
		}
	}
}
