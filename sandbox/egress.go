package sandbox

import (
	"crypto/x509"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/credential"
	"scupper.dev/scupper/credential/redact"
	"scupper.dev/scupper/proxy"
)

// Egress says how what is granted leaves the sandbox, and what it may hold on the way.
type Egress struct {
	Resolve       []string         // HOST:PORT:ADDR[:PORT]: names pointed elsewhere by the operator
	UpstreamRoots *x509.CertPool   // nil: the system's
	Resolver      proxy.Resolver   // nil: the system's
	Limits        ConnectionLimits // of connections; zero fields are defaults
	Questions     int64            // to DNS; 0: its default
	QuestionRate  capability.Rate  // likewise
	Credentials   *credential.Set  // that the policy's grants bind; nil: none

	via *proxy.Via // the proxy that leads outside; nil: none
}

// ConnectionLimits bound what the clients of a sandbox may hold. A zero field is its default.
type ConnectionLimits = proxy.Limits

func parseOverrides(texts []string) ([]proxy.Override, error) {
	var overrides []proxy.Override
	for _, text := range texts {
		o, err := proxy.ParseOverride(text)
		if err != nil {
			return nil, usage("as curl has it: --resolve api.example.com:443:192.0.2.7:8443", "%v", err)
		}
		overrides = append(overrides, o)
	}
	return overrides, nil
}

// redactor hides the secrets that the run has.
func redactor(set *credential.Set) proxy.Redactor {
	if set == nil {
		return nil
	}
	return redact.New(set.Secrets)
}
