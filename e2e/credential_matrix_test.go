package e2e

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// seats are the places of a request in which credentials ride, service by service, with
// the attacker's in them. An empty name is a query.
var seats = [][2]string{
	{"Authorization", "Bearer KEY"}, {"Authorization", "Basic BASIC"}, {"Authorization", "token KEY"}, {"Authorization", "KEY"}, // npm, PyPI, GitHub, crates.io
	{"Authorization", "AWS4-HMAC-SHA256 Credential=KEY/20261130/r/s3/aws4_request, SignedHeaders=host, Signature=0"},
	{"Authorization", "SharedKey account:KEY"}, {"Authorization", "GoogleLogin auth=KEY"}, {"Proxy-Authorization", "Basic BASIC"},
	{"npm-otp", "KEY"}, {"OTP", "KEY"}, {"X-NuGet-ApiKey", "KEY"}, {"PRIVATE-TOKEN", "KEY"}, {"JOB-TOKEN", "KEY"}, {"DEPLOY-TOKEN", "KEY"},
	{"x-api-key", "KEY"}, {"api-key", "KEY"}, {"x-goog-api-key", "KEY"}, {"X-Amz-Security-Token", "KEY"}, {"X-Sentry-Auth", "Sentry sentry_key=KEY"},
	{"Cookie", "session=KEY"}, {"Cookie", "d=KEY"}, {"Sec-WebSocket-Protocol", "realtime, openai-insecure-api-key.KEY"},
	{"", "username=u&apiToken=KEY"}, {"", "access_token=KEY"}, {"", "token=KEY"}, {"", "private_token=KEY"}, {"", "job_token=KEY"}, {"", "feed_token=KEY"},
	{"", "key=KEY"}, {"", "X-Amz-Credential=KEY&X-Amz-Signature=0"}, {"", "X-Amz-Security-Token=KEY"}, {"", "AWSAccessKeyId=KEY&Signature=0&Expires=1"},
	{"", "X-Goog-Credential=KEY&X-Goog-Signature=0"}, {"", "GoogleAccessId=KEY&Signature=0"}, {"", "sv=1&se=2&sp=rw&sig=KEY"}, {"", "sentry_key=KEY"}, {"", "refresh_token=KEY"},
}

// spellings put one field into a parcel in other ways.
var spellings = []struct {
	name   string
	header bool // only of a header
	spell  func(p *parcel, name, value string)
}{
	{"plain", false, func(p *parcel, name, value string) { p.put(name, value) }},
	{"odd case", false, func(p *parcel, name, value string) {
		if name == "" {
			parameter, rest, _ := strings.Cut(value, "=")
			p.put("", odd(parameter)+"="+rest)
		} else if p.H2 { // names have no case there, schemes have
			p.put(name, odd(value[:strings.IndexByte(value+" ", ' ')])+value[strings.IndexByte(value+" ", ' '):])
		} else {
			p.put(odd(name), value)
		}
	}},
	{"twice, ours before", false, func(p *parcel, name, value string) {
		p.put(name, ours(name, value))
		p.put(name, value)
	}},
	{"twice, ours behind", false, func(p *parcel, name, value string) {
		p.put(name, value)
		p.put(name, ours(name, value))
	}},
	{"joined by a comma", false, func(p *parcel, name, value string) { p.put(name, ours(name, value)+","+value) }},
	{"trailer", true, func(p *parcel, name, value string) {
		p.put("Trailer", name)
		p.Trailer = [][2]string{{p.fold(name), value}}
	}},
	{"trailer, not announced", true, func(p *parcel, name, value string) { p.Trailer = [][2]string{{p.fold(name), value}} }},
	{"after a redirect", false, func(p *parcel, name, value string) {
		p.Before = []string{"/v1/redirect-to-" + strings.TrimPrefix(p.Target, "/v1/")}
		p.put(name, value)
	}},
	{"second of a connection", false, func(p *parcel, name, value string) {
		p.Before = []string{"/v1/good-before-" + strings.TrimPrefix(p.Target, "/v1/")}
		p.put(name, value)
	}},
}

// fold makes a name what HTTP/2 takes.
func (p *parcel) fold(name string) string {
	if p.H2 {
		return strings.ToLower(name)
	}
	return name
}

func (p *parcel) put(name, value string) {
	if name == "" {
		p.Target += map[bool]string{false: "?", true: "&"}[strings.Contains(p.Target, "?")] + value
		return
	}
	p.Fields = append(p.Fields, [2]string{p.fold(name), value})
}

// ours is value with the placeholder, or a harmless value, in the place of the key.
func ours(name, value string) string {
	return strings.NewReplacer(attackerKey, "PLACEHOLDER", basicAttacker, base64.StdEncoding.EncodeToString([]byte("me:PLACEHOLDER"))).Replace(value)
}

