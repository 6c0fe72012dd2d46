package policyfile

import (
	"strings"
	"testing"
	"time"

	"scupper.dev/scupper/capability"
)

var testTime = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// grantWith is a policy of one grant with the lines put in; a line replaces the one
// that begins with the same word.
func grantWith(lines ...string) string {
	body := []string{`reason = "r"`, `owner = "o"`, `host = "api.example.com"`, `credential = anonymous`, allowWith()}
	for _, l := range lines {
		word, _, _ := strings.Cut(l, " ")
		replaced := false
		for i := range body {
			if w, _, _ := strings.Cut(body[i], " "); w == word && word != "limits" {
				body[i], replaced = l, true
			}
		}
		if !replaced {
			body = append(body, l)
		}
	}
	return "version = 1\ngrant \"g\" {\n  " + strings.Join(body, "\n  ") + "\n}\n"
}

// allowWith is an allow block, in the same way.
func allowWith(lines ...string) string {
	body := []string{`methods = ["GET"]`, `path = "/x/{id}"`}
	for _, l := range lines {
		word, _, _ := strings.Cut(l, " ")
		replaced := false
		for i := range body {
			if w, _, _ := strings.Cut(body[i], " "); w == word {
				body[i], replaced = l, true
			}
		}
		if !replaced {
			body = append(body, l)
		}
	}
	return "allow {\n    " + strings.Join(body, "\n    ") + "\n  }"
}

func only(text string) []string { return []string{text} }

