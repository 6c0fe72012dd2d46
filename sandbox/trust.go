package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Places of the certificates inside. They lie on the read-only root, where nothing can be renamed.
const (
	BundlePath    = "/scupper/ca-bundle.pem" // the host's roots and the run's authority
	AuthorityPath = "/scupper/ca.pem"        // the run's authority alone
)

// systemBundles are the files where programs look for root certificates: Debian, Alpine, Fedora and RHEL (two), SUSE.
func systemBundles() []string {
	return []string{"/etc/ssl/certs/ca-certificates.crt", "/etc/ssl/cert.pem", "/etc/pki/tls/certs/ca-bundle.crt",
		"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/ca-bundle.pem"}
}

// trustEnvironment names the bundle to the clients that do not look at the system's.
func trustEnvironment(intercepted bool) []string {
	if !intercepted {
		return nil
	}
	var env []string
	for _, name := range []string{"SSL_CERT_FILE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "REQUESTS_CA_BUNDLE", "PIP_CERT", "CARGO_HTTP_CAINFO",
		"AWS_CA_BUNDLE"} {
		env = append(env, name+"="+BundlePath)
	}
	// The first two are added to the client's own roots. npm reads its file anew for every connection, and with the roots of the host in it an install
	// takes half a second longer.
	return append(env, "NODE_EXTRA_CA_CERTS="+AuthorityPath, "DENO_CERT="+AuthorityPath, "npm_config_cafile="+AuthorityPath)
}

// trustFiles are the bundle at its fixed place and over every bundle that the host has.
func (c *CageConfig) trustFiles() ([]stagedFile, error) {
	if c.TrustPEM == "" {
		return nil, nil
	}
	roots, err := c.hostRoots()
	if err != nil {
		return nil, err
	}
	bundle := strings.TrimRight(roots, "\n") + "\n" + c.TrustPEM
	files := []stagedFile{{AuthorityPath, c.TrustPEM}, {BundlePath, bundle}}
	covered := map[string]bool{}
	for _, path := range systemBundles() {
		real, err := filepath.EvalSymlinks(path)
		if err != nil || covered[real] || !visible(real, nil) {
			continue
		}
		covered[real] = true
		files = append(files, stagedFile{real, bundle})
	}
	return files, nil
}

func (c *CageConfig) hostRoots() (string, error) {
	if c.HostRoots != "" {
		b, err := os.ReadFile(c.HostRoots)
		if err != nil {
			return "", fmt.Errorf("read root certificates: %w", err)
		}
		return string(b), nil
	}
	for _, path := range systemBundles() {
		if b, err := os.ReadFile(path); err == nil {
			return string(b), nil
		}
	}
	return "", nil
}
