// Package netns builds the network of one sandbox: a Linux network namespace that has only the loopback device, in which every address there
// is leads to listeners of ours and nothing leads anywhere else.
//
// A re-executed child, already inside fresh user, network and mount namespaces, calls Setup and hands the sockets to its parent; the parent, which
// never enters the namespace, serves them:
//
//	// child
//	made, err := netns.Setup(netns.Config{Ports: []uint16{80, 443}})
//	if err != nil { ... }
//	err = made.Send(conn) // SCM_RIGHTS over a SOCK_SEQPACKET socket
//
//	// parent
//	n, oobn, flags, _, err := unix.Recvmsg(conn, message, oob, unix.MSG_CMSG_CLOEXEC)
//	sockets, err := netns.Parse(message[:n], oob[:oobn], flags)
//	for _, l := range sockets.TCP { go serve(l) } // Accept: LocalAddr is where the client wanted to go
//	for { p, err := sockets.Packets.Next() }      // what nobody serves
//
// Guarantees: TCP to a configured port and TCP and UDP to port 53 of any address reach our sockets, even when a process inside has bound the same
// address and port; TCP to any other port is reset at once and logged; UDP to any other port is logged and answered with port unreachable; all other
// protocols are logged and dropped; every packet that is logged is delivered or counted as lost. Without nftables and its tproxy Setup fails.
//
// Non-guarantees: traffic to 127.0.0.0/8, ::1 and the sandbox's own two addresses is the sandbox talking to itself, neither caught nor logged. A
// process with CAP_NET_ADMIN over the namespace can undo all of it: whoever runs there must have dropped it. Datagrams to multicast and broadcast
// addresses are logged but get no error back. The number of messages lost at the very end of a flood is a lower bound.
package netns
