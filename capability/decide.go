package capability

// Decide judges r. It is pure and safe for concurrent use: the answer depends on the
// policy and on r, its time included, and on nothing else. It has no error; what
// cannot be judged is denied.
func (p *Policy) Decide(r *Request) Decision {
	switch r.Kind {
	case KindPacket:
		return Deny(packetReason(r))
	case KindTool:
		return p.decideTool(r)
	}
	exact, under := p.lookup(r.Host)
	if exact == nil && under == nil {
		return Deny(unknownHost(r))
	}
	switch r.Kind {
	case KindName:
		return decideName(r, exact, under)
	case KindConnect:
		return decideConnect(r, exact, under)
	case KindHTTP:
		return p.decideHTTP(r, exact, under)
	}
	return Deny(Undecided)
}

// packetReason tells a TCP port that no grant uses from a protocol that none can.
func packetReason(r *Request) Reason {
	switch {
	case IsMetadata(r.Address):
		return MetadataAddress
	case r.Protocol == "tcp":
		return PortNotGranted
	}
	return ProtocolNotGranted
}

// unknownHost tells an address that nobody granted from a name that nobody granted.
// Metadata services have their own reason, so that a reader of the log sees who tries.
func unknownHost(r *Request) Reason {
	addr, literal := r.Host.Addr()
	switch {
	case literal && IsMetadata(addr):
		return MetadataAddress
	case literal || r.Host == "":
		return AddressNotGranted
	}
	return NoGrant
}

// decideName: a name may be resolved when some grant that still holds names it.
func decideName(r *Request, exact, under *endpoints) Decision {
	d := Deny(NoGrant)
	for _, h := range [...]*endpoints{exact, under} {
		if h == nil {
			continue
		}
		if !h.until.expired(r.Time) {
			return Decision{Reason: Granted, Grant: h.until, allowed: true}
		}
		d = Decision{Reason: GrantExpired, Grant: h.until}
	}
	return d
}

// decideConnect: a connection may be opened to a granted port; what is asked on it is
// judged request by request.
func decideConnect(r *Request, exact, under *endpoints) Decision {
	d := Deny(PortNotGranted)
	for _, h := range [...]*endpoints{exact, under} {
		if h == nil {
			continue
		}
		if e := h.at(r.Port); e != nil {
			return Decision{Reason: Granted, Grant: e.grant, allowed: true}
		}
		d.Grant = h.first
	}
	return d
}

func (p *Policy) decideHTTP(r *Request, exact, under *endpoints) Decision {
	if !r.Path.Valid() {
		return Deny(MalformedPath)
	}
	d := Deny(PortNotGranted)
	for _, h := range [...]*endpoints{exact, under} {
		if h == nil {
			continue
		}
		if d.Grant == nil {
			d.Grant = h.first
		}
		e := h.at(r.Port)
		if e == nil {
			continue
		}
		if e.scheme != r.Scheme {
			return Decision{Reason: ProtocolNotGranted, Grant: e.grant}
		}
		w := walk{req: r, held: p.spelt, best: Decision{Reason: PathNotGranted, Grant: e.grant}}
		if w.visit(&e.root, 0) {
			return w.best
		}
		if d.Reason == PortNotGranted || w.rank > 0 {
			d = w.best
		}
	}
	return d
}
