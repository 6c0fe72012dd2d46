package aeb

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
)

// Profile says what a tool supports: transports and what cases require.
type Profile struct {
	Tool     string          `json:"tool"`
	Supports map[string]bool `json:"supports"`
}

// Own is the profile of scupper. It looks for nothing in particular: every part of a
// request has to be granted, which is what the names of kinds of scanning stand for here.
// What answers, tools and agents say to each other is not among them.
func Own() Profile {
	return Profile{Tool: "scupper", Supports: map[string]bool{
		"fetch_proxy": true, "http_proxy": true, "websocket": true, // a request made in the sandbox, by whatever way
		"tls_interception": true, "domain_blocklist": true,
		"url_dlp_scanning": true, "header_dlp_scanning": true, "request_body_dlp_scanning": true,
		"header_scanning": true, "request_body_scanning": true, // as version 1 calls them
		"hostname_exfil_scanning": true, "ssrf_scanning": true, "ssrf_bypass_scanning": true,
		"entropy_scanning": true, "encoding_evasion_scanning": true, "crypto_dlp_scanning": true,
	}}
}

// ReadProfile reads a profile in the form that the bench publishes.
func ReadProfile(path string) (p Profile, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return p, fmt.Errorf("read profile: %w", err)
	}
	if err := json.Unmarshal(text, &p); err != nil {
		return p, fmt.Errorf("read profile %s: %w", path, err)
	}
	if len(p.Supports) == 0 {
		return p, fmt.Errorf("read profile %s: it supports nothing", path)
	}
	return p, nil
}

// excuse says why a case does not apply; empty: it does.
func (p Profile) excuse(c *Case) string {
	if !request(c.Input) {
		return "input " + c.Input + " is no request"
	}
	if !p.Supports[c.Carrier] {
		return "transport " + c.Carrier + " is not supported"
	}
	missing := slices.DeleteFunc(slices.Clone(c.Requires), func(r string) bool { return p.Supports[r] })
	if len(missing) > 0 {
		return "requires " + missing[0]
	}
	return ""
}
