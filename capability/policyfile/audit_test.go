package policyfile

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestAudit(t *testing.T) {
	policy := `version = 1
audit {
  durability       = "fsync"
  write_time       = "1s"
  unavailable_time = "10s"
  every            = "2m"
  anchor {
    file = "/mnt/elsewhere/heads"
  }
  anchor {
    http     = "https://heads.example.com/scupper"
    required = true
  }
  anchor {
    http = "http://127.0.0.1:8080/"
  }
  anchor {
    syslog = "local"
  }
}
`
	want := Audit{
		Durability: "fsync", WriteTime: time.Second, Unavailable: 10 * time.Second, Every: 2 * time.Minute,
		Anchors: []Anchor{
			{File: "/mnt/elsewhere/heads"}, {HTTP: "https://heads.example.com/scupper", Required: true}, {HTTP: "http://127.0.0.1:8080/"}, {Syslog: "local"},
		},
	}
	if diff := cmp.Diff(load(t, policy, Options{}).Audit, want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

func TestAuditMistakes(t *testing.T) {
	for body, want := range map[string]string{
		`durability = "maybe"`: "neither commit nor fsync",
		`write_time = "fast"`:  "is not a time",
		"anchor {\n}":          "has one place",
		"anchor {\nfile = \"a\"\nsyslog = \"local\"\n}":                  "has one place",
		"anchor {\nhttp = \"http://heads.example.com/\"\n}":              "no place for heads",
		"anchor {\nhttp = \"https://user:secret@heads.example.com/\"\n}": "no place for heads",
		"anchor {\nsyslog = \"heads.example.com\"\n}":                    "no place for heads",
		"anchor {\nfile = \"\"\n}":                                       "no place for heads",
		"}\naudit {":                                                     "a second audit block",
	} {
		_, diags := Parse("policy.hcl", []byte("version = 1\naudit {\n"+body+"\n}\n"), Options{})
		if !diags.HasErrors() || !strings.Contains(diags[0].Summary, want) {
			t.Errorf("%s: got %v, want %q", body, diags, want)
		}
	}
}
