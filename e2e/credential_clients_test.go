package e2e

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// ociFlow grants pulling one repository, with the token that its service hands out to
// our account.
const ociFlow = `version = 1
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
    path    = "/v2/"
  }
  allow {
    methods = ["GET", "HEAD"]
    path    = "/v2/acme/app/manifests/{reference}"
    where   = { reference = regex("1|sha256:[0-9a-f]{64}") }
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
grant "store" {
  reason     = "test"
  owner      = "test"
  host       = "store.example.com"
  credential = issued
  allow {
    methods = ["GET"]
    path    = "/objects/{id}"
    query   = { "X-Amz-Date" = slug }
  }
}
`

const issuedToken = "issued.by-the.endpoint"

// playRegistry has one image, whose blobs lie elsewhere behind signed addresses.
func playRegistry(w *world) (layer string) {
	layer = "the layer of the image"
	sum := func(text string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text))) }
	config := fmt.Sprintf(`{"architecture":"amd64","os":"linux","rootfs":{"type":"layers","diff_ids":[%q]}}`, sum(layer))
	describe := func(media, text string) string {
		return fmt.Sprintf(`{"mediaType":%q,"size":%d,"digest":%q}`, media, len(text), sum(text))
	}
	const manifestType = "application/vnd.oci.image.manifest.v1+json"
	manifest := fmt.Sprintf(`{"schemaVersion":2,"mediaType":%q,"config":%s,"layers":[%s]}`, manifestType,
		describe("application/vnd.oci.image.config.v1+json", config), describe("application/vnd.oci.image.layer.v1.tar", layer))
	w.inet.Handle("auth.example.com", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != basicOf("bot") {
			rw.WriteHeader(http.StatusUnauthorized)
			return
		}
		rw.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(rw, `{"token":%q,"expires_in":300}`, issuedToken)
	}))
	w.inet.Handle("registry.example.com", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Docker-Distribution-Api-Version", "registry/2.0")
		if r.Header.Get("Authorization") != "Bearer "+issuedToken {
			rw.Header().Set("WWW-Authenticate", `Bearer realm="https://auth.example.com/token",service="registry.example.com",scope="repository:acme/app:pull"`)
			rw.WriteHeader(http.StatusUnauthorized)
			return
		}
		if digest, ok := strings.CutPrefix(r.URL.Path, "/v2/acme/app/blobs/sha256:"); ok {
			http.Redirect(rw, r, "https://store.example.com/objects/"+digest+"?X-Amz-Date=20261130T000000Z&X-Amz-Signature=0123abc", http.StatusTemporaryRedirect)
			return
		}
		rw.Header().Set("Content-Type", manifestType)
		rw.Header().Set("Docker-Content-Digest", sum(manifest))
		io.WriteString(rw, manifest)
	}))
	w.inet.Handle("store.example.com", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		for _, text := range []string{config, layer} {
			if r.URL.Query().Get("X-Amz-Signature") == "0123abc" && r.Header.Get("Authorization") == "" && strings.HasSuffix(sum(text), strings.TrimPrefix(r.URL.Path, "/objects/")) {
				io.WriteString(rw, text)
				return
			}
		}
		rw.WriteHeader(http.StatusForbidden)
	}))
	return layer
}

// TestImagePull: a real client of OCI registries goes through challenge, token, manifest
// and blobs without a key. What it was handed is of no use elsewhere and later.
func TestImagePull(t *testing.T) {
	for _, u := range users(t) {
		t.Run(u.name, func(t *testing.T) {
			w := newWorld(t, u)
			layer := playRegistry(w)
			w.env = append(w.env, "ACCOUNT_TOKEN="+forgeSecret)
			w.policy(ociFlow)
			const pull = `skopeo --insecure-policy copy -q docker://registry.example.com/acme/app:1 dir:out`
			a := w.control(shell(pull + " && cat out/*")).wantStdout(layer)
			for _, e := range a.received {
				if all := fmt.Sprint(e.Header); strings.Contains(all, basicOf("bot")) != (e.Host == "auth.example.com") || strings.Contains(all, issuedToken) && e.Host != "registry.example.com" {
					t.Errorf("%s%s arrived with %v", e.Host, e.URI, e.Header)
				}
			}
			if all := a.stdout + w.everything("work") + a.log.String(); strings.Contains(all, forgeSecret) || strings.Contains(a.log.String(), issuedToken) {
				t.Error("a secret is inside, or a token in the log")
			}
			use := keyed("-H 'Authorization: Bearer " + issuedToken + "' https://registry.example.com/v2/acme/app/manifests/1")
			w.attack(use).refused(403, "foreign_credential")
			a = w.attack(shell(pull + "; curl -sS -o /dev/null -w '%{http_code}' -H 'Authorization: Bearer " + issuedToken + "' https://store.example.com/objects/x")).wantStdout("403").wantReason("foreign_credential")
			a.looked[farSide] = true
			w.attack(shell("skopeo --insecure-policy copy -q docker://registry.example.com/mallory/app:1 dir:other")).wantFailure().wantReason("query_not_granted").farSide("GET https://registry.example.com/v2/")
			w.attack(shell("skopeo --insecure-policy copy -q --dest-creds me:attacker dir:out docker://registry.example.com/acme/app:2")).wantFailure().wantReason("foreign_credential").farSide("GET https://registry.example.com/v2/")
		})
	}
}

