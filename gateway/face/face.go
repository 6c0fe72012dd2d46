package face

import (
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"scupper.dev/scupper/capability"
	"scupper.dev/scupper/gateway"
)

// Config says how the faces look.
type Config struct {
	Version string   // of scupper
	Hosts   []string // names that requests may be addressed to, beside those of the loopback
	Origins []string // that pages may come from, beside those of the loopback: "https://app.example.com"
}

// Face serves one gateway. It is safe for concurrent use.
type Face struct {
	config  Config
	gateway *gateway.Gateway
	streams *mcp.StreamableHTTPHandler

	bodyTime time.Duration // for a request

	mu      sync.Mutex
	servers map[gateway.Principal]served
}

// served is the server object of a principal and the policy that it was made under.
type served struct {
	policy *capability.Policy
	server *mcp.Server
}

// maxBody is the largest message, in bytes: the largest arguments and what is around
// them.
const maxBody = 9 << 20

// New makes the faces of g.
func New(g *gateway.Gateway, c Config) *Face {
	f := &Face{config: c, gateway: g, servers: make(map[gateway.Principal]served), bodyTime: bodyTime}
	f.streams = mcp.NewStreamableHTTPHandler(f.serverOf, &mcp.StreamableHTTPOptions{
		Stateless: true, PropagateRequestCancellation: true, MaxRequestBodyBytes: maxBody,
		DisableLocalhostProtection: true, // addressed.go is stricter, and comes before
	})
	return f
}

// server is the server object of p: it has the tools that p can call, and no others. It
// is made anew when another policy is in force.
func (f *Face) server(p gateway.Principal) *mcp.Server {
	_, policy := f.gateway.Tools(p)
	f.mu.Lock()
	defer f.mu.Unlock()
	if s, ok := f.servers[p]; ok && s.policy == policy {
		return s.server
	}
	s := f.build(p)
	f.servers[p] = served{policy, s}
	return s
}
