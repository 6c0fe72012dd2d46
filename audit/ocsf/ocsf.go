// Package ocsf writes records of the audit log as events of the Open Cybersecurity
// Schema Framework, version 1.9 (schema.ocsf.io), for systems that collect such.
//
//	m := ocsf.NewMapper(version)
//	for line, err := range audit.Lines(dir, run) {
//		...
//		encoder.Encode(m.Event(line, proofs.of(line)))
//	}
//
// Requests are HTTP Activity (4002), questions DNS Activity (4003), connections and
// packets Network Activity (4001), tool calls API Activity (6003), and what happens to
// the run Application Lifecycle (6002). One record is one event. What OCSF has no place
// for is in unmapped, under the names that the log has for it.
//
// Guarantees: every attribute that a class requires is there. raw_data is the record's
// line, byte for byte, so that its leaf hash and with it unmapped.proof can be checked
// from the event alone.
//
// Non-guarantees: the severity is a judgement, of the kind of refusal and not of what
// was meant by it. The request that belongs to an outcome is found again only while both
// are within a bounded distance.
package ocsf

import "encoding/json"

// SchemaVersion is the version of the schema that events are written in.
const SchemaVersion = "1.9.0"

// Event is one event. Which fields are set depends on its class.
type Event struct {
	ClassUID     int    `json:"class_uid"`
	ClassName    string `json:"class_name"`
	CategoryUID  int    `json:"category_uid"`
	CategoryName string `json:"category_name"`
	ActivityID   int    `json:"activity_id"`
	ActivityName string `json:"activity_name"`
	TypeUID      int    `json:"type_uid"`
	TypeName     string `json:"type_name"`

	Time       int64    `json:"time"` // milliseconds since 1970
	SeverityID int      `json:"severity_id"`
	Severity   string   `json:"severity"`
	StatusID   int      `json:"status_id"`
	Status     string   `json:"status"`
	StatusCode string   `json:"status_code,omitempty"`
	Detail     string   `json:"status_detail,omitempty"`
	Message    string   `json:"message,omitempty"`
	Count      int64    `json:"count,omitempty"`
	Metadata   Metadata `json:"metadata"`

	ActionID      int    `json:"action_id,omitempty"`
	Action        string `json:"action,omitempty"`
	DispositionID int    `json:"disposition_id,omitempty"`
	Disposition   string `json:"disposition,omitempty"`
	Policy        *Named `json:"policy,omitempty"`
	FirewallRule  *Rule  `json:"firewall_rule,omitempty"`

	Actor          *Actor          `json:"actor,omitempty"`
	API            *API            `json:"api,omitempty"`
	App            *Product        `json:"app,omitempty"`
	Source         *Endpoint       `json:"src_endpoint,omitempty"`
	Destination    *Endpoint       `json:"dst_endpoint,omitempty"`
	ConnectionInfo *ConnectionInfo `json:"connection_info,omitempty"`
	Query          *Query          `json:"query,omitempty"`
	Request        *Request        `json:"http_request,omitempty"`
	Response       *Response       `json:"http_response,omitempty"`
	Traffic        *Traffic        `json:"traffic,omitempty"`

	RawData     string                     `json:"raw_data"`
	RawDataHash Fingerprint                `json:"raw_data_hash"`
	Unmapped    map[string]json.RawMessage `json:"unmapped,omitempty"`
}

// Metadata says where an event comes from.
type Metadata struct {
	Version          string   `json:"version"`
	Product          Product  `json:"product"`
	Profiles         []string `json:"profiles"`
	UID              string   `json:"uid"`
	OriginalEventUID string   `json:"original_event_uid"`
	CorrelationUID   string   `json:"correlation_uid,omitempty"` // the decision
	EventCode        string   `json:"event_code"`
	LogName          string   `json:"log_name"` // the run
	LogVersion       string   `json:"log_version"`
	OriginalTime     string   `json:"original_time"`
	Sequence         int64    `json:"sequence"`
}

// Product is a software product.
type Product struct {
	Name       string `json:"name"`
	VendorName string `json:"vendor_name"`
	Version    string `json:"version,omitempty"`
}

// Named is a policy, or whatever else has a name and an identifier.
type Named struct {
	Name string `json:"name,omitempty"`
	UID  string `json:"uid,omitempty"`
}

// Rule is the grant that decided, or the nearest.
type Rule struct {
	Name         string   `json:"name"`
	UID          string   `json:"uid,omitempty"` // where it stands
	MatchDetails []string `json:"match_details,omitempty"`
}

// Actor is who acts: the command in the sandbox, in the name of a user.
type Actor struct {
	User Named `json:"user"`
}

// API is the operation that a tool call is.
type API struct {
	Operation string `json:"operation"`
	Version   string `json:"version,omitempty"`
	Service   *Named `json:"service,omitempty"`
}

// Endpoint is one side of a connection.
type Endpoint struct {
	Name     string `json:"name,omitempty"`
	UID      string `json:"uid,omitempty"`
	Hostname string `json:"hostname,omitempty"`
	IP       string `json:"ip,omitempty"`
	Port     uint16 `json:"port,omitempty"`
}

// ConnectionInfo is the direction and the protocol.
type ConnectionInfo struct {
	DirectionID  int    `json:"direction_id"`
	Direction    string `json:"direction"`
	ProtocolName string `json:"protocol_name,omitempty"`
	ProtocolNum  int    `json:"protocol_num,omitempty"`
}

// Query is a question to DNS.
type Query struct {
	Hostname string `json:"hostname"`
	Type     string `json:"type,omitempty"`
	Class    string `json:"class"`
}

// Request is an HTTP request.
type Request struct {
	UID     string `json:"uid,omitempty"`
	Method  string `json:"http_method"`
	Version string `json:"version,omitempty"`
	Length  int64  `json:"length,omitempty"` // of the body
	URL     URL    `json:"url"`
}

// URL is what was asked for. Values of the query stand as the log has them.
type URL struct {
	String   string `json:"url_string"`
	Scheme   string `json:"scheme,omitempty"`
	Hostname string `json:"hostname,omitempty"`
	Port     uint16 `json:"port,omitempty"`
	Path     string `json:"path,omitempty"`
	Query    string `json:"query_string,omitempty"`
}

// Response is the answer to a request.
type Response struct {
	Code    int   `json:"code"`
	Latency int64 `json:"latency,omitempty"` // milliseconds
	Length  int64 `json:"length,omitempty"`
}

// Traffic is what passed.
type Traffic struct {
	BytesIn  int64 `json:"bytes_in"`
	BytesOut int64 `json:"bytes_out"`
	Bytes    int64 `json:"bytes"`
}

// Fingerprint is a hash.
type Fingerprint struct {
	AlgorithmID int    `json:"algorithm_id"`
	Algorithm   string `json:"algorithm"`
	Value       string `json:"value"`
}

// Proof shows that a record is in the log that a head signs (RFC 6962, section 2.1.1).
// Hashes are SHA-256 in base64.
type Proof struct {
	State     string   `json:"state"`                 // verified, not verified or failed
	Why       string   `json:"why,omitempty"`         // when it is not verified
	LeafIndex int64    `json:"leaf_index"`            // of the record, from 0
	LeafHash  string   `json:"leaf_hash"`             // over a zero byte and raw_data
	TreeSize  int64    `json:"tree_size,omitempty"`   // of the head
	Inclusion []string `json:"inclusion,omitempty"`   // hashes that lead from the leaf to the root
	Head      string   `json:"signed_head,omitempty"` // a signed note (golang.org/x/mod/sumdb/note)
}