// TestMistakes: each row has the mistakes and remarks that it says, and no other, each
// with a position inside the file.
func TestMistakes(t *testing.T) {
	for _, c := range []struct {
		name, policy string
		want         []string // "severity: beginning of the summary ... part of the detail"
	}{
		{"nothing wrong", grantWith(), nil},
		{"everything", grantWith(`expires = "2027-03-31"`, `port = 8443`, `networks = ["10.0.0.0/8"]`, "limits {\n requests = 5\n upload = \"64KiB\"\n download = \"1GB\"\n rate = \"10/s\"\n misses = 3\n}"), nil},
		{"HOST-13 empty", "", only("error: the policy has no version ... version = 1")},
		{"HOST-13 no grants", "version = 1", nil},
		{"version of later", "version = 2", only("error: policy version 2 ... version = 1")},
		{"version as text", `version = "1"`, only("error: not a number in range")},

		{"USE-29 scheme in host", grantWith(`host = "https://api.example.com"`), only(`error: the host holds a scheme ... write host = "api.example.com"`)},
		{"USE-29 scheme, port, path in host", grantWith(`host = "http://api.example.com:8080/v1?x=1"`), only(`error: the host holds a scheme and a path and a port ... write host = "api.example.com", scheme = "http", port = 8080, path = "/v1" in an allow block`)},
		{"user in host", grantWith(`host = "me@api.example.com"`), only(`error: the host holds user information ... write host = "api.example.com"`)},
		{"v6 with port", grantWith(`host = "[2001:db8::1]:8443"`), only(`error: the host holds a port ... write host = "2001:db8::1", port = 8443`)},
		{"v6", grantWith(`host = "2001:db8::1"`), nil},
		{"v6 long", grantWith(`host = "2001:db8:0:0::1"`), only(`error: an address that is not in its canonical form ... write host = "2001:db8::1"`)},
		{"v6 mapped", grantWith(`host = "::ffff:203.0.113.7"`), only(`error: an address that is not in its canonical form ... write host = "203.0.113.7"`)},
		{"octal", grantWith(`host = "0313.0.113.7"`), only(`error: "0313.0.113.7" is not a host ... write it in full`)},
		{"hexadecimal", grantWith(`host = "0xcb007107"`), only(`error: "0xcb007107" is not a host ... write it in full`)},
		{"decimal", grantWith(`host = "3405803783"`), only(`error: "3405803783" is not a host ... write it in full`)},
		{"private address", grantWith(`host = "10.1.2.3"`), only(`warning: the address is not public ... networks = ["10.1.2.3/32"]`)},
		{"private address with network", grantWith(`host = "10.1.2.3"`, `networks = ["10.1.2.0/24"]`), nil},
		{"metadata address", grantWith(`host = "169.254.169.254"`), only("error: a cloud metadata address is never reachable")},
		{"upper case and root dot", grantWith(`host = "API.example.com."`), nil},
		{"underscore", grantWith(`host = "a_b.example.com"`), only(`error: "a_b.example.com" is not a host`)},
		{"empty host", grantWith(`host = ""`), only("error: a wildcard stands for one whole label")},
		{"IDNA", grantWith(`host = "bücher.example.com"`), only(`warning: the host is not ASCII ... it stands for "xn--bcher-kva.example.com"`)},
		{"IDNA wildcard", grantWith(`host = "*.bücher.example.com"`), only(`warning: the host is not ASCII ... xn--bcher-kva`)},
		{"not IDNA", grantWith(`host = "a‮b.example.com"`), only("error: the value holds the invisible character U+202E")},
		{"every host", grantWith(`host = "*"`), only(`error: a wildcard stands for one whole label ... host = "*.example.com"`)},
		{"wildcard", grantWith(`host = "*.example.com"`, "limits {\n names = 5\n}"), nil},
		{"wildcard in the middle", grantWith(`host = "a.*.example.com"`), only(`error: a wildcard stands for one whole label ... host = "*.example.com"`)},
		{"wildcard in a label", grantWith(`host = "a*.example.com"`), only("error: a wildcard stands for one whole label")},
		{"two wildcards", grantWith(`host = "*.*.example.com"`), only("error: a wildcard stands for one whole label")},
		{"wildcard over com", grantWith(`host = "*.com"`), only(`error: a wildcard over the public suffix "com"`)},
		{"wildcard over co.uk", grantWith(`host = "*.co.uk"`), only(`error: a wildcard over the public suffix "co.uk"`)},
		{"wildcard over a hosting service", grantWith(`host = "*.github.io"`), only(`error: a wildcard over the public suffix "github.io"`)},
		{"wildcard over an unknown top level", grantWith(`host = "*.test"`), only(`error: a wildcard over the public suffix "test"`)},
		{"wildcard over an address", grantWith(`host = "*.203.0.113.7"`), only("error: a wildcard over an address")},
		{"no host", strings.Replace(grantWith(), `host = "api.example.com"`, "", 1), only("error: the grant names no host")},

		{"port 0", grantWith(`port = 0`), only("error: not a number in range ... 1 to 65535")},
		{"port of text", grantWith(`port = "443"`), only("error: not a number in range")},
		{"port with a fraction", grantWith(`port = 443.5`), only("error: not a number in range")},
		{"port of DNS", grantWith(`port = 53`), only("error: port 53 is not granted")},
		{"unknown scheme", grantWith(`scheme = "ftp"`), only(`error: "ftp" is not a scheme`)},
		{"cleartext", grantWith(`scheme = "http"`), nil},

		{"no credential", strings.Replace(grantWith(), "credential = anonymous", "", 1), only("error: the grant states no credential ... credential = anonymous")},
		{"credential in quotes", grantWith(`credential = "anonymous"`), only("error: not a credential")},
		{"bound credential", grantWith(`credential = credential.github`), only("error: no credential is named \"github\"")},
		{"pinned credential", grantWith(`credential = pinned("sha256:00")`), only("error: not a hash")},
		{"issued credential", grantWith(`credential = issued`), only("error: no answer hands out a credential for api.example.com")},
		{"credential in cleartext", grantWith(`credential = credential.x`, `scheme = "http"`), []string{"error: no credential is named", "error: a credential on a cleartext scheme"}},
		{"git block", strings.Replace(grantWith(`git {`+"\n repositories = [\"a/b\"]\n }"), allowWith(), "", 1), only(`error: the git block names no operations ... write operations = ["fetch"]`)},

		{"no reason", grantWith(`reason = ""`), only("warning: the grant has no reason")},
		{"no owner", grantWith(`owner = ""`), only("warning: the grant has no owner")},
		{"expired", grantWith(`expires = "2026-11-29"`), only("warning: the grant has expired")},
		{"expires today", grantWith(`expires = "2026-11-30"`), nil},
		{"expires at a time", grantWith(`expires = "2026-11-30T13:00:00+02:00"`), only("warning: the grant has expired")},
		{"no date", grantWith(`expires = "next week"`), only(`error: "next week" is not a date ... 2027-03-31`)},
		{"no such date", grantWith(`expires = "2027-02-30"`), only(`error: "2027-02-30" is not a date`)},

		{"network of text", grantWith(`networks = ["intranet"]`), only(`error: "intranet" is not a network`)},
		{"network without length", grantWith(`networks = ["10.0.0.1"]`), only(`error: "10.0.0.1" is not a network`)},
		{"network with host bits", grantWith(`networks = ["10.0.0.1/8"]`), only(`error: "10.0.0.1/8" has bits set ... write "10.0.0.0/8" for the network, or "10.0.0.1/32"`)},
		{"network of metadata", grantWith(`networks = ["169.254.0.0/16"]`), only("warning: the network covers a cloud metadata service")},
		{"network in metadata", grantWith(`networks = ["169.254.1.0/24"]`), only("warning: the network covers a cloud metadata service")},
		{"network around metadata", grantWith(`networks = ["100.64.0.0/10"]`), only("warning: the network covers a cloud metadata service")},
		{"every network", grantWith(`networks = ["0.0.0.0/0"]`), only("warning: the network is every address")},
		{"no networks", grantWith(`networks = []`), only("error: not a list, or an empty one")},

		{"unknown argument", grantWith(`hots = "x"`), only("error: unsupported argument ... hots")},
		{"unknown argument, close", strings.Replace(grantWith(), "host =", "hots =", 1), []string{"error: the grant names no host", `error: unsupported argument ... Did you mean "host"?`}},
		{"unknown block", "version = 1\ngrnat \"x\" {\n}", only(`error: unsupported block type ... Did you mean "grant"?`)},
		{"block written as argument", grantWith("limits = {\n requests = 5\n}"), only(`error: unsupported argument ... block of type "limits"`)},
		{"argument written as block", grantWith("networks {\n}"), only(`error: unsupported block type ... argument "networks"`)},
		{"argument twice", grantWith("limits {\n requests = 5\n requests = 6\n}"), only("error: attribute redefined")},
		{"block twice", grantWith("limits {\n}\nlimits {\n}"), only("error: a second limits block")},

		{"no allow", strings.Replace(grantWith(), allowWith(), "", 1), only("error: the grant allows nothing")},
		{"no methods", grantWith(allowWith(`methods = []`)), only("error: not a list, or an empty one")},
		{"unknown method", grantWith(allowWith(`methods = ["GIT"]`)), only(`error: no method "GIT" ... did you mean GET?`)},
		{"lower-case method", grantWith(allowWith(`methods = ["get"]`)), only(`error: method "get" is not in upper case ... write "GET"`)},
		{"TRACE", grantWith(allowWith(`methods = ["TRACE"]`)), only("error: TRACE is never granted")},
		{"CONNECT", grantWith(allowWith(`methods = ["connect"]`)), only("error: CONNECT is never granted")},
		{"method twice", grantWith(allowWith(`methods = ["GET", "GET"]`)), only(`error: "GET" is given twice`)},
		{"method of a name", grantWith(allowWith(`methods = [GET]`)), only("error: not a string")},

		{"path without slash", grantWith(allowWith(`path = "x/{id}"`)), only(`error: the path does not begin with a slash ... path = "/x/{id}"`)},
		{"path with query", grantWith(allowWith(`path = "/x?y=1"`)), only(`error: the path holds a query ... path = "/x"`)},
		{"path with dots", grantWith(allowWith(`path = "/x/../y"`)), only("error: no request has such a path ... dot segments")},
		{"path with encoded dots", grantWith(allowWith(`path = "/x/%2e%2E/{id}"`)), only("error: no request has such a path ... dot segments")},
		{"path with empty segment", grantWith(allowWith(`path = "/x//y"`)), only("error: not a path template")},
		{"path not closed", grantWith(allowWith(`path = "/x/{id"`)), only("error: not a path template ... not closed")},
		{"path with blank", grantWith(allowWith(`path = "/x y"`)), only("error: the value holds the character ' '")},
		{"path is everything", grantWith(allowWith(`path = "/{all...}"`)), only("warning: the path is every path of the host")},
		{"where of nothing", grantWith(allowWith(`where = { idd = int }`)), only("error: the path has no variable {idd} ... did you mean id?")},
		{"where without variables", grantWith(allowWith(`path = "/x"`, `where = { id = int }`)), only(`error: the path has no variable {id} ... "/x" has no variables`)},
		{"where twice", grantWith(allowWith(`where = { id = int, id = slug }`)), only(`error: "id" is given twice`)},
		{"unknown pattern", grantWith(allowWith(`where = { id = integer }`)), only(`error: no pattern "integer" ... the patterns are`)},
		{"unknown pattern, close", grantWith(allowWith(`where = { id = semvar }`)), only(`error: no pattern "semvar" ... did you mean semver?`)},
		{"unknown function", grantWith(allowWith(`where = { id = file("/etc/passwd") }`)), only(`error: no function "file"`)},
		{"required in where", grantWith(allowWith(`where = { id = required(int) }`)), only("error: required(...) belongs into a query")},
		{"bad regex", grantWith(allowWith(`where = { id = regex("[a-") }`)), only("error: not a regular expression ... RE2")},
		{"look-ahead", grantWith(allowWith(`where = { id = regex("(?=a)") }`)), only("error: not a regular expression")},
		{"regex that leaves its brackets", grantWith(allowWith(`where = { id = regex("a)|(?:b") }`)), only("error: not a regular expression")},
		{"unbounded regex", grantWith(allowWith(`where = { id = regex("[a-z]+") }`)), only("warning: the expression has no upper bound")},
		{"bounded regex", grantWith(allowWith(`where = { id = regex("[a-z]{1,9}") }`)), nil},
		{"one_of nothing", grantWith(allowWith(`where = { id = one_of() }`)), only("error: one_of() names no value")},
		{"some_of", grantWith(allowWith(`headers = { "X-Beta" = some_of("a", "b") }`)), nil},
		{"some_of nothing", grantWith(allowWith(`headers = { "X-Beta" = some_of() }`)), only("error: some_of() names no value")},
		{"some_of a list", grantWith(allowWith(`headers = { "X-Beta" = some_of("a,b") }`)), only(`error: "a,b" is not a member of a list`)},
		{"one_of twice", grantWith(allowWith(`where = { id = one_of("a", "a") }`)), only(`error: "a" is given twice`)},

		{"any query", grantWith(allowWith(`query = any`)), only("warning: query = any is unbounded")},
		{"query as text", grantWith(allowWith(`query = "any"`)), only("error: not an object")},
		{"query of a number", grantWith(allowWith(`query = { page = 1 }`)), only("error: not a string")},
		{"required of nothing", grantWith(allowWith(`query = { page = required() }`)), only("error: required takes one pattern")},
		{"credential in query", grantWith(allowWith(`query = { access_token = slug }`)), only(`error: credentials ride in the parameter "access_token"`)},
		{"header", grantWith(allowWith(`headers = { "X-Class" = one_of("a", "b") }`)), nil},
		{"credential header", grantWith(allowWith(`headers = { authorization = "Bearer x" }`)), only(`error: the header "Authorization" is not granted`)},
		{"override header", grantWith(allowWith(`headers = { "X-HTTP-Method-Override" = slug }`)), only(`error: the header "X-Http-Method-Override" is not granted`)},
		{"connection header", grantWith(allowWith(`headers = { Connection = slug }`)), only(`error: the header "Connection" is not granted`)},
		{"header twice", grantWith(allowWith(`headers = { "x-a" = slug, "X-A" = int }`)), only(`error: "X-A" is given twice`)},
		{"AUD-10 header name", grantWith(allowWith(`headers = { "X-A: b" = slug }`)), only(`error: "X-A: b" is not a header name`)},

		{"write without body", grantWith(allowWith(`methods = ["POST"]`)), only("error: POST without a declared body ... body = none")},
		{"write with none", grantWith(allowWith(`methods = ["POST"]`, `body = none`)), nil},
		{"delete without body", grantWith(allowWith(`methods = ["DELETE"]`)), nil},
		{"body on GET", grantWith(allowWith("body {\n type = \"text/plain\"\n max = \"1KiB\"\n}")), []string{"error: a body on GET", "warning: the body is not inspected"}},
		{"body without type and max", grantWith(allowWith(`methods = ["PUT"]`, "body {\n}")), []string{"error: the body has no type", "error: the body has no maximum"}},
		{"body of a wild type", grantWith(allowWith(`methods = ["PUT"]`, "body {\n type = \"*/*\"\n max = \"1KiB\"\n}")), []string{`error: "*/*" is not a media type`, "warning: the body is not inspected"}},
		{"body of a size without unit", grantWith(allowWith(`methods = ["PUT"]`, "body {\n type = \"text/plain\"\n max = \"64\"\n}")), []string{`error: "64" is not a size ... 64KiB`}},
		{"body of more than 64 bits", grantWith(allowWith(`methods = ["PUT"]`, "body {\n type = \"text/plain\"\n max = \"99999999999999GiB\"\n}")), []string{`error: "99999999999999GiB" is not a size`}},
		{"body and none", grantWith(allowWith(`methods = ["PUT"]`, "body = none\n body {\n type = \"text/plain\"\n max = \"1KiB\"\n}")), []string{"error: a body and none", "warning: the body is not inspected"}},

		{"negative limit", grantWith("limits {\n requests = -1\n}"), only("error: not a number in range")},
		{"zero limit", grantWith("limits {\n misses = 0\n}"), only("error: not a number in range")},
		{"zero size", grantWith("limits {\n upload = \"0KiB\"\n}"), only(`error: "0KiB" is not a size`)},
		{"signed size", grantWith("limits {\n upload = \"+5KiB\"\n}"), only(`error: "+5KiB" is not a size`)},
		{"rate", grantWith("limits {\n rate = \"10/sec\"\n}"), only(`error: "10/sec" is not a rate ... 10/s`)},
		{"names without a wildcard", grantWith("limits {\n names = 5\n}"), only("error: names without a wildcard")},
		{"names without end", grantWith(`host = "*.example.com"`, "limits {\n names = 5000\n}"), only("error: not a number in range ... 1 to 4096")},

		{"dead rule", grantWith(allowWith() + "\n" + allowWith()), only("error: a dead rule ... policy.hcl:7:3")},
		{"dead by method", grantWith(allowWith(`methods = ["GET", "HEAD"]`) + "\n" + allowWith()), only("error: a dead rule")},
		{"dead under other names", grantWith(allowWith() + "\n" + allowWith(`path = "/x/{other}"`)), only("error: a dead rule")},
		{"dead literal", grantWith(allowWith() + "\n" + allowWith(`path = "/x/5"`)), only("error: a dead rule")},
		{"not dead by query", grantWith(allowWith() + "\n" + allowWith(`query = { page = int }`)), nil},
		{"not dead by pattern", grantWith(allowWith(`where = { id = int }`) + "\n" + allowWith()), nil},
		{"not dead by method", grantWith(allowWith() + "\n" + allowWith(`methods = ["HEAD"]`)), nil},

		{"template", grantWith(`host = "${name}"`), only("error: a policy has no templates")},
		{"template inside", grantWith(`host = "a${name}.example.com"`), only("error: a policy has no templates")},
		{"template escaped", grantWith(`reason = "costs $${5}"`), nil},
		{"function for a string", grantWith(`host = file("/etc/hostname")`), only("error: not a string")},
		{"variable for a string", grantWith(`host = env.HOST`), only("error: not a string")},
		{"null", grantWith(`host = null`), only("error: not a string")},
		{"arithmetic", grantWith(`port = 400 + 43`), only("error: not a number in range")},
		{"AUD-10 line break in a host", grantWith(`host = "a.example.com\nb"`), only("error: the value holds the invisible character U+000A")},
		{"AUD-10 quote in a host", grantWith(`host = "a\".example.com"`), only(`error: the value holds the character '"'`)},
		{"AUD-10 blank in a host", grantWith(`host = "a.example.com b"`), only("error: the value holds the character ' '")},
		{"AUD-10 escape in a reason", grantWith(`reason = "\u001b[2J"`), only("error: the value holds the invisible character U+001B")},
		{"AUD-10 NUL in a path", grantWith(allowWith(`path = "/x\u0000"`)), only("error: the value holds the invisible character U+0000")},
		{"AUD-10 heredoc", grantWith("host = <<E\na\nE\n"), only("error: the value holds the invisible character U+000A")},
		{"name", "version = 1\n" + strings.Replace(grantWith()[12:], `"g"`, `"G r"`, 1), only(`error: "G r" is not a name`)},
		{"no name", "version = 1\n" + strings.Replace(grantWith()[12:], `"g" `, ``, 1), only("error: missing name for grant")},
		{"name twice", grantWith() + grantWith()[12:], only(`error: two grants are named "g" ... policy.hcl:2,7`)},
		{"two schemes", grantWith() + strings.Replace(grantWith(`scheme = "http"`, `port = 443`)[12:], `"g"`, `"h"`, 1), only(`error: api.example.com:443 is spoken to as https and as http ... grant "g" at policy.hcl:5,10`)},
		{"role of nothing", grantWith() + "role \"r\" {\n grants = [\"g\", \"gg\"]\n}", only(`error: no grant is named "gg" ... did you mean g?`)},
		{"role twice", grantWith() + "role \"r\" {\n}\nrole \"r\" {\n}", only(`error: two roles are named "r"`)},

		{"unknown preset", "version = 1\nuse \"nmp\" {\n}", only(`error: no preset "nmp" ... did you mean npm?`)},
		{"preset without its argument", "version = 1\nuse \"npm\" {\n}", only(`error: preset "npm" needs registry ... write registry = "https://npm.example.com"`)},
		{"preset with another argument", "version = 1\nuse \"npm\" {\n registyr = \"https://npm.example.com\"\n}", []string{`error: preset "npm" needs registry`, `error: unsupported argument ... Did you mean "registry"?`}},
		{"preset twice", "version = 1\nuse \"npm\" {\n registry = \"https://npm.example.com\"\n}\nuse \"npm\" {\n registry = \"https://npm.example.com\"\n}", only(`error: two grants are named "npm" ... renamed with`)},
		{"preset twice, renamed", "version = 1\nuse \"npm\" {\n registry = \"https://npm.example.com\"\n}\nuse \"npm\" {\n as = \"other\"\n registry = \"https://other.example.com\"\n}", only("warning: another preset has set variables of this one already ... npm_config_registry")},
		{"preset on a bare host", "version = 1\nuse \"npm\" {\n registry = \"npm.example.com\"\n}", only("error: \"npm.example.com\" is not the URL of a registry ... it begins with https://")},
		{"preset with a password", "version = 1\nuse \"npm\" {\n registry = \"https://me:pw@npm.example.com\"\n}", only("error: the URL of the registry holds a credential")},
		{"preset with variables", "version = 1\nuse \"npm\" {\n registry = \"https://npm.example.com/{x...}\"\n}", only("error: \"https://npm.example.com/{x...}\" is not the URL")},
		{"preset with dots", "version = 1\nuse \"npm\" {\n registry = \"https://npm.example.com/a/../b\"\n}", only("error: \"https://npm.example.com/a/../b\" is not the URL")},
		{"preset with a wildcard", "version = 1\nuse \"npm\" {\n registry = \"https://*.example.com\"\n}", only("error: \"*.example.com\" is not a host")},
		{"preset on a private address", "version = 1\nuse \"npm\" {\n registry = \"http://10.0.0.9:4873\"\n}", only("warning: the address is not public")},
		{"preset that allows more", "version = 1\nuse \"npm\" {\n registry = \"https://npm.example.com\"\n allow {\n }\n}", only("error: unsupported block type")},

		{"resolver by name", "version = 1\nupstream {\n resolver = \"dns.example.com:53\"\n}", only(`error: "dns.example.com:53" is not an address and a port`)},
		{"resolver without a port", "version = 1\nupstream {\n resolver = \"203.0.113.53\"\n}", only(`error: "203.0.113.53" is not an address and a port`)},
		{"resolver", "version = 1\nupstream {\n resolver = \"[2001:db8::53]:53\"\n}", nil},
		{"proxy", "version = 1\nupstream {\n proxy = \"http://proxy.example.com:3128\"\n proxy_credential {\n user_env = \"U\"\n password_env = \"P\"\n }\n}", only("warning: the addresses that names lead to are not checked")},
		{"proxy without a port", "version = 1\nupstream {\n proxy = \"http://proxy.example.com\"\n}", only(`error: "http://proxy.example.com" is not the URL of a proxy`)},
		{"proxy with a path", "version = 1\nupstream {\n proxy = \"http://proxy.example.com:3128/x\"\n}", only(`error: "3128/x" is not a port`)},
		{"proxy over TLS", "version = 1\nupstream {\n proxy = \"https://proxy.example.com:3128\"\n}", only(`error: "https://proxy.example.com:3128" is not the URL of a proxy ... spoken to in clear`)},
		{"proxy with half a credential", "version = 1\nupstream {\n proxy = \"http://proxy.example.com:3128\"\n proxy_credential {\n user = \"u\"\n }\n}", []string{"warning: the addresses", "error: a proxy_credential has either password_env or password_file"}},
		{"proxy with two users", "version = 1\nupstream {\n proxy = \"http://proxy.example.com:3128\"\n proxy_credential {\n user = \"u\"\n user_env = \"U\"\n password_file = \"p\"\n }\n}", []string{"warning: the addresses", "error: a proxy_credential has either user or user_env"}},
		{"proxy with a password in the text", "version = 1\nupstream {\n proxy = \"http://proxy.example.com:3128\"\n proxy_credential {\n user = \"u\"\n password = \"p\"\n }\n}", []string{"warning: the addresses", "error: a proxy_credential has either password_env", "error: unsupported argument"}},
		{"credential without a proxy", "version = 1\nupstream {\n proxy_credential {\n }\n}", only("error: a proxy_credential without a proxy")},
		{"best effort", "version = 1\nbest_effort = true", only("warning: best_effort runs without the controls")},
		{"best effort with a mistake", "version = 2\nbest_effort = true\nenvironment = { A = \"1\" }", []string{"error: policy version 2", "warning: best_effort"}},
		{"variable", "version = 1\nenvironment = { \"A B\" = \"1\" }", only(`error: "A B" is not the name of a variable`)},
		{"not HCL", "version = 1\n<<<", only("error: ")},
	} {
		t.Run(c.name, func(t *testing.T) {
			file, diags := Parse("policy.hcl", []byte(c.policy), Options{Now: testTime})
			matchDiagnostics(t, diags, c.want)
			if diags.HasErrors() && (len(file.Policy.Grants()) > 0 || file.BestEffort || len(file.Environment) > 0 || len(file.Upstream.ExtraCA) > 0) {
				t.Error("a policy with a mistake grants something")
			}
			if t.Failed() {
				t.Log(c.policy)
			}
		})
	}
}

