package policyfile

import "github.com/hashicorp/hcl/v2"

// shape is what may stand in a block.
type shape struct {
	attributes []string
	blocks     []string
	labelled   []string // blocks with a name
}

var (
	topLevel         = shape{attributes: []string{"version", "best_effort", "environment", "protected"}, blocks: []string{"upstream", "sandbox", "connections", "inspect", "audit"}, labelled: []string{"grant", "use", "role", "credential", "tool", "caller"}}
	upstreamBlock    = shape{attributes: []string{"resolver", "ca", "proxy"}, blocks: []string{"proxy_credential"}}
	proxyBlock       = shape{attributes: []string{"user", "user_env", "password_env", "password_file"}}
	sandboxBlock     = shape{attributes: []string{"memory", "cpus", "processes", "time", "scratch", "output"}}
	connectionsBlock = shape{attributes: []string{
		"header_bytes", "header_count", "header_time", "url_bytes", "query_pairs", "body_time", "body_rate", "request_time", "idle_time",
		"handshake_time", "handshakes", "streams", "open", "questions", "question_rate",
	}}
	toolBlock = shape{
		attributes: []string{"version", "title", "description", "level", "owner", "input", "output", "calls", "timeout", "max_output", "disabled", "approval", "deny_commands"},
		blocks:     []string{"inspect"},
	}
	inspectBlock = shape{attributes: []string{"exec", "http", "deadline", "on_failure"}}
	callerBlock  = shape{attributes: []string{"token_sha256", "role"}}

	auditBlock  = shape{attributes: []string{"durability", "write_time", "unavailable_time", "every"}, blocks: []string{"anchor"}}
	anchorBlock = shape{attributes: []string{"file", "http", "syslog", "required"}}
	roleBlock   = shape{attributes: []string{"grants", "tools", "writes"}}
	grantBlock  = shape{
		attributes: []string{"reason", "owner", "expires", "host", "port", "scheme", "credential", "networks", "foreign"},
		blocks:     []string{"allow", "limits", "git", "derive"},
	}
	allowBlock  = shape{attributes: []string{"methods", "path", "where", "query", "headers", "body", "websocket"}, blocks: []string{"body", "issues"}}
	bodyBlock   = shape{attributes: []string{"type", "max", "coding", "schema", "form", "parts", "inspect"}}
	limitsBlock = shape{attributes: []string{"requests", "upload", "download", "rate", "misses", "names"}}
)

func (h shape) schema() *hcl.BodySchema {
	schema := &hcl.BodySchema{}
	for _, name := range h.attributes {
		schema.Attributes = append(schema.Attributes, hcl.AttributeSchema{Name: name})
	}
	for _, t := range h.blocks {
		schema.Blocks = append(schema.Blocks, hcl.BlockHeaderSchema{Type: t})
	}
	for _, t := range h.labelled {
		schema.Blocks = append(schema.Blocks, hcl.BlockHeaderSchema{Type: t, LabelNames: []string{"name"}})
	}
	return schema
}

// firstOf is the first block of a type, nil where there is none.
func firstOf(blocks hcl.Blocks, kind string) *hcl.Block {
	for _, b := range blocks {
		if b.Type == kind {
			return b
		}
	}
	return nil
}

// content takes a block apart; what does not belong there is reported, with the name
// that was probably meant.
func (s *source) content(body hcl.Body, h shape) *hcl.BodyContent {
	content, diags := body.Content(h.schema())
	s.adopt(diags)
	return content
}
