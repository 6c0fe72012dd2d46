package aeb

import (
	"bytes"
	"compress/gzip"
	"io"
	"time"

	"scupper.dev/scupper/capability"
)

// Result is what came of one case.
type Result struct {
	ID       string `json:"id"`
	File     string `json:"file"`
	Category string `json:"category,omitempty"`
	Expected string `json:"expected_verdict"`
	Verdict  string `json:"verdict"` // "block", "allow" or "not_applicable"
	Reason   string `json:"reason"`  // of the policy, or why the case does not apply
	Grant    string `json:"grant,omitempty"`
	Position string `json:"position,omitempty"` // in the policy, of what let it through
	Stripped int    `json:"stripped,omitempty"` // headers of an allowed request that do not go out
}

// notApplicable is the verdict on a case that the profile leaves out.
const notApplicable = "not_applicable"

// Judge judges each case that applies by the policy, as of now.
func Judge(cases []Case, policy *capability.Policy, profile Profile, now time.Time) *Report {
	report := &Report{Tool: profile.Tool}
	for i := range cases {
		c := &cases[i]
		result := Result{ID: c.ID, File: c.File, Category: c.Category, Expected: c.Expected}
		if why := profile.excuse(c); why != "" {
			result.Verdict, result.Reason = notApplicable, why
		} else {
			c.judge(policy, now, &result)
		}
		report.add(result)
	}
	return report
}

func (c *Case) judge(policy *capability.Policy, now time.Time, result *Result) {
	r, body, reason := c.Payload.read()
	var d capability.Decision
	if reason == capability.Granted {
		r.Time, r.WebSocket = now, r.WebSocket || c.Input == "websocket_frame"
		d = policy.Decide(r)
		if reason = d.Reason; d.Allowed() && !inspected(d.Allow, r, body) {
			reason = capability.BodyNotGranted
		}
	}
	result.Verdict, result.Reason = Block, string(reason)
	if reason == capability.Granted && d.Allowed() {
		result.Verdict = Allow
		result.Grant, result.Position = d.Grant.Name, d.Allow.Position.String()
		_, result.Stripped = d.Header(r)
	}
}

// inspected reports whether the body passes as the proxy would look at it.
func inspected(a *capability.Allow, r *capability.Request, body []byte) bool {
	if !r.Body.Present || a.Body == nil || a.Body.Inspector == nil {
		return true
	}
	if r.Body.Encoding != "" {
		z, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return false
		}
		if body, err = io.ReadAll(io.LimitReader(z, a.Body.Max+1)); err != nil {
			return false
		}
	}
	if int64(len(body)) > a.Body.Max {
		return false
	}
	_, err := a.Body.Inspector.Inspect(bytes.Clone(body))
	return err == nil
}
