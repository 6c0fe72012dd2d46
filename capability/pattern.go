package capability

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// MaxValue is the longest value that any pattern matches, in bytes.
const MaxValue = 1024

// Pattern is what a variable, a parameter or a header value must look like. It
// matches whole values only. The zero Pattern matches nothing.
type Pattern struct {
	text  string // as policies write it; equal texts are equal patterns
	match func(string) bool
	fixed []string // the values, where they are listed

	joined bool // over several segments it is for the whole, never for each alone
}

// Match reports whether s is such a value.
func (p Pattern) Match(s string) bool {
	return p.match != nil && len(s) <= MaxValue && p.match(s)
}

// String is the pattern as policies write it.
func (p Pattern) String() string { return p.text }

// Values lists the values that match, where the pattern lists them; else it is nil.
func (p Pattern) Values() []string { return slices.Clone(p.fixed) }

// Literal matches s and nothing else.
func Literal(s string) Pattern {
	return Pattern{text: strconv.Quote(s), match: func(v string) bool { return v == s }, fixed: []string{s}}
}

// OneOf matches each of the values.
func OneOf(values ...string) Pattern {
	set := make(map[string]struct{}, len(values))
	quoted := make([]string, len(values))
	for i, v := range values {
		set[v] = struct{}{}
		quoted[i] = strconv.Quote(v)
	}
	match := func(v string) bool { _, ok := set[v]; return ok }
	return Pattern{text: "one_of(" + strings.Join(quoted, ", ") + ")", match: match, fixed: slices.Clone(values)}
}

// SomeOf matches lists of the values with commas between them, each value once at most.
func SomeOf(values ...string) Pattern {
	p := OneOf(values...)
	one := p.match
	p.text, p.fixed = "some_of"+strings.TrimPrefix(p.text, "one_of"), nil
	p.match = func(list string) bool {
		var seen []string
		for v := range strings.SplitSeq(list, ",") {
			if len(seen) > 0 {
				v = strings.TrimPrefix(v, " ")
			}
			if !one(v) || slices.Contains(seen, v) {
				return false
			}
			seen = append(seen, v)
		}
		return true
	}
	return p
}

// Regexp matches what the RE2 expression matches as a whole.
func Regexp(expr string) (Pattern, error) {
	re, err := regexp.Compile(`\A(?:` + expr + `)\z`)
	if err != nil {
		return Pattern{}, fmt.Errorf("compile pattern: %w", err)
	}
	return Pattern{text: "regex(" + strconv.Quote(expr) + ")", match: re.MatchString}, nil
}

// Named returns the pattern of that name.
func Named(name string) (Pattern, bool) {
	match, ok := named[name]
	return Pattern{text: name, match: match, joined: name == "go_module"}, ok
}

// GoModule matches the paths of the modules with these names and of those below them,
// in the escaped form of the GOPROXY protocol: "example.com/lib" has
// "example.com/lib/v2" below it, not "example.com/library".
func GoModule(under ...string) Pattern {
	p := OneOf(under...)
	p.text, p.fixed = "go_module"+strings.TrimPrefix(p.text, "one_of"), nil
	p.joined = true
	p.match = func(s string) bool {
		return isGoModule(s) && slices.ContainsFunc(under, func(u string) bool {
			rest, ok := strings.CutPrefix(s, u)
			return ok && (rest == "" || rest[0] == '/')
		})
	}
	return p
}

