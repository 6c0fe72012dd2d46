package retrial

import "scupper.dev/scupper/capability"

// credential judges what is known of the credentials that r carried by those that c
// admits; f says whether that is sure.
func (t *Trial) credential(r *request, c *capability.Credential, f *finding) capability.Reason {
	if r.keyed {
		return capability.ForeignCredential // or a placeholder in the path: refused in any case
	}
	if r.permitted {
		return t.admitted(r, c, f)
	}
	return t.refused(r, c, f)
}

// admitted: the request carried what the credential of its grant admits, and no more.
func (t *Trial) admitted(r *request, c *capability.Credential, f *finding) capability.Reason {
	if r.allow == nil {
		f.need(Credentials)
		return capability.Granted
	}
	old := &r.allow.grant.Credential
	switch {
	case t.sameCredential(r, old, c) && (!old.Strip || c.Strip):
	case old.Strip:
		f.need(Credentials)
	case old.Mode == capability.Anonymous || old.Mode == capability.Bound && !r.Placeholder:
		ownHeader(c, f)
		return parametersOf(r, c, f)
	case old.Mode == capability.Bound && c.Mode == capability.Anonymous && !c.Strip:
		return capability.PlaceholderMisplaced
	case old.Mode == capability.Bound:
		f.need(Held)
	default:
		f.need(Credentials)
	}
	return capability.Granted
}

// sameCredential reports whether c admits what old admitted. What answers hand out is the
// same when the policies say so in the same way.
func (t *Trial) sameCredential(r *request, old, c *capability.Credential) bool {
	if old.Mode != c.Mode || old.Name != c.Name || old.Place != c.Place || old.Pin != c.Pin {
		return false
	}
	return c.Mode != capability.HandedOut || r.under != nil && r.under.issues == t.issues
}

// ownHeader: a header that is no credential's by its name may have been in the request,
// and is now the place of one.
func ownHeader(c *capability.Credential, f *finding) {
	anonymous := capability.Credential{Mode: capability.Anonymous}
	for _, name := range [...]string{c.Place.Header(), c.Place.Also} {
		if c.Mode == capability.Bound && !c.Strip && name != "" && !anonymous.InTrailer(name) {
			f.need(Credentials)
		}
	}
}

// refused: the record lists the credentials that the nearest grant did not bind.
func (t *Trial) refused(r *request, c *capability.Credential, f *finding) capability.Reason {
	exact := c.Mode == capability.Anonymous || c.Mode == capability.Bound
	for _, found := range r.Foreign {
		switch in := capability.Where(found.In); {
		case in == capability.InPath, in == capability.InTrailer && c.InTrailer(found.Name):
			return capability.ForeignCredential
		case c.Strip || in == capability.InTrailer || in == capability.InHeader && !c.InTrailer(found.Name):
		case in == capability.InQuery && !c.InParameter(found.Name):
		case exact:
			return capability.ForeignCredential
		default:
			f.need(Credentials)
		}
	}
	if r.Placeholder {
		if c.Mode == capability.Anonymous && !c.Strip {
			return capability.PlaceholderMisplaced
		}
		f.need(Held)
	}
	if reason := parametersOf(r, c, f); reason != capability.Granted {
		return reason
	}
	if len(r.Foreign) >= foreign || !c.Strip && !r.listed() {
		f.need(Credentials)
	}
	ownHeader(c, f)
	return capability.Granted
}

// parametersOf judges credentials in the query by their names.
func parametersOf(r *request, c *capability.Credential, f *finding) capability.Reason {
	for _, p := range r.Query {
		if c.Strip || !c.InParameter(p.Name) {
			continue
		}
		if !r.Placeholder && (c.Mode == capability.Anonymous || c.Mode == capability.Bound) {
			return capability.ForeignCredential
		}
		f.need(Credentials)
	}
	return capability.Granted
}

// listed reports whether the list of foreign credentials has all that were there: what the
// old grants of the host took as pinned or handed out is not in it.
func (r *request) listed() bool {
	if r.under == nil {
		return false
	}
	for _, g := range r.under.file.Policy.Grants() {
		brought := g.Credential.Mode == capability.Pinned || g.Credential.Mode == capability.HandedOut
		if brought && g.Host.Match(capability.Host(r.Host)) {
			return false
		}
	}
	return true
}