// lfsFlow grants a clone, what LFS asks for, and the objects that it is led to.
const lfsFlow = `credential "lfs" {
  source { env = "FORGE_TOKEN" }
  basic { user = "bot" }
}
grant "batch" {
  reason     = "test"
  owner      = "test"
  host       = "lfs.example.com"
  credential = credential.lfs
  allow {
    methods = ["POST"]
    path    = "/acme/app/objects/batch"
    body {
      type = "application/vnd.git-lfs+json"
      max  = "64KiB"
      inspect = false
    }
    issues {
      links   = ["href"]
      headers = ["header"]
      to      = ["store.example.com"]
    }
  }
}
grant "objects" {
  reason     = "test"
  owner      = "test"
  host       = "store.example.com"
  credential = issued
  allow {
    methods = ["GET"]
    path    = "/objects/{id}"
  }
}
`

// TestLargeFiles: git-lfs itself fetches an object with the headers that the batch answer
// names, through a clone with our password.
func TestLargeFiles(t *testing.T) {
	for _, u := range users(t) {
		t.Run(u.name, func(t *testing.T) {
			w := newWorld(t, u)
			const content = "a large file, as they go\n"
			id := fmt.Sprintf("%x", sha256.Sum256([]byte(content)))
			pushLargeFile(startPrivateGitServer(w, basicOf("bot"), "acme/app"), id, len(content))
			w.inet.Handle("lfs.example.com", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				var asked struct{ Operation string }
				if json.NewDecoder(r.Body).Decode(&asked) != nil || asked.Operation != "download" || r.Header.Get("Authorization") != basicOf("bot") {
					rw.WriteHeader(http.StatusForbidden)
					return
				}
				rw.Header().Set("Content-Type", "application/vnd.git-lfs+json")
				fmt.Fprintf(rw, `{"transfer":"basic","objects":[{"oid":%q,"size":%d,"authenticated":true,"actions":{"download":{"href":"https://store.example.com/objects/%s","header":{"Authorization":"RemoteAuth lfs-1","X-Lfs-Object":"1"}}}}]}`, id, len(content), id)
			}))
			w.inet.Handle("store.example.com", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") != "RemoteAuth lfs-1" || r.Header.Get("X-Lfs-Object") != "1" {
					rw.WriteHeader(http.StatusForbidden)
					return
				}
				io.WriteString(rw, content)
			}))
			w.env = append(w.env, "FORGE_TOKEN="+forgeSecret, "GIT_TERMINAL_PROMPT=0")
			w.policy(private + lfsFlow + strings.TrimPrefix(strings.Replace(gitPolicy, "}", "  credential   = credential.forge\n}", 1), "version = 1\n"))
			const clone = "git -c filter.lfs.process='git-lfs filter-process' -c filter.lfs.smudge='git-lfs smudge -- %f' -c filter.lfs.required=true clone -q " + gitURL
			a := w.control(shell(clone + " large && cat large/data.bin")).wantStdout(content)
			for _, e := range a.received {
				if has := strings.Contains(fmt.Sprint(e.Header), basicOf("bot")); has == (e.Host == "store.example.com") {
					t.Errorf("%s%s arrived with %v", e.Host, e.URI, e.Header)
				}
			}
			object := "https://store.example.com/objects/" + id
			w.attack(keyed("-H 'Authorization: RemoteAuth lfs-1' -H 'X-Lfs-Object: 1' "+object)).refused(403, "foreign_credential")
			a = w.attack(shell(clone + " again && curl -sS -o /dev/null -w '%{http_code}' -H 'Authorization: RemoteAuth lfs-2' " + object)).wantStdout("403").wantReason("foreign_credential")
			a.looked[farSide] = true
		})
	}
}

// pushLargeFile gives the repository a file that is elsewhere.
func pushLargeFile(s *gitServer, id string, size int) {
	files := []struct{ name, text string }{
		{".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n"},
		{".lfsconfig", "[lfs]\n\turl = https://lfs.example.com/acme/app\n"},
		{"data.bin", fmt.Sprintf("version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n", id, size)},
	}
	stream := "commit refs/heads/main\ncommitter Dev <dev@example.com> 1767323045 +0000\ndata 5\nlarge"
	for _, f := range files {
		stream += fmt.Sprintf("\nM 100644 inline %s\ndata %d\n%s", f.name, len(f.text), f.text)
	}
	s.gitWith(stream+"\n", "acme/app.git", "fast-import", "--quiet")
}