func matchDiagnostics(t *testing.T, got Diagnostics, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %d diagnostics, want %d:\n%v", len(got), len(want), got)
	}
	for _, w := range want {
		begin, part, _ := strings.Cut(w, " ... ")
		found := false
		for _, d := range got {
			found = found || strings.HasPrefix(string(d.Severity)+": "+d.Summary, begin) && strings.Contains(d.Detail, part)
		}
		if !found {
			t.Errorf("got\n%v\nwant %q", got, w)
		}
	}
	for _, d := range got {
		if d.Start.File != "policy.hcl" || d.Start.Line < 1 || d.Start.Column < 1 || d.End.Line < d.Start.Line {
			t.Errorf("%v has no position: %v to %v", d, d.Start, d.End)
		}
	}
}

// TestLoadedPolicyDecides: what the file says is what the compiled policy does.
func TestLoadedPolicyDecides(t *testing.T) {
	p := load(t, grantWith(allowWith(`query = { state = one_of("open", "closed"), v = "1", page = required(int) }`)), Options{}).Policy
	for query, want := range map[string]string{
		"v=1&page=2":              "/x/5?v=1&page=2",
		"page=2&state=open&v=1":   "/x/5?state=open&v=1&page=2",
		"v=1":                     string(capability.QueryNotGranted),
		"page=2":                  string(capability.QueryNotGranted),
		"v=2&page=2":              string(capability.QueryNotGranted),
		"v=1&page=2&other=1":      string(capability.QueryNotGranted),
		"v=1&page=2&page=2":       string(capability.QueryNotGranted),
		"v=1&page=2&state=secret": string(capability.QueryNotGranted),
	} {
		if got := decide(t, p, "GET https://api.example.com/x/5?"+query); got != want {
			t.Errorf("%s: got %q, want %q", query, got, want)
		}
	}
}

// TestNoSecretIsShown: a password that stands where none belongs is not printed.
func TestNoSecretIsShown(t *testing.T) {
	for _, policy := range []string{
		grantWith(`host = "https://me:hunter2@api.example.com"`),
		"version = 1\nuse \"npm\" {\n registry = \"https://me:hunter2@npm.example.com\"\n}",
		"version = 1\nuse \"npm\" {\n registry = \"me:hunter2@npm.example.com\"\n}",
	} {
		_, diags := Parse("policy.hcl", []byte(policy), Options{})
		var b strings.Builder
		if err := diags.Write(&b, false, 0); err != nil {
			t.Fatal(err)
		}
		if !diags.HasErrors() || strings.Contains(b.String()+diags.Error(), "hunter2") {
			t.Errorf("got %s", b.String())
		}
	}
}
