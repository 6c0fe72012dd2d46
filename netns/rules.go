package netns

import (
	"fmt"

	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
)

// packetBytes is how much of a packet is logged: both headers and the beginning of what follows.
const packetBytes = 160

// ruleset collects the rules of one family-independent table.
type ruleset struct {
	conn  *nftables.Conn
	table *nftables.Table
	chain *nftables.Chain
	ports *nftables.Set
	ipv6  bool
}

// installRules sends the whole table in one transaction.
//
// All is decided in prerouting: tproxy works nowhere else, and behind it the routing code drops some packets without a trace, for instance multicast
// that nobody joined. Rejecting there needs Linux 5.9. What is not diverted for whatever reason, for instance because a listener of ours is gone, goes
// on to the rules that refuse and is never delivered to a socket of the sandbox.
func installRules(ports []uint16, ipv6 bool) error {
	conn, err := nftables.New()
	if err != nil {
		return unsupported("open nftables", err)
	}
	r := &ruleset{conn: conn, ipv6: ipv6}
	r.addTable()
	if err := r.addPorts(ports); err != nil {
		return err
	}
	r.exemptOwn()
	r.divert()
	r.refuse()
	if err := conn.Flush(); err != nil {
		return unsupported("install nftables rules with tproxy, reject and log", err)
	}
	return nil
}

func (r *ruleset) addTable() {
	accept := nftables.ChainPolicyAccept
	r.table = r.conn.AddTable(&nftables.Table{Family: nftables.TableFamilyINet, Name: "scupper"})
	r.chain = r.conn.AddChain(&nftables.Chain{Name: "judge", Table: r.table, Type: nftables.ChainTypeFilter,
		Hooknum: nftables.ChainHookPrerouting, Priority: nftables.ChainPriorityMangle, Policy: &accept})
}

func (r *ruleset) addPorts(ports []uint16) error {
	r.ports = &nftables.Set{Table: r.table, Name: "ports", KeyType: nftables.TypeInetService}
	seen := make(map[uint16]bool, len(ports))
	var elements []nftables.SetElement
	for _, p := range ports {
		if !seen[p] && p != dnsPort {
			seen[p] = true
			elements = append(elements, nftables.SetElement{Key: binaryutil.BigEndian.PutUint16(p)})
		}
	}
	if err := r.conn.AddSet(r.ports, elements); err != nil {
		return fmt.Errorf("make set of %d ports: %w", len(elements), err)
	}
	return nil
}

// exemptOwn lets the sandbox talk to itself, so that its development servers work.
func (r *ruleset) exemptOwn() {
	for _, f := range r.families() {
		r.add(f.only(), f.to(f.sandbox), accept())
		r.add(f.only(), f.to(f.loopback), accept())
	}
}

// divert gives our sockets what is theirs.
func (r *ruleset) divert() {
	for _, f := range r.families() {
		dns := []expr.Any{immediate(2, binaryutil.BigEndian.PutUint16(dnsPort)), tproxy(f, 0)}
		for _, proto := range []byte{unix.IPPROTO_TCP, unix.IPPROTO_UDP} {
			r.add(f.only(), l4(proto), destinationPort(dnsPort), dns, accept())
		}
		proxy := []expr.Any{immediate(1, f.gateway), immediate(2, binaryutil.BigEndian.PutUint16(transparentPort)), tproxy(f, 1)}
		inSet := []expr.Any{transport(2, 2), &expr.Lookup{SourceRegister: 1, SetName: r.ports.Name, SetID: r.ports.ID}}
		r.add(f.only(), l4(unix.IPPROTO_TCP), inSet, proxy, accept())
		r.add(f.only(), f.to(f.gateway), l4(unix.IPPROTO_TCP), destinationPort(ExplicitPort), accept())
		// The kernel's own errors, such as the port unreachable that ends a refused datagram at once. Nothing inside can send one itself.
		r.add(f.only(), l4(f.icmp), []expr.Any{transport(0, 1), equal([]byte{f.unreachable})}, accept())
	}
}

// refuse ends everything else, with a record.
func (r *ruleset) refuse() {
	// Only a first SYN is refused: a client may have chosen any address as its source, and our listener's replies go there.
	syn := []expr.Any{transport(13, 1), &expr.Bitwise{SourceRegister: 1, DestRegister: 1, Len: 1, Mask: []byte{0x17}, Xor: []byte{0}}, equal([]byte{0x02})}
	r.add(l4(unix.IPPROTO_TCP), syn, log(), []expr.Any{&expr.Reject{Type: unix.NFT_REJECT_TCP_RST}})
	r.add(l4(unix.IPPROTO_TCP), accept())
	// Port 53 cannot be bound inside (it is below ip_unprivileged_port_start), so this is our own answer.
	r.add(l4(unix.IPPROTO_UDP), []expr.Any{transport(0, 2), equal(binaryutil.BigEndian.PutUint16(dnsPort))}, accept())
	// No verdict of ours: the kernel answers port unreachable, or a socket of the sandbox gets what the sandbox sent.
	r.add(l4(unix.IPPROTO_UDP), log(), accept())
	r.add(log(), []expr.Any{&expr.Verdict{Kind: expr.VerdictDrop}})
}

func (r *ruleset) add(parts ...[]expr.Any) {
	var all []expr.Any
	for _, p := range parts {
		all = append(all, p...)
	}
	r.conn.AddRule(&nftables.Rule{Table: r.table, Chain: r.chain, Exprs: all})
}
