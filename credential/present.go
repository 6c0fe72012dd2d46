package credential

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"scupper.dev/scupper/capability"
)

var (
	errUnknown = errors.New("it is not of this run")
	errClear   = errors.New("it is never sent in clear")
	errHeader  = errors.New("it holds a character that a header does not carry")
	errCookie  = errors.New("it holds a character that a cookie does not carry")
)

// Present writes the secret that c binds into r, at its place and nowhere else. It
// blocks while a command renews the secret. r is a request as it goes upstream, with
// nothing at that place. A nil Set has no secrets. An error leaves r as it was, and holds no value.
func (s *Set) Present(ctx context.Context, c capability.Credential, r *http.Request) error {
	if c.Mode != capability.Bound {
		return nil
	}
	if !s.Has(c.Name) || s.held[c.Name].spec.Place != c.Place {
		return fmt.Errorf("credential %q: %w", c.Name, errUnknown)
	}
	h := s.held[c.Name]
	if r.URL.Scheme != string(capability.HTTPS) {
		return fmt.Errorf("credential %q: %w", c.Name, errClear)
	}
	secret, err := h.current(ctx)
	if err != nil {
		return fmt.Errorf("credential %q from %s: %w", c.Name, h.spec.Source, err)
	}
	write(c.Place, secret.Reveal(), r)
	return nil
}

func write(p capability.Place, value string, r *http.Request) {
	crash(value)
	switch p.In {
	case capability.InHeader:
		r.Header[p.Name] = []string{p.Before + value + p.After}
	case capability.InBasic:
		r.Header["Authorization"] = []string{"Basic " + base64.StdEncoding.EncodeToString([]byte(p.User+":"+value))}
	case capability.InCookie:
		r.Header["Cookie"] = []string{p.Name + "=" + value}
	case capability.InQuery:
		pair := url.QueryEscape(p.Name) + "=" + url.QueryEscape(value)
		if r.URL.RawQuery != "" {
			pair = r.URL.RawQuery + "&" + pair
		}
		r.URL.RawQuery = pair
	}
}

// fits reports whether a place can carry value (RFC 9110 section 5.5, RFC 6265 section
// 4.1.1).
func fits(p capability.Place, value string) error {
	switch p.In {
	case capability.InHeader:
		if strings.ContainsFunc(value, func(c rune) bool { return c < ' ' || c > '~' }) || strings.TrimSpace(value) != value {
			return errHeader
		}
	case capability.InCookie:
		if strings.ContainsFunc(value, func(c rune) bool { return c <= ' ' || c > '~' || strings.ContainsRune(`",;\`, c) }) {
			return errCookie
		}
	}
	return nil
}
