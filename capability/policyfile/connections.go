package policyfile

import (
	"time"

	"github.com/hashicorp/hcl/v2"

	"scupper.dev/scupper/capability"
)

// Connections is what the clients of a run may hold of scupper. A zero field was not
// asked for.
type Connections struct {
	HeaderBytes   int64           // of a request
	HeaderCount   int64           // fields of a request
	HeaderTime    time.Duration   // for the head of a request
	URLBytes      int64           // of path and query
	QueryPairs    int64           // of a request
	BodyTime      time.Duration   // over which the rate of a body has to hold until it is answered
	BodyRate      int64           // bytes in a second
	RequestTime   time.Duration   // from the head of a request to the end of its answer
	IdleTime      time.Duration   // of a connection between requests
	HandshakeTime time.Duration   // for TLS
	Handshakes    capability.Rate // of TLS
	Streams       int64           // at once, on one HTTP/2 connection
	Open          int64           // connections at once
	Questions     int64           // to DNS, in the whole run
	QuestionRate  capability.Rate
}

// Upper bounds of what a policy may ask for: more is a mistake, or would be no limit.
const (
	maxHead  = 1 << 20
	maxCount = 1 << 20
)

func (p *parser) connections(b *hcl.Block) {
	content := p.content(b.Body, connectionsBlock)
	c := &p.file.Connections
	for name, to := range map[string]*int64{"header_bytes": &c.HeaderBytes, "url_bytes": &c.URLBytes, "body_rate": &c.BodyRate} {
		if a := content.Attributes[name]; a != nil {
			*to, _ = p.sizeUpTo(a.Expr, maxHead)
		}
	}
	counts := map[string]*int64{
		"header_count": &c.HeaderCount, "query_pairs": &c.QueryPairs, "streams": &c.Streams, "open": &c.Open, "questions": &c.Questions,
	}
	for name, to := range counts {
		if a := content.Attributes[name]; a != nil {
			most := int64(maxCount)
			if name == "query_pairs" {
				most = capability.MaxParameters
			}
			*to, _ = p.integer(a.Expr, most)
		}
	}
	times := map[string]*time.Duration{
		"header_time": &c.HeaderTime, "body_time": &c.BodyTime, "request_time": &c.RequestTime, "idle_time": &c.IdleTime, "handshake_time": &c.HandshakeTime,
	}
	for name, to := range times {
		if a := content.Attributes[name]; a != nil {
			*to, _ = p.duration(a.Expr)
		}
	}
	for name, to := range map[string]*capability.Rate{"handshakes": &c.Handshakes, "question_rate": &c.QuestionRate} {
		if a := content.Attributes[name]; a != nil {
			*to, _ = p.rate(a.Expr)
		}
	}
}
