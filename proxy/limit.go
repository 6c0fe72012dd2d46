package proxy

import (
	"net/http"

	"scupper.dev/scupper/capability"
)

// The limits of connections, as policies and records name them.
const (
	limitHeaderBytes = "header_bytes"
	limitHeaderCount = "header_count"
	limitHeader      = "header_time"
)

// tooLarge is a head over limit.
func tooLarge(limit string) violation {
	return violation{reason: capability.MalformedRequest, status: http.StatusRequestHeaderFieldsTooLarge, limit: limit}
}
