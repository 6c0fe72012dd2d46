package main

import (
	"fmt"
	"strconv"
	"time"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/capability/policyfile"
	"scupper.dev/scupper/sandbox"
)

// byteSize is a flag in bytes, written as in a policy: 256MiB.
type byteSize uint64

// UnmarshalText reads a size.
func (b *byteSize) UnmarshalText(text []byte) error {
	n, err := policyfile.Size(string(text))
	*b = byteSize(n)
	return err
}

// cpuCount is a flag in processors, which need not be whole.
type cpuCount float64

// UnmarshalText reads a number of processors.
func (c *cpuCount) UnmarshalText(text []byte) error {
	n, err := strconv.ParseFloat(string(text), 64)
	if err != nil || !policyfile.ValidCPUs(n) {
		return fmt.Errorf("%q is not a number of processors: write 2, or 0.5", text)
	}
	*c = cpuCount(n)
	return nil
}

// span is a flag in time, of a second or more.
type span time.Duration

// UnmarshalText reads a duration.
func (s *span) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	if err != nil || d < time.Second {
		return fmt.Errorf("%q is not a time of a second or more: write 90s, 30m, or 1h30m", text)
	}
	*s = span(d)
	return nil
}

// useConnections puts what the policy says of connections into config.
func useConnections(config *sandbox.Config, c policyfile.Connections) {
	config.Questions, config.QuestionRate = c.Questions, c.QuestionRate
	config.Limits = sandbox.ConnectionLimits{
		HeaderBytes: int(c.HeaderBytes), HeaderCount: int(c.HeaderCount), URLBytes: int(c.URLBytes), QueryPairs: int(c.QueryPairs),
		Streams: int(c.Streams), Connections: int(c.Open), Handshakes: c.Handshakes, Handshake: c.HandshakeTime, Header: c.HeaderTime,
		BodyTime: c.BodyTime, BodyRate: int(c.BodyRate), Request: c.RequestTime, Idle: c.IdleTime,
	}
}

// limits are what the policy asks for, and above it the operator's word.
func (c *RunCmd) limits(p policyfile.Sandbox) sandbox.Limits {
	l := sandbox.Limits{
		Memory: uint64(p.Memory), CPUs: p.CPUs, Processes: uint64(p.Processes), Time: p.Time, Scratch: uint64(p.Scratch), Output: uint64(p.Output),
	}
	if c.Memory > 0 {
		l.Memory = uint64(c.Memory)
	}
	if c.CPUs > 0 {
		l.CPUs = float64(c.CPUs)
	}
	if c.Processes > 0 {
		l.Processes = uint64(c.Processes)
	}
	if c.Time > 0 {
		l.Time = time.Duration(c.Time)
	}
	return l
}

// useAudit puts what the policy says of the log into config. No sandbox gets what heads
// are left in.
func useAudit(config *sandbox.Config, a policyfile.Audit) {
	config.Audit.Durability = audit.Durability(a.Durability)
	config.Audit.WriteTimeout, config.Audit.UnavailableAfter, config.Audit.AnchorEvery = a.WriteTime, a.Unavailable, a.Every
	for _, anchor := range a.Anchors {
		config.Audit.Anchors = append(config.Audit.Anchors, audit.Anchor(anchor))
		if anchor.File != "" {
			config.Cage.Forbidden = append(config.Cage.Forbidden, anchor.File)
		}
	}
}
