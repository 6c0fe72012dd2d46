package e2e

import "testing"

const publicAPI = `version = 1

grant "public" {
  reason     = "test"
  owner      = "test"
  host       = "api.example.com"
  credential = anonymous
  allow {
    methods = ["GET"]
    path    = "/public/{name}"
  }
}
`

// TestRun is the shortest story: what is granted works, the rest is refused.
func TestRun(t *testing.T) {
	for _, u := range users(t) {
		t.Run(u.name, func(t *testing.T) {
			w := newWorld(t, u)
			w.policy(publicAPI)
			const url = "https://api.example.com/public/a"
			w.control(curl(url)).wantStatus(200).wantVersion("2").farSide("GET " + url).wantAllowed(1)
			w.attack(curl("-X", "POST", "-d", "secret", url)).refused(403, "method_not_granted")
			w.attack(curl("https://api.example.com/private/a")).refused(403, "path_not_granted")
			w.attack(curl("https://evil.example.net/")).wantFailure().wantReasons("name no_grant evil.example.net").farSideNothing()
		})
	}
}
