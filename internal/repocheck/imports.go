package repocheck

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

const module = "scupper.dev/scupper"

// mayImport says for each folder which of our packages it may import. A folder
// that is not here may not exist. The enforcers (proxy, dnsfilter, gateway) know
// only the decision: neither each other, nor the log, nor the policy language.
func mayImport() map[string][]string {
	return map[string][]string{
		"capability":            {},
		"capability/difference": {"capability", "capability/policyfile", "payload"},
		"capability/policyfile": {"capability", "capability/presets", "gitproto", "payload"},
		"capability/presets":    {},
		"gitproto":              {},
		"payload":               {"capability"},
		"audit":                 {"capability"},
		"audit/ocsf":            {"audit", "capability"},
		"audit/report":          {"audit", "capability"},
		"clientconfig":          {},
		"credential":            {"capability"},
		"credential/redact":     {"credential"},
		"probe":                 {},
		"proxy":                 {"capability"},
		"dnsfilter":             {"capability"},
		"gateway":               {"capability", "payload"},                                  // payload reads arguments strictly and checks them
		"gateway/files":         {"gateway", "payload"},                                     // payload in tests
		"gateway/shell":         {"audit", "gateway", "gateway/trim", "payload", "sandbox"}, // audit and payload in tests
		"gateway/trim":          {"gateway", "payload"},
		"netns":                 {},
		"sandbox":               {"audit", "capability", "credential", "credential/redact", "dnsfilter", "gateway", "netns", "proxy"},
		"replay":                {"audit", "capability", "capability/policyfile"},
		"replay/aeb":            {"capability"},
		"replay/attempt":        {},
		"replay/canary":         {},
		"replay/retrial":        {"audit", "capability", "capability/difference", "capability/policyfile"},
		"replay/scenario":       {"capability", "replay/attempt", "replay/canary"},
		"replay/service":        {"replay", "replay/scenario"},
		"replay/trial":          {"audit", "capability", "replay", "replay/attempt", "replay/canary", "replay/scenario"},
		"cmd/scupper":           {"audit", "audit/ocsf", "audit/report", "capability", "capability/difference", "capability/policyfile", "capability/presets", "clientconfig", "credential", "credential/redact", "gateway", "gateway/files", "gateway/shell", "gateway/trim", "probe", "replay", "replay/aeb", "replay/attempt", "replay/canary", "replay/retrial", "replay/scenario", "replay/service", "replay/trial", "sandbox"},
		"cmd/scupper-verify":    {}, // shares no code with the writer of logs
		"e2e":                   {"audit", "capability", "gateway", "gateway/trim", "probe", "replay", "replay/scenario", "replay/service"},
		"e2e/differential":      {"audit", "capability", "capability/policyfile", "proxy", "replay"},
		"bench":                 {"audit", "capability", "capability/policyfile", "replay"},
		"internal/repocheck":    {},
		"internal/testkit":      {"capability"},
	}
}

// testsMayImport is what test files may import besides.
func testsMayImport() []string {
	return []string{"capability", "capability/policyfile", "credential", "credential/redact", "internal/testkit", "replay"}
}

// owners says who may import which module or package of others; the longest
// prefix counts. What is not here may not be imported.
func owners() map[string][]string {
	anyone := []string{"*"}
	return map[string][]string{
		"github.com/hashicorp/hcl/v2":            {"capability/policyfile", "replay/scenario"},
		"github.com/zclconf/go-cty":              {"capability/policyfile", "replay/scenario"},
		"github.com/agext/levenshtein":           {"capability/policyfile", "gateway/files"}, // names the nearest word, the nearest file
		"github.com/bmatcuk/doublestar/v4":       {"gateway/files"},
		"github.com/modelcontextprotocol/go-sdk": {"gateway"},             // gateway/face alone
		"github.com/miekg/dns":                   {"dnsfilter", "replay"}, // replay answers as the world's DNS servers
		"github.com/vishvananda":                 {"netns"},
		"github.com/google/nftables":             {"netns"},
		"github.com/mdlayher/netlink":            {"netns", "replay"}, // replay prepares a namespace of its own, for the far side
		"mvdan.cc/sh/v3":                         {"gateway/shell"},   // finds the words of commands, for advice
		"github.com/alecthomas/kong":             {"cmd/scupper"},
		"golang.org/x/term":                      {"cmd/scupper", "sandbox"},
		"github.com/andybalholm/brotli":          {"credential/redact", "replay/canary"},
		"github.com/klauspost/compress":          {"credential/redact", "replay/canary"},
		"golang.org/x/net/idna":                  {"capability/policyfile"},
		"golang.org/x/net/publicsuffix":          {"capability/policyfile"},
		"golang.org/x/net/http2":                 {"proxy"},
		"golang.org/x/net/http/httpguts":         {"proxy"},
		"golang.org/x/net/netutil":               {"gateway", "proxy"},
		"golang.org/x/net/websocket":             {"e2e"}, // another's WebSocket, at both ends
		"golang.org/x/net/ipv4":                  {"dnsfilter", "netns"},
		"golang.org/x/net/ipv6":                  {"dnsfilter", "netns"},
		"golang.org/x/net/bpf":                   {"replay", "sandbox"},
		"golang.org/x/mod/sumdb":                 {"audit", "cmd/scupper-verify", "e2e"}, // e2e serves modules with a checksum database
		"golang.org/x/mod/zip":                   {"e2e"},
		"golang.org/x/text/unicode/norm":         {"gateway/files"}, // names that are one on some file system
		"golang.org/x/sync":                      anyone,
		"golang.org/x/sys":                       anyone,
		"gvisor.dev/gvisor/pkg":                  {"sandbox"}, // the seccomp rule builder
		"github.com/google/go-cmp":               {},          // tests only
		"github.com/rogpeppe/go-internal":        {},          // tests only
	}
}

// Imports reports every import that the tables do not permit. Test files may
// import any library of the table, and the packages that tests are made with.
// Package capability imports the standard library only, and that holds for
// everything named "anyone" too.
func Imports(t Tree) []Problem {
	files, problems := t.sources()
	for _, s := range files {
		for _, spec := range s.file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil || s.permits(imported) {
				continue
			}
			problems = append(problems, problem("%s: %s may not import %s", s.set.Position(spec.Pos()), s.folder(), imported))
		}
	}
	return problems
}

func (s source) permits(imported string) bool {
	if own, ok := strings.CutPrefix(imported, module+"/"); ok {
		return s.permitsOwn(own)
	}
	first, _, _ := strings.Cut(imported, "/")
	if !strings.Contains(first, ".") {
		return true // the standard library
	}
	allowed, known := owner(imported)
	if s.test() {
		return known
	}
	if s.folder() == "capability" {
		return false
	}
	return slices.Contains(allowed, "*") || slices.Contains(allowed, area(s.folder()))
}

func (s source) permitsOwn(own string) bool {
	here := area(s.folder())
	allowed, known := mayImport()[here]
	if !known {
		return false
	}
	if s.test() && slices.Contains(testsMayImport(), own) {
		return true
	}
	return area(own) == here || slices.Contains(allowed, area(own))
}

// area is the longest folder of the table that holds folder, so that gateway/sql
// counts as gateway.
func area(folder string) string {
	table := mayImport()
	for f := folder; f != "."; f = path.Dir(f) {
		if _, ok := table[f]; ok {
			return f
		}
	}
	return folder
}

func owner(imported string) ([]string, bool) {
	table := owners()
	for p := imported; p != "."; p = path.Dir(p) {
		if folders, ok := table[p]; ok {
			return folders, true
		}
	}
	return nil, false
}
