package policyfile

import (
	"strings"
	"testing"
)

func TestWebSocket(t *testing.T) {
	policy := func(allow string) string {
		return "version = 1\ngrant \"live\" {\n reason = \"test\"\n owner = \"test\"\n host = \"api.example.com\"\n credential = anonymous\n allow {\n path = \"/live\"\n" + allow + "\n }\n}\n"
	}
	file := load(t, policy("methods = [\"GET\"]\nwebsocket = true"), Options{})
	if !file.Policy.Grants()[0].Allows[0].WebSocket {
		t.Error("it is not granted")
	}
	if load(t, policy("methods = [\"GET\"]"), Options{}).Policy.Grants()[0].Allows[0].WebSocket {
		t.Error("it is granted by default")
	}
	load(t, policy("methods = [\"GET\"]\n}\nallow {\npath = \"/live\"\nmethods = [\"GET\"]\nwebsocket = true"), Options{})
	for allow, want := range map[string]string{
		"methods = [\"GET\", \"HEAD\"]\nwebsocket = true":                                          "begins as a GET",
		"methods = [\"GET\"]\nwebsocket = \"yes\"":                                                 "true or false",
		"methods = [\"GET\"]\nwebsocket = true\n}\nallow {\npath = \"/live\"\nmethods = [\"GET\"]": "dead rule",
	} {
		if _, diags := Parse("policy.hcl", []byte(policy(allow)), Options{}); !strings.Contains(diags.Error(), want) {
			t.Errorf("%s: got %q, want %q", allow, diags.Error(), want)
		}
	}
}
