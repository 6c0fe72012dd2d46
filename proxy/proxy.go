package proxy

import (
	"context"
	"crypto/tls"
	"net"
	"runtime"
	"sync"

	"golang.org/x/sync/semaphore"

	"scupper.dev/scupper/capability"
)

// A Proxy enforces one policy for one run. Connections upstream and TLS sessions are
// never shared with another Proxy.
type Proxy struct {
	cfg        Config
	pools      *pools
	issued     *issued
	live       *live
	slots      chan struct{} // one for each connection that may be open
	crowded    chan struct{} // one for each over that number that is being answered
	handshakes *capability.Bucket
	buffers    *sync.Pool
	held       *semaphore.Weighted // for bodies under inspection
	turns      *semaphore.Weighted // of inspectors, whose memory is a multiple of the body's
	tls        *tls.Config
	refusing   *tls.Config
}

// New makes a Proxy. It fails when a required field of cfg is missing: without a CA
// there is no proxy at all rather than one that tunnels.
func New(cfg Config) (*Proxy, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	p := &Proxy{
		cfg: cfg, pools: newPools(cfg), issued: newIssued(), live: newLive(), buffers: newBuffers(),
		held: semaphore.NewWeighted(int64(cfg.Limits.Held)), turns: semaphore.NewWeighted(int64(runtime.GOMAXPROCS(0))),
	}
	p.slots, p.handshakes = make(chan struct{}, cfg.Limits.Connections), capability.NewBucket(cfg.Limits.Handshakes)
	p.crowded = make(chan struct{}, doorstep)
	p.tls, p.refusing = p.serverTLS(), refusingTLS()
	return p, nil
}

// ServeTransparent serves connections that were caught on their way elsewhere: the
// local address of each is where the client wanted to go. It closes ln and returns
// when ctx ends, after a short grace for live requests.
func (p *Proxy) ServeTransparent(ctx context.Context, ln net.Listener) error {
	return p.newFront(capability.Transparent).serve(ctx, ln)
}

// ServeExplicit serves clients that use scupper as their HTTP proxy: absolute-form
// requests and CONNECT, over HTTP/1.1. It ends as ServeTransparent does.
func (p *Proxy) ServeExplicit(ctx context.Context, ln net.Listener) error {
	return p.newFront(capability.Explicit).serve(ctx, ln)
}
