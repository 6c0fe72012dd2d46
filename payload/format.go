package payload

import (
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// formats are asserted, each by one strict reading. Those of which checking has no
// small bound are not among them. They are made when a schema is compiled, so that a
// program without schemas pays nothing for them.
func formats() map[string]func(string) bool {
	return map[string]func(string) bool{
		"date":          isDate,
		"date-time":     isDateTime,
		"time":          isTime,
		"duration":      isDuration,
		"email":         isEmail,
		"hostname":      isHostname,
		"ipv4":          func(s string) bool { a, err := netip.ParseAddr(s); return err == nil && a.Is4() },
		"ipv6":          func(s string) bool { a, err := netip.ParseAddr(s); return err == nil && a.Is6() && a.Zone() == "" },
		"uri":           func(s string) bool { return isReference(s, true) },
		"uri-reference": func(s string) bool { return isReference(s, false) },
		"uuid":          isUUID,
		"json-pointer":  isPointer,
	}
}

// isDuration: RFC 3339 appendix A. Units are in their order, without a gap.
func isDuration(s string) bool {
	rest, found := strings.CutPrefix(s, "P")
	date, clock, timed := strings.Cut(rest, "T")
	switch {
	case !found || len(s) > 40:
		return false
	case units(date, "W"):
		return !timed
	case timed:
		return (date == "" || units(date, "YMD")) && units(clock, "HMS")
	}
	return units(date, "YMD")
}

// units reads numbers, each with the unit that follows on the one before it.
func units(s, order string) bool {
	next := -1
	for s != "" {
		rest := strings.TrimLeft(s, digits)
		if rest == "" || rest == s {
			return false
		}
		unit := strings.IndexByte(order, rest[0])
		if unit < 0 || next >= 0 && unit != next {
			return false
		}
		next, s = unit+1, rest[1:]
	}
	return next > 0
}

// isDate: full-date of RFC 3339 section 5.6.
func isDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil && len(s) == len(time.DateOnly)
}

func isDateTime(s string) bool {
	date, clock, found := strings.Cut(strings.ToUpper(s), "T")
	return found && isDate(date) && isTime(clock)
}

// isTime: full-time of RFC 3339 section 5.6. Leap seconds are at the end of a day in
// UTC; such days are not looked up. A second has at most nine
// digits behind its point: more would be room for something else.
func isTime(s string) bool {
	if len(s) < len("00:00:00Z") || !isClock(s[:8], 60) {
		return false
	}
	rest := strings.ToUpper(s[8:])
	if fraction, found := strings.CutPrefix(rest, "."); found {
		rest = strings.TrimLeft(fraction, digits)
		if n := len(fraction) - len(rest); n == 0 || n > 9 {
			return false
		}
	}
	offset := 0
	if rest != "Z" {
		if len(rest) != len("+00:00") || rest[0] != '+' && rest[0] != '-' || !isClock(rest[1:]+":00", 59) {
			return false
		}
		if offset = minutes(rest[1:]); rest[0] == '-' {
			offset = -offset
		}
	}
	const day = 24 * 60
	return s[6:8] != "60" || (minutes(s)-offset+day)%day == day-1
}

// isClock: hh:mm:ss.
func isClock(s string, seconds int) bool {
	for i := range len(s) {
		if colon := i == 2 || i == 5; colon != (s[i] == ':') || !colon && (s[i] < '0' || s[i] > '9') {
			return false
		}
	}
	return number(s) <= 23 && number(s[3:]) <= 59 && number(s[6:]) <= seconds
}

func minutes(clock string) int { return number(clock)*60 + number(clock[3:]) }
func number(digits string) int { return int(digits[0]-'0')*10 + int(digits[1]-'0') }

// isEmail: a dot-atom at a host name (RFC 5321 section 4.1.2); no quoted local part,
// no address literal.
func isEmail(s string) bool {
	local, host, found := strings.Cut(s, "@")
	if !found || len(local) > 64 || !isHostname(host) {
		return false
	}
	for atom := range strings.SplitSeq(local, ".") {
		if atom == "" || !consists(atom, alphanumeric+"!#$%&'*+-/=?^_`{|}~") {
			return false
		}
	}
	return true
}

const (
	digits       = "0123456789"
	letters      = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	alphanumeric = letters + digits
)

// consists reports whether s has no character but those.
func consists(s, of string) bool { return strings.Trim(s, of) == "" }

// isHostname: RFC 1123 section 2.1.
func isHostname(s string) bool {
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' || !consists(label, alphanumeric+"-") {
			return false
		}
	}
	return len(s) <= 253
}

// isReference: URI, or URI-reference, of RFC 3986 section 4.1, which is ASCII.
func isReference(s string, absolute bool) bool {
	if !consists(s, alphanumeric+"-._~:/?#[]@!$&'()*+,;=%") || strings.Count(s, "#") > 1 {
		return false
	}
	u, err := url.Parse(s)
	if err != nil || absolute && !u.IsAbs() {
		return false
	}
	brackets := 0
	if strings.HasPrefix(u.Host, "[") {
		brackets = 1 // of an address; nowhere else
	}
	return strings.Count(s, "[") == brackets && strings.Count(s, "]") == brackets
}

// isUUID: RFC 9562 section 4.
func isUUID(s string) bool {
	parts := strings.Split(s, "-")
	if len(parts) != 5 || !consists(strings.Join(parts, ""), digits+"abcdefABCDEF") {
		return false
	}
	for i, length := range []int{8, 4, 4, 4, 12} {
		if len(parts[i]) != length {
			return false
		}
	}
	return true
}

// isPointer: RFC 6901 section 3.
func isPointer(s string) bool {
	plain := strings.NewReplacer("~0", "", "~1", "").Replace(s)
	return !strings.Contains(plain, "~") && (s == "" || s[0] == '/')
}
