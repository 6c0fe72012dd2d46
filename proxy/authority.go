package proxy

import (
	"errors"
	"strconv"
	"strings"

	"scupper.dev/scupper/capability"
)

var errPort = errors.New("a port is a decimal number from 1 to 65535")

// authority is where a request says it goes.
type authority struct {
	host capability.Host
	port uint16
}

// parseAuthority reads host[:port] (RFC 3986 section 3.2) without userinfo. Without a
// port it is implied, and where implied is 0 that is an error.
func parseAuthority(s string, implied uint16) (authority, error) {
	host, digits, found := cutPort(s)
	h, err := capability.ParseHost(host)
	if err != nil {
		return authority{}, err
	}
	if !found && implied != 0 {
		return authority{h, implied}, nil
	}
	port, err := parsePort(digits)
	return authority{h, port}, err
}

// cutPort cuts after the last colon that is not inside brackets.
func cutPort(s string) (host, port string, found bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 || i < strings.LastIndexByte(s, ']') {
		return s, "", false
	}
	if host = s[:i]; strings.IndexByte(host, ':') >= 0 && host[0] != '[' {
		return "", "", false // an address that lacks its brackets: which colon is the port's?
	}
	return host, s[i+1:], true
}

func parsePort(digits string) (uint16, error) {
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || n == 0 || digits[0] < '1' || digits[0] > '9' {
		return 0, errPort
	}
	return uint16(n), nil
}

// hostport is the authority to send, with the port only where it is not implied.
func hostport(h capability.Host, port, implied uint16) string {
	name := string(h)
	if strings.IndexByte(name, ':') >= 0 {
		name = "[" + name + "]"
	}
	if port == implied {
		return name
	}
	return name + ":" + strconv.Itoa(int(port))
}
