package proxy

import (
	"net/http"
	"strings"

	"scupper.dev/scupper/capability"
)

// The limits of connections, as policies and records name them.
const (
	limitHeaderBytes = "header_bytes"
	limitHeaderCount = "header_count"
	limitHeaderTime  = "header_time"
	limitURL         = "url_bytes"
	limitQuery       = "query_pairs"
	limitBody        = "body_time"
	limitRequest     = "request_time"
	limitHandshakes  = "handshakes"
	limitConnections = "open"
	limitStreams     = "streams"
)

// statusOver answers what exceeds a limit of connections; 0: the reason says it.
func statusOver(limit string) int {
	switch limit {
	case limitHeaderBytes, limitHeaderCount:
		return http.StatusRequestHeaderFieldsTooLarge
	case limitURL, limitQuery:
		return http.StatusRequestURITooLong
	case limitHeaderTime, limitBody, limitRequest:
		return http.StatusRequestTimeout
	}
	return 0
}

// tooLarge is a head over limit.
func tooLarge(limit string) violation {
	return violation{reason: capability.MalformedRequest, limit: limit}
}

// tooSlow is a request over a limit of time.
func tooSlow(limit string) *failure {
	f := denied(capability.TooSlow)
	f.limit = limit
	return f
}

// overLong holds the target of a request to its limits.
func (l *Limits) overLong(req *capability.Request, target string) capability.Reason {
	_, query, _ := strings.Cut(target, "?")
	switch {
	case len(target) > l.URLBytes || len(query) > capability.MaxQuery:
		req.Limit = limitURL
		return capability.MalformedPath
	case strings.Count(query, "&") >= l.QueryPairs:
		req.Limit = limitQuery
		return capability.MalformedQuery
	}
	return capability.Granted
}