// Names lists the named patterns.
func Names() []string {
	names := make([]string, 0, len(named))
	for n := range named {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// Slug is the pattern of a variable for which a policy gives none.
func Slug() Pattern {
	p, _ := Named("slug")
	return p
}

// named holds the patterns with a name. Each has a cap on its length, because every
// free character is a channel.
var named = map[string]func(string) bool{
	"slug":       isSlug,
	"int":        func(s string) bool { return len(s) <= 19 && isNumber(s) },
	"bool":       func(s string) bool { return s == "true" || s == "false" },
	"date":       isDate,
	"semver":     isSemver,
	"sha1":       func(s string) bool { return len(s) == 40 && allOf(s, isLowerHex) },
	"sha256":     func(s string) bool { return len(s) == 64 && allOf(s, isLowerHex) },
	"uuid":       isUUID,
	"npm_scope":  func(s string) bool { return len(s) <= 40 && isNPMPart(s) },
	"npm_base":   func(s string) bool { return len(s) <= 80 && isNPMPart(s) },
	"npm_name":   isNPMName,
	"go_module":  isGoModule,
	"go_version": isGoVersion,
}

func allOf(s string, class func(byte) bool) bool {
	for i := 0; i < len(s); i++ {
		if !class(s[i]) {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool    { return '0' <= c && c <= '9' }
func isLowerHex(c byte) bool { return isDigit(c) || 'a' <= c && c <= 'f' }
func isSlugByte(c byte) bool { return isAlnum(c) || c == '.' || c == '_' || c == '~' || c == '-' }

// isSlug: 1 to 100 unreserved characters (RFC 3986 section 2.3), not "." or "..".
func isSlug(s string) bool {
	return len(s) >= 1 && len(s) <= 100 && s != "." && s != ".." && allOf(s, isSlugByte)
}

// isNumber: decimal digits without superfluous zeros, so that a number has one spelling.
func isNumber(s string) bool {
	return s != "" && allOf(s, isDigit) && (len(s) == 1 || s[0] != '0')
}

func isDate(s string) bool {
	return len(s) == 10 && s[4] == '-' && s[7] == '-' &&
		allOf(s[:4], isDigit) && allOf(s[5:7], isDigit) && allOf(s[8:], isDigit)
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := 0; i < len(s); i++ {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash != (s[i] == '-') || !dash && !isLowerHex(s[i]) {
			return false
		}
	}
	return true
}

// isSemver: three numbers and an optional pre-release of up to 34 characters
// (semver.org section 9). Build metadata is not part of any registry's paths.
func isSemver(s string) bool {
	core, pre, hasPre := strings.Cut(s, "-")
	for i := range 3 {
		n, rest, more := strings.Cut(core, ".")
		if len(n) > 10 || !isNumber(n) || more != (i < 2) {
			return false
		}
		core = rest
	}
	return !hasPre || pre != "" && len(pre) <= 34 && allOf(pre, func(c byte) bool { return isAlnum(c) || c == '.' || c == '-' })
}

// isNPMPart: a package or scope name; old packages have capitals.
func isNPMPart(s string) bool {
	return s != "" && isAlnum(s[0]) && allOf(s, isSlugByte)
}

// isNPMName: "name" or "@scope/name".
func isNPMName(s string) bool {
	if rest, scoped := strings.CutPrefix(s, "@"); scoped {
		scope, name, ok := strings.Cut(rest, "/")
		return ok && len(scope) <= 40 && len(name) <= 80 && isNPMPart(scope) && isNPMPart(name)
	}
	return len(s) <= 80 && isNPMPart(s)
}

// isGoModule: a module path in the escaped form of the GOPROXY protocol: lower case,
// capitals as "!x" (golang.org/ref/mod#goproxy-protocol), the first element a host.
func isGoModule(s string) bool {
	if len(s) > 128 {
		return false
	}
	host, _, _ := strings.Cut(s, "/")
	if !strings.Contains(host, ".") {
		return false
	}
	for rest, more := s, true; more; {
		var part string
		part, rest, more = strings.Cut(rest, "/")
		if part == "" || part[0] == '.' || !allOf(part, isGoByte) {
			return false
		}
	}
	return true
}

func isGoByte(c byte) bool {
	return isDigit(c) || 'a' <= c && c <= 'z' || c == '.' || c == '_' || c == '~' || c == '-' || c == '!'
}

func isGoVersion(s string) bool {
	v, ok := strings.CutPrefix(s, "v")
	v = strings.TrimSuffix(v, "+incompatible")
	core, pre, hasPre := strings.Cut(v, "-")
	return ok && isSemver(core) && (!hasPre || pre != "" && len(pre) <= 48 && allOf(pre, func(c byte) bool { return isGoByte(c) && c != '_' && c != '~' }))
}
