package e2e

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// flows are services that hand credentials out: a registry with a token endpoint, as OCI
// has it, a site with a login, and git-lfs.
const flows = `version = 1
credential "account" {
  source { env = "ACCOUNT_TOKEN" }
  basic { user = "bot" }
}
grant "token" {
  reason     = "test"
  owner      = "test"
  host       = "auth.example.com"
  credential = credential.account
  allow {
    methods = ["GET"]
    path    = "/token"
    query   = { service = "registry.example.com", scope = "repository:acme/app:pull" }
    issues {
      fields = ["token", "access_token"]
      to     = ["registry.example.com"]
    }
  }
}
grant "pull" {
  reason     = "test"
  owner      = "test"
  host       = "registry.example.com"
  credential = issued
  allow {
    methods = ["GET", "HEAD"]
    path    = "/v2/acme/app/manifests/{reference}"
  }
  allow {
    methods = ["GET"]
    path    = "/v2/acme/app/blobs/{digest}"
    where   = { digest = regex("sha256:[0-9a-f]{64}") }
    issues {
      links = ["location"]
      to    = ["store.example.com"]
    }
  }
}
grant "site" {
  reason     = "test"
  owner      = "test"
  host       = "site.example.com"
  credential = issued
  allow {
    methods = ["GET"]
    path    = "/login"
    issues { cookies = ["session"] }
  }
  allow {
    methods = ["GET"]
    path    = "/pages/{page}"
  }
}
grant "lfs" {
  reason     = "test"
  owner      = "test"
  host       = "git.example.com"
  credential = credential.account
  allow {
    methods = ["POST"]
    path    = "/acme/app.git/info/lfs/objects/batch"
    body {
      type    = "application/vnd.git-lfs+json"
      max     = "64KiB"
      inspect = false
    }
    issues {
      links   = ["href"]
      headers = ["header"]
      to      = ["store.example.com"]
    }
  }
}
grant "store" {
  reason     = "test"
  owner      = "test"
  host       = "store.example.com"
  credential = issued
  allow {
    methods = ["GET"]
    path    = "/objects/{id}"
  }
}
grant "other" {
  reason     = "test"
  owner      = "test"
  host       = "other.example.com"
  credential = anonymous
  allow {
    methods = ["GET"]
    path    = "/{anything...}"
  }
}
`

// play answers as those services do, and only to who has the right credential.
func play(w *world) {
	bearer, account := "Bearer issued.by-the.endpoint", "Basic "+base64.StdEncoding.EncodeToString([]byte("bot:"+forgeSecret))
	const signed = "https://store.example.com/objects/blob?X-Amz-Date=20260101T000000Z&X-Amz-Signature=0123abc%2Fdef"
	demand := func(name, value string, then http.HandlerFunc) http.HandlerFunc {
		return func(rw http.ResponseWriter, r *http.Request) {
			if r.Header.Get(name) != value {
				rw.Header().Set("WWW-Authenticate", `Bearer realm="https://auth.example.com/token",service="registry.example.com",scope="repository:acme/app:pull"`)
				rw.WriteHeader(http.StatusUnauthorized)
				return
			}
			then(rw, r)
		}
	}
	json := func(media, text string) http.HandlerFunc {
		return func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", media)
			fmt.Fprint(rw, text)
		}
	}
	handle := func(host string, routes map[string]http.HandlerFunc) {
		mux := http.NewServeMux()
		for pattern, h := range routes {
			mux.Handle(pattern, h)
		}
		w.inet.Handle(host, mux)
	}
	fine := json("text/plain", "fine")
	handle("auth.example.com", map[string]http.HandlerFunc{"GET /token": demand("Authorization", account, json("application/json", `{"token":"issued.by-the.endpoint","expires_in":300}`))})
	handle("registry.example.com", map[string]http.HandlerFunc{
		"GET /v2/acme/app/manifests/": demand("Authorization", bearer, fine),
		"GET /v2/acme/app/blobs/": demand("Authorization", bearer, func(rw http.ResponseWriter, r *http.Request) {
			http.Redirect(rw, r, signed, http.StatusTemporaryRedirect)
		}),
	})
	handle("site.example.com", map[string]http.HandlerFunc{
		"GET /login": func(rw http.ResponseWriter, _ *http.Request) {
			http.SetCookie(rw, &http.Cookie{Name: "session", Value: "s3ss10n", Path: "/", HttpOnly: true})
		},
		"GET /pages/": demand("Cookie", "session=s3ss10n", fine),
	})
	handle(gitHost, map[string]http.HandlerFunc{"POST /acme/app.git/info/lfs/objects/batch": demand("Authorization", account,
		json("application/vnd.git-lfs+json", `{"objects":[{"oid":"1","actions":{"download":{"href":"https://store.example.com/objects/lfs","header":{"Authorization":"RemoteAuth lfs-1","X-Lfs-Object":"1"}}}}]}`))})
	handle("store.example.com", map[string]http.HandlerFunc{
		"GET /objects/blob": func(rw http.ResponseWriter, r *http.Request) {
			if r.URL.RawQuery != "X-Amz-Date=20260101T000000Z&X-Amz-Signature=0123abc%2Fdef" {
				rw.WriteHeader(http.StatusForbidden)
			}
		},
		"GET /objects/lfs": demand("Authorization", "RemoteAuth lfs-1", demand("X-Lfs-Object", "1", fine)),
	})
}

