// Package gitproto reads the bodies that git posts to a server of the smart protocol
// over HTTP (gitprotocol-http, gitprotocol-pack and gitprotocol-v2 of the git project)
// and writes them anew.
//
//	body, err := gitproto.Fetch{}.Inspect(sent)
//	if err != nil {
//		return err // not a fetch: nothing goes upstream
//	}
//	upstream(body)
//
// Guarantees: what is returned asks for refs or objects and for nothing else; it holds
// only commands, arguments and capabilities of a closed list, each value within its
// grammar; every line is written by this package. Inspecting it again returns it
// unchanged. What names the client (agent, session-id) is checked and left out.
//
// Non-guarantees: object ids and names of refs are the client's own. A line with an
// object id has 160 or 256 free bits, a name of a ref about 6 for each character, and
// their order is free: the size of the body is what bounds them. Whether the server
// has the objects is not known here.
package gitproto