// odd turns the case of every second letter.
func odd(s string) string {
	b := []byte(strings.ToLower(s))
	for i := 1; i < len(b); i += 2 {
		b[i] = strings.ToUpper(string(b[i]))[0]
	}
	return string(b)
}

var basicAttacker = base64.StdEncoding.EncodeToString([]byte("me:" + attackerKey))

// everySeat are parcels for every place, spelling and version of HTTP.
func everySeat(host string) (all []parcel) {
	for i, seat := range seats {
		value := strings.NewReplacer("KEY", attackerKey, "BASIC", basicAttacker).Replace(seat[1])
		for k, s := range spellings {
			if s.header && seat[0] == "" {
				continue
			}
			for _, h2 := range []bool{false, true} {
				p := parcel{
					Name: fmt.Sprintf("%s %s %s h2=%t", seat[0], seat[1], s.name, h2), H2: h2, Host: host,
					Target: fmt.Sprintf("/v1/s%d-%d-%t", i, k, h2), Type: "application/json", Body: "{}",
				}
				s.spell(&p, seat[0], value)
				all = append(all, p)
			}
		}
	}
	return all
}

// send has the sandbox send parcels, and returns what came of each.
func (w *world) send(parcels []parcel) (*attempt, []came) {
	w.t.Helper()
	text, err := json.Marshal(parcels)
	if err != nil {
		w.t.Fatal(err)
	}
	w.work("parcels.json", string(text))
	a := w.attack(shell("sed -i \"s/PLACEHOLDER/${LLM_KEY:-nothing}/g\" parcels.json && " + parcelsVar + "=parcels.json " + prepared("attacker"))).wantExit(0)
	var all []came
	for line := range strings.Lines(a.stdout) {
		var c came
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			a.errorf("%q: %v", line, err)
		}
		all = append(all, c)
	}
	if len(all) != len(parcels) {
		a.t.Fatalf("%d of %d parcels were sent\n%s", len(all), len(parcels), a.stderr)
	}
	return a, all
}

// TestEverySeat: CRED-01, EXF-08, the attacker's key in every place where services take one,
// in every spelling, to a function that is granted, with our key and without any: nothing
// of it arrives, and each request has one record.
func TestEverySeat(t *testing.T) {
	w := keyWorld(t, ordinaryUser(t), strings.Replace(fmt.Sprintf(inference, ""), "/v1/messages", "/v1/{item}", 1)+strings.NewReplacer(
		`"forge"`, `"open"`, "forge.example.com", "open.example.com", `["GET"]`, `["POST"]`, `/api/{item}"`, `/v1/{item}"
    body {
      type = "application/json"
      max  = "1MiB"
    }`).Replace(strings.TrimPrefix(fmt.Sprintf(forge, "credential = anonymous"), "version = 1\n")))
	w.flags = []string{"--ro", prepared("attacker")}
	redirects := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if to, ok := strings.CutPrefix(r.URL.Path, "/v1/redirect-to-"); ok {
			http.Redirect(rw, r, "/v1/"+to, http.StatusTemporaryRedirect)
		}
	})
	for host, key := range map[string]string{"api.example.com": realKey, "open.example.com": ""} {
		t.Run(host, func(t *testing.T) {
			w.inet.Handle(host, redirects)
			parcels := everySeat(host)
			a, all := w.send(parcels)
			a.looked[farSide], a.looked[theLog] = true, true
			good := 0
			records := make(map[string][]record)
			for _, d := range a.log.denials() {
				records[d.Path] = append(records[d.Path], d)
			}
			for i, p := range parcels {
				good += len(p.Before)
				path, _, _ := strings.Cut(p.Target, "?")
				got := records[path]
				reset := p.H2 && len(p.Trailer) > 0 && all[i].Status == 0 // net/http does so where a field has no place in a trailer
				if all[i].Status != 403 && !reset || len(got) != 1 || got[0].Reason != "foreign_credential" {
					t.Errorf("%s: %+v, records %v", p.Name, all[i], got)
				}
				for _, status := range all[i].Before {
					if status != 200 && status != 307 {
						t.Errorf("%s: control: %d", p.Name, status)
					}
				}
			}
			if len(a.received) != good || good < 100 {
				t.Errorf("%d requests arrived, want %d", len(a.received), good)
			}
			for _, e := range a.received {
				if !strings.Contains(e.URI, "good-before") && !strings.Contains(e.URI, "redirect-to") || e.Header.Get("X-Api-Key") != key || strings.Contains(fmt.Sprint(e), attackerKey) {
					t.Errorf("the far side received %v", e)
				}
			}
			if text := a.log.String(); strings.Contains(text, attackerKey) || strings.Contains(text, basicAttacker) {
				t.Error("the key is in the log")
			}
		})
	}
}
