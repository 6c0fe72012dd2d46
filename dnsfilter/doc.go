// Package dnsfilter answers the DNS questions of a sandbox by policy. A granted name
// gets a synthetic address that is its alone for the run; the proxy asks Leases which
// name stands behind an address. Every other name does not exist.
//
//	leases := dnsfilter.NewLeases(0)
//	filter := dnsfilter.New(dnsfilter.Config{Authority: guard, Leases: leases, IPv6: true})
//	go filter.ServeUDP(ctx, conn)
//	go filter.ServeTCP(ctx, listener)
//	...
//	host, ok := leases.Name(original.Addr()) // on the proxy's side
//
// One message is read in identify.go, put to the Authority, and answered in answer.go
// or refused in refuse.go; UDP and TCP differ only in how messages are framed.
//
// Guarantees: nothing is ever sent upstream, for the package cannot dial. Each message
// is judged alone, also when several come in one TCP segment. No bytes of a message
// are passed on; answers are written from the parsed question. Denied names are
// answered NXDOMAIN at once, types other than A and AAAA with no data. An address is
// leased to one name and never to another.
//
// Non-guarantees: whether a granted name exists is not known until the proxy dials.
// localhost and the names of leased addresses are answered without asking the
// Authority. DNS over TLS and over HTTPS is other protocols' traffic and is judged
// there.
package dnsfilter
