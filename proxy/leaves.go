package proxy

import (
	"container/list"
	"crypto/tls"
	"sync"

	"scupper.dev/scupper/capability"
)

// leaves keeps the certificates used last.
type leaves struct {
	mu    sync.Mutex
	max   int
	order *list.List // of *leafEntry, the latest first
	byKey map[capability.Host]*list.Element
}

type leafEntry struct {
	host capability.Host
	cert *tls.Certificate
}

func newLeaves(most int) *leaves {
	return &leaves{max: most, order: list.New(), byKey: make(map[capability.Host]*list.Element)}
}

// get is the certificate for host, nil when there is none.
func (c *leaves) get(host capability.Host) *tls.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[host]
	if !ok {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(*leafEntry).cert
}

func (c *leaves) put(host capability.Host, cert *tls.Certificate) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byKey[host]; ok {
		e.Value.(*leafEntry).cert = cert
		return
	}
	c.byKey[host] = c.order.PushFront(&leafEntry{host, cert})
	if c.order.Len() > c.max {
		last := c.order.Remove(c.order.Back()).(*leafEntry)
		delete(c.byKey, last.host)
	}
}
