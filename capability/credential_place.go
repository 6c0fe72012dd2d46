package capability

import (
	"encoding/base64"
	"net/textproto"
	"slices"
	"strings"
)

// isCredentialHeader reports whether credentials ride in the header with that name,
// in canonical MIME form.
func isCredentialHeader(name string) bool {
	switch name = hyphened(name); name {
	case "Authorization", "Proxy-Authorization", "Cookie", "Cookie2", "X-Api-Key", "Api-Key", "Apikey", "X-Auth-Token",
		"X-Access-Token", "X-Goog-Api-Key", "X-Amz-Security-Token", "Private-Token", "Job-Token", "Deploy-Token",
		"X-Nuget-Apikey", "X-Sentry-Auth", "X-Github-Token", "X-Gitlab-Token", "X-Vault-Token", "X-Csrf-Token", "Npm-Otp", "Otp",
		"X-Authorization", "X-Forwarded-Authorization", "Authentication", "X-Auth", "X-Auth-Key", "X-Auth-Email", "X-Token", "X-Secret",
		"X-Api-Token", "X-Session-Token", "X-Session-Id", "X-Amz-Date-Token", "X-Ms-Token", "Ocp-Apim-Subscription-Key", "X-Functions-Key", "Dpop":
		return true
	}
	for _, end := range credentialEndings {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// hyphened is the header name that CGI and its like take name for: to them an underscore
// is a hyphen.
func hyphened(name string) string {
	if strings.IndexByte(name, '_') < 0 {
		return name
	}
	return textproto.CanonicalMIMEHeaderKey(strings.ReplaceAll(name, "_", "-"))
}

var credentialEndings = [...]string{"-Api-Key", "-Apikey", "-Access-Token", "-Auth-Token", "-Private-Token", "-Secret-Key", "-Access-Key", "-Otp"}

// credentialParameters are the query parameters in which credentials ride, in lower case.
var credentialParameters = [...]string{
	"access_token", "api_key", "apikey", "api-key", "key", "token", "private_token", "job_token", "feed_token", "apitoken", "api_token",
	"sig", "signature", "sentry_key", "awsaccesskeyid", "googleaccessid", "client_secret", "password", "auth", "auth_token",
	"x-amz-credential", "x-amz-signature", "x-amz-security-token", "x-goog-credential", "x-goog-signature", "x-goog-api-key", "x-api-key",
	"authorization", "refresh_token", "id_token", "secret", "session", "sessionid", "jwt",
}

func isCredentialParameter(name string) bool {
	for _, known := range credentialParameters {
		if namesParameter(name, known) {
			return true
		}
	}
	return false
}

// namesParameter reports whether there are origins that take name for that of the
// parameter known, which is in lower case: name[] and name[x] are lists for many.
func namesParameter(name, known string) bool {
	if len(name) > len(known) && name[len(known)] == '[' {
		name = name[:len(known)]
	}
	return len(name) == len(known) && sameParameter(name, known)
}

// carriesKey finds keys in a list of WebSocket subprotocols.
func carriesKey(protocols string) bool {
	lower := strings.ToLower(protocols)
	for _, mark := range [...]string{"key.", "token.", "bearer", "auth", "base64url."} {
		if strings.Contains(lower, mark) {
			return true
		}
	}
	return false
}

// inBase64 is what base64 makes of text inside another, at each alignment and in either
// alphabet, without the characters in which its neighbours have a part.
func inBase64(text string) (out []string) {
	for _, alphabet := range [...]*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			coded := alphabet.EncodeToString([]byte("\x00\x00"[:before] + text))
			out = append(out, coded[(before*8+5)/6:(before+len(text))*8/6])
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func holdsAny(s string, placeholders []string) bool {
	for _, p := range placeholders {
		if len(s) >= len(p) && strings.Contains(s, p) {
			return true
		}
	}
	return false
}

// holdsOnly reports whether value is the placeholder: alone, with what stands around
// it in the policy, behind a scheme (RFC 9110 section 11.4), or as Basic has it.
func holdsOnly(value, placeholder, before, after string) bool {
	if value == placeholder {
		return true
	}
	if len(value) == len(before)+len(placeholder)+len(after) && strings.HasPrefix(value, before) && strings.HasSuffix(value, after) {
		return value[len(before):len(value)-len(after)] == placeholder
	}
	scheme, token, ok := strings.Cut(value, " ")
	if !ok || !isScheme(scheme) {
		return false
	}
	if token == placeholder {
		return true
	}
	user, password, ok := basic(scheme, token)
	return ok && (password == placeholder || user == placeholder && (password == "" || password == "x-oauth-basic"))
}

func isScheme(s string) bool {
	return s != "" && len(s) <= 32 && allOf(s, func(c byte) bool { return isAlnum(c) || c == '-' || c == '_' })
}

// basic takes the credentials of the Basic scheme apart (RFC 7617 section 2).
func basic(scheme, token string) (user, password string, ok bool) {
	if !strings.EqualFold(scheme, "Basic") || len(token) > 4<<10 {
		return "", "", false
	}
	text, err := base64.StdEncoding.DecodeString(token)
	if err != nil {
		return "", "", false
	}
	return strings.Cut(string(text), ":")
}

// bareToken is the credential in the value of a header: what stands behind one of the
// usual schemes, decoded where that is Basic.
func bareToken(value string) string {
	scheme, token, ok := strings.Cut(value, " ")
	if !ok {
		return value
	}
	switch strings.ToLower(scheme) {
	case "bearer", "token":
		return token
	case "basic":
		if user, password, ok := basic(scheme, token); ok {
			return user + ":" + password
		}
	}
	return value
}
