package e2e

import (
	"os"
	"strings"
	"testing"
)

// TestInit goes from a folder without a policy to an install: the addresses come from
// npm's own configuration.
func TestInit(t *testing.T) {
	for _, u := range users(t) {
		t.Run(u.name, func(t *testing.T) {
			w := newWorld(t, u)
			packages := fiftyPackages(t)
			startRegistry(w, packages)
			project(w, packages)
			w.env = append(w.env, "GOPROXY=off")
			w.user.file(t, w.at("home/.npmrc"), []byte("registry=https://"+registryHost+"/\n//"+registryHost+"/:_authToken=t0ken\n"))
			w.scupper("init").wantExit(0).wantStdout("next: scupper run -- npm ci").farSideNoRequest(registryHost)
			policy, err := os.ReadFile(w.at("work/policy.hcl"))
			if err != nil || strings.Contains(string(policy), "t0ken") {
				t.Errorf("%v, or the policy has a credential:\n%s", err, policy)
			}
			w.control(command("npm", "ci", "--no-audit", "--no-fund"))
			w.attack(curl("-X", "PUT", "-d", "{}", "https://"+registryHost+"/stolen")).refused(403, "method_not_granted")

			w.scupper("init").wantExit(2).wantStderr("exists and is left as it is")
			again, err := os.ReadFile(w.at("work/policy.hcl"))
			if err != nil || string(again) != string(policy) {
				t.Errorf("%v, or the policy has changed", err)
			}
		})
	}
}

// TestInitDoesNotTrustTheFolder has a folder that names a registry of its own.
func TestInitDoesNotTrustTheFolder(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	const evil = "evil.example.net"
	w.env = append(w.env, "GOPROXY=off")
	w.user.file(t, w.at("home/.npmrc"), []byte("registry=https://"+registryHost+"/\n"))
	w.work("package.json", "{}")
	w.work(".npmrc", "registry=https://"+evil+"/\n")
	w.scupper("init").wantExit(0).wantStdout("not in force: npm https://" + evil + "/: it came with this folder").farSideNoRequest(registryHost)
	w.control(curl("https://" + registryHost + "/lib")).wantStatus(200).farSide("GET https://" + registryHost + "/lib").wantAllowed(1)
	w.attack(curl("https://" + evil + "/lib")).wantFailure().farSideNothing().wantReason("no_grant")

	// With the operator's word it is the registry.
	if err := os.Remove(w.at("work/policy.hcl")); err != nil {
		t.Fatal(err)
	}
	w.scupper("init", "--yes").wantExit(0).farSideNoRequest(registryHost, evil)
	w.control(curl("https://" + evil + "/lib")).wantStatus(200).farSide("GET https://" + evil + "/lib").wantAllowed(1)
	w.attack(curl("https://" + registryHost + "/lib")).wantFailure().farSideNothing().wantReason("no_grant")
}

// TestProposalOfARun grants what a run was refused, and then the same run works.
func TestProposalOfARun(t *testing.T) {
	w := newWorld(t, ordinaryUser(t))
	w.policy(publicAPI)
	const one, two = "https://api.example.com/private/1", "https://api.example.com/private/2"
	w.attack(curl(one)).refused(403, "path_not_granted")
	a := w.scupper("explain", "--run", "last", "--as-policy", "--audit", w.at("audit/1")).wantExit(0).farSideNothing()
	w.policy(a.stdout)
	w.scupper("policy", "check", w.at("policy.hcl")).wantExit(0)
	w.control(curl(one)).wantStatus(200).farSide("GET " + one).wantAllowed(1)
	w.attack(curl(two)).refused(403, "path_not_granted")
}
