package credential

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"scupper.dev/scupper/capability"
)

// places are those that the fuzzer has to choose from.
var places = []capability.Place{
	header,
	{In: capability.InHeader, Name: "Authorization", Before: "Bearer "},
	{In: capability.InBasic, User: "bot"},
	{In: capability.InQuery, Name: "key"},
	{In: capability.InCookie, Name: "session"},
}

// FuzzPresent: whatever a client sends, with placeholders wherever it likes, what goes
// upstream has the secret once, at its place, and no placeholder and no other
// credential at all.
func FuzzPresent(f *testing.F) {
	path, err := capability.ParseTemplate("/v1/{item}", nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, which int, name, text, query, item string) {
		place := places[uint(which)%uint(len(places))]
		set := open(t, Spec{Name: "llm", Source: Source{Env: "X"}, Place: place, Expose: "KEY"})
		hold := set.Placeholders()["llm"]
		credential := capability.Credential{Mode: capability.Bound, Name: "llm", Place: place}
		policy, err := capability.Compile([]*capability.Grant{{
			Name: "g", Host: capability.HostPattern{Name: "api.example.com"}, Port: 443, Scheme: capability.HTTPS, Credential: credential,
			Allows: []*capability.Allow{{Methods: []string{"GET"}, Path: path, Query: capability.QueryRule{Any: true}}},
		}}, nil)
		if err == nil {
			policy, err = policy.WithPlaceholders(set.Placeholders())
		}
		if err != nil {
			t.Fatal(err)
		}
		fill := strings.NewReplacer("BASIC PLACEHOLDER", "Basic "+base64.StdEncoding.EncodeToString([]byte("bot:"+hold)), "PLACEHOLDER", hold)
		r := &capability.Request{Kind: capability.KindHTTP, Host: "api.example.com", Port: 443, Scheme: capability.HTTPS, Method: "GET"}
		r.Header = map[string][]string{http.CanonicalHeaderKey(fill.Replace(name)): {fill.Replace(text)}}
		if r.Path, err = capability.ParsePath("/v1/" + fill.Replace(item)); err != nil {
			return
		}
		if r.Query, err = capability.ParseQuery(fill.Replace(query)); err != nil {
			return
		}
		d := policy.Decide(r)
		if !d.Allowed() {
			return
		}
		target, parameters, _ := strings.Cut(d.Target(r), "?")
		sent, _ := d.Header(r)
		up := &http.Request{Method: "GET", Header: sent, URL: &url.URL{Scheme: "https", Host: "api.example.com", Opaque: target, RawQuery: parameters}}
		before := target + "?" + parameters + flat(sent)
		if strings.Contains(before, value) || strings.Contains(before, hold) {
			t.Fatalf("%q before the secret is put in", before)
		}
		if err := set.Present(t.Context(), d.Grant.Credential, up); err != nil {
			t.Fatal(err)
		}
		checkSent(t, place, up, target, parameters)
	})
}

// checkSent wants what is put in to be at the place, and all else to be as it was.
func checkSent(t *testing.T, place capability.Place, up *http.Request, target, parameters string) {
	t.Helper()
	if up.URL.Opaque != target {
		t.Errorf("the path became %q", up.URL.Opaque)
	}
	added := strings.TrimPrefix(strings.TrimPrefix(up.URL.RawQuery, parameters), "&")
	if want := map[bool]string{true: "key=" + value}[place.In == capability.InQuery]; added != want {
		t.Errorf("the query became %q", up.URL.RawQuery)
	}
	for name, values := range up.Header {
		all := strings.Join(values, "\n")
		decoded, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(all, "Basic "))
		holds := strings.Contains(all, value) || strings.Contains(string(decoded), value)
		if holds != (name == place.Header()) {
			t.Errorf("header %s: %q", name, all)
		}
	}
}

func flat(h map[string][]string) (s string) {
	for name, values := range h {
		s += name + ": " + strings.Join(values, ",") + "\n"
	}
	return s
}