// get prints the status of each request.
const getStatus = `get() { curl -sS -o /dev/null -w '%{http_code} ' "$@"; }; `

const digest = "sha256:0123456789012345678901234567890123456789012345678901234567890123"

// TestIssuedCredentials: what the services hand out works, at the host for which it is,
// in the run in which it was handed out.
func TestIssuedCredentials(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	play(w)
	w.policy(flows)
	w.env = append(w.env, "ACCOUNT_TOKEN="+forgeSecret)
	for _, c := range []struct {
		name, obtain, use string
		obtained          string // statuses, when it works
		elsewhere         string
	}{
		{"OCI bearer flow", `get https://registry.example.com/v2/acme/app/manifests/1; T=$(curl -sS 'https://auth.example.com/token?service=registry.example.com&scope=repository:acme/app:pull' | sed 's/.*"token":"\([^"]*\)".*/\1/');`,
			`get -H "Authorization: Bearer ${T:-issued.by-the.endpoint}" https://registry.example.com/v2/acme/app/manifests/1;`, "401 200 ",
			`get -H "Authorization: Bearer ${T:-issued.by-the.endpoint}" https://other.example.com/v2/x;`},
		{"signed query of a redirect", `T=$(curl -sS 'https://auth.example.com/token?service=registry.example.com&scope=repository:acme/app:pull' >/dev/null); get -H "Authorization: Bearer issued.by-the.endpoint" https://registry.example.com/v2/acme/app/blobs/` + digest + `;`,
			`get 'https://store.example.com/objects/blob?X-Amz-Date=20260101T000000Z&X-Amz-Signature=0123abc%2Fdef';`, "307 200 ",
			`get 'https://other.example.com/objects/blob?X-Amz-Date=20260101T000000Z&X-Amz-Signature=0123abc%2Fdef';`},
		{"session cookie", `get -c jar https://site.example.com/login; rm -f jar;`,
			`get -b session=s3ss10n https://site.example.com/pages/1;`, "200 200 ",
			`get -b session=s3ss10n https://other.example.com/pages/1;`},
		{"LFS headers", `get -H 'Content-Type: application/vnd.git-lfs+json' -d '{"operation":"download"}' https://git.example.com/acme/app.git/info/lfs/objects/batch;`,
			`get -H 'Authorization: RemoteAuth lfs-1' -H 'X-Lfs-Object: 1' https://store.example.com/objects/lfs;`, "200 200 ",
			`get -H 'Authorization: RemoteAuth lfs-1' https://other.example.com/objects/lfs;`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.control(shell(getStatus + c.obtain + c.use)).wantStdout(c.obtained)
			w.attack(shell(getStatus + c.use)).wantStdout("403 ").wantReason("foreign_credential").farSideNothing()
			a := w.attack(shell(getStatus + c.obtain + c.elsewhere)).wantStdout("403 ").wantReasonOnly("foreign_credential")
			a.looked[farSide] = true
			for _, e := range a.received {
				if e.Host == "other.example.com" {
					a.errorf("the other host received %s %v", e.URI, e.Header)
				}
			}
			for _, r := range a.log {
				if r.Event != "run_started" && (strings.Contains(r.raw, "issued.by-the") || strings.Contains(r.raw, "s3ss10n") || strings.Contains(r.raw, "0123abc") || strings.Contains(r.raw, forgeSecret)) {
					a.errorf("a credential is in the log")
				}
			}
		})
	}
}
