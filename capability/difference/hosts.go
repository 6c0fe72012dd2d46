package difference

import (
	"slices"
	"strings"

	"scupper.dev/scupper/capability"
)

// hosts is a set of host names: some by name, or one label under a name.
type hosts struct {
	names  []string
	under  string   // "example.com" for *.example.com; empty: none
	except []string // names under it
}

func hostsOf(g *capability.Grant, others []*capability.Grant) hosts {
	if !g.Host.Wildcard {
		return hosts{names: []string{string(g.Host.Name)}}
	}
	h := hosts{under: string(g.Host.Name)}
	for _, o := range others {
		// A name that another grant speaks to in another way on the port is not the wildcard's.
		if !o.Host.Wildcard && o.Port == g.Port && o.Scheme != g.Scheme && g.Host.Match(o.Host.Name) {
			h.except = append(h.except, string(o.Host.Name))
		}
	}
	slices.Sort(h.except)
	h.except = slices.Compact(h.except)
	return h
}

func (h hosts) has(name string) bool {
	if slices.Contains(h.names, name) {
		return true
	}
	if h.under == "" || slices.Contains(h.except, name) {
		return false
	}
	return capability.HostPattern{Name: capability.Host(h.under), Wildcard: true}.Match(capability.Host(name))
}

func (h hosts) minus(_ *comparison, other set) (set, relation) {
	o, ok := other.(hosts)
	if !ok {
		return h, partly
	}
	rest := hosts{names: slices.DeleteFunc(slices.Clone(h.names), o.has)}
	switch {
	case h.under == "":
	case h.under == o.under:
		rest.names = append(rest.names, slices.DeleteFunc(slices.Clone(o.except), func(n string) bool { return !h.has(n) })...)
	default:
		rest.under, rest.except = h.under, slices.Clone(h.except)
		for _, n := range o.names {
			if h.has(n) && !slices.Contains(h.names, n) {
				rest.except = append(rest.except, n)
			}
		}
		slices.Sort(rest.except)
	}
	switch {
	case rest.key() == h.key():
		return h, apart
	case len(rest.names) == 0 && rest.under == "":
		return nil, covered
	}
	return rest, partly
}

func (h hosts) key() string { return h.String() }

func (h hosts) String() string {
	all := slices.Clone(h.names)
	if h.under != "" {
		all = append(all, "*."+h.under)
	}
	s := strings.Join(all, ", ")
	if len(h.except) > 0 {
		s += " without " + strings.Join(h.except, ", ")
	}
	return s
}

func (h hosts) unsure() bool { return false }

// example is one of the hosts.
func (h hosts) example() string {
	if len(h.names) > 0 {
		return h.names[0]
	}
	label := "a"
	for slices.Contains(h.except, label+"."+h.under) {
		label += "a"
	}
	return label + "." + h.under
}
