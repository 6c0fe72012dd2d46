package netns

import (
	"errors"
	"fmt"
)

// ErrUnsupported is wrapped by every error of Setup that means the kernel lacks a part the namespace cannot do without.
var ErrUnsupported = errors.New("the kernel cannot do this")

// Config says what the namespace serves.
type Config struct {
	// Ports are the TCP ports whose connections reach the transparent listeners, whatever the address. The caller includes 80 and 443.
	Ports []uint16
}

// Made is a namespace that is ready, seen from inside: the sockets to hand over.
type Made struct {
	files []namedFile
	ipv6  bool
}

// Setup configures the network namespace of the calling process, which must hold CAP_NET_ADMIN over it, and opens the sockets. It belongs into a
// process of its own: it changes the namespace of the whole process and leaves it unusable when it fails.
func Setup(c Config) (*Made, error) {
	ipv6, err := setupLinks()
	if err != nil {
		return nil, err
	}
	if err := silenceEcho(ipv6); err != nil {
		return nil, err
	}
	made := &Made{ipv6: ipv6}
	// Sockets come before rules: there is no moment at which a rule diverts to a socket that is not there.
	if err := made.openSockets(); err != nil {
		return nil, errors.Join(err, made.Close())
	}
	if err := installRules(c.Ports, ipv6); err != nil {
		return nil, errors.Join(err, made.Close())
	}
	return made, nil
}

// IPv6 reports whether the namespace has IPv6; where the kernel has it switched off, it has not, and IPv6 connections fail at once.
func (m *Made) IPv6() bool { return m.ipv6 }

// Close closes this process's copies of the sockets.
func (m *Made) Close() error {
	var errs []error
	for _, f := range m.files {
		errs = append(errs, f.file.Close())
	}
	m.files = nil
	return errors.Join(errs...)
}

func unsupported(doing string, err error) error {
	return fmt.Errorf("%s: %w: %w", doing, ErrUnsupported, err)
}
