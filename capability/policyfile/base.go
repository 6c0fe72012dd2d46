package policyfile

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"scupper.dev/scupper/capability"
)

// base is where a registry is: the host, and the path that all of its own begin with.
type base struct {
	scheme capability.Scheme
	host   capability.Host
	port   uint16
	prefix string // "" or "/repository/npm"
	at     hcl.Range
}

// String is the URL with a slash at its end, as clients want it.
func (b base) String() string {
	host := string(b.host)
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if b.port != b.scheme.DefaultPort() {
		host = fmt.Sprintf("%s:%d", host, b.port)
	}
	return string(b.scheme) + "://" + host + b.prefix + "/"
}

// base reads a URL of a registry.
func (s *source) base(e hcl.Expression) (base, bool) {
	v, ok := s.word(e)
	if !ok {
		return base{}, false
	}
	if strings.Contains(authority(v), "@") {
		s.conceal(e.Range(), "the URL of the registry holds a credential", "this version sends none: take everything up to the @ out")
		return base{}, false
	}
	b, name, err := parseBase(v)
	if err != nil {
		s.fail(e.Range(), fmt.Sprintf("%q is not the URL of a registry", v), err.Error()+`; write it as in "https://npm.example.com" or "https://repo.example.com/repository/npm/"`)
		return base{}, false
	}
	b.at = e.Range()
	b.host, ok = s.hostName(name, b.at)
	return b, ok && s.checkAddress(b.host, b.at)
}

func parseBase(v string) (b base, host string, err error) {
	u, err := url.Parse(v)
	switch {
	case err != nil:
		return b, "", errors.New("it does not parse")
	case u.Scheme != "https" && u.Scheme != "http":
		return b, "", errors.New("it begins with https:// or http://")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.Opaque != "":
		return b, "", errors.New("it has no query and no fragment")
	case strings.ContainsAny(v, "{}"):
		return b, "", errors.New("its path has no variables")
	}
	b.scheme, b.prefix = capability.Scheme(u.Scheme), strings.TrimSuffix(u.EscapedPath(), "/")
	b.port = b.scheme.DefaultPort()
	if p := u.Port(); p != "" {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil || n == 0 {
			return b, "", errors.New("a port is a number from 1 to 65535")
		}
		b.port = uint16(n)
	}
	if b.prefix != "" {
		if _, err := capability.ParsePath(b.prefix); err != nil {
			return b, "", err
		}
	}
	return b, u.Hostname(), nil
}
