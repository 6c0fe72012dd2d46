package ocsf

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"scupper.dev/scupper/audit"
	"scupper.dev/scupper/capability"
)

// maxPending is of how many decisions at most it is known what later records belong to.
const maxPending = 16384

// Mapper makes events of the records of one run after another.
type Mapper struct {
	scupper string
	start   audit.Start
	run     string
	pending map[string]*Event // by decision
}

// NewMapper is for logs that are exported by that version of scupper; events name the
// version that wrote the log.
func NewMapper(scupper string) *Mapper { return &Mapper{scupper: scupper} }

// Begin is called before the lines of a run.
func (m *Mapper) Begin(run string) {
	m.run, m.start, m.pending = run, audit.Start{Scupper: m.scupper}, make(map[string]*Event)
}

// Event is the event of one line. Lines are given in their order, all of a run's.
func (m *Mapper) Event(l *audit.Line, p *Proof) (*Event, error) {
	if l.Event == audit.RunStarted && l.Run != nil {
		m.start = *l.Run
	}
	e := m.base(l)
	switch capability.Kind(l.Kind) {
	case capability.KindHTTP:
		m.http(e, l.Record)
	case capability.KindName:
		m.name(e, l.Record)
	case capability.KindTool:
		m.tool(e, l.Record)
	case "":
		m.without(e, l.Record)
	default:
		m.network(e, l.Record)
	}
	if l.Event == audit.Decided && len(m.pending) < maxPending {
		m.pending[l.ID] = e
	}
	e.finish()
	return e, e.rest(l, p)
}

// base is what every event has.
func (m *Mapper) base(l *audit.Line) *Event {
	sum := sha256.Sum256(l.Bytes)
	uid := m.run + "-" + strconv.FormatInt(l.Seq, 10)
	e := &Event{
		Time: l.Time.UnixMilli(), Count: l.Count, RawData: string(l.Bytes), RawDataHash: Fingerprint{3, "SHA-256", hex.EncodeToString(sum[:])},
		SeverityID: 1, StatusID: 1,
		Metadata: Metadata{
			Version: SchemaVersion, Product: Product{"scupper", "scupper", m.start.Scupper}, Profiles: []string{"security_control"},
			UID: uid, OriginalEventUID: uid, CorrelationUID: l.Decision, EventCode: string(l.Event),
			LogName: m.run, LogVersion: strconv.Itoa(l.Version), OriginalTime: l.Time.UTC().Format(time.RFC3339Nano), Sequence: l.Seq,
		},
		Source: &Endpoint{Name: "sandbox", UID: m.run},
	}
	if l.Event == audit.Decided {
		e.Metadata.CorrelationUID = l.ID
		m.decided(e, l.Record)
	}
	return e
}

// decided is what every decision has: what the policy answered.
func (m *Mapper) decided(e *Event, r *audit.Record) {
	e.StatusCode, e.Detail, e.Message = r.Reason, r.Mismatch, r.Asked()
	e.ActionID, e.DispositionID = 1, 1
	if r.Verdict != "allow" {
		e.ActionID, e.DispositionID, e.StatusID, e.SeverityID = 2, 2, 2, severity(capability.Reason(r.Reason))
	}
	e.Policy = &Named{m.start.Policy, m.start.PolicyHash}
	if r.Policy != "" {
		e.Policy.UID = r.Policy
	}
	if r.Grant != "" {
		e.FirewallRule = &Rule{Name: r.Grant, UID: r.Position}
		if r.Mismatch != "" {
			e.FirewallRule.MatchDetails = []string{r.Mismatch}
		}
	}
	if r.Host != "" || r.Address != "" {
		e.Destination = &Endpoint{Hostname: r.Host, IP: r.Address, Port: r.Port}
	}
}

// severity judges a kind of refusal: most are someone asking for what is not granted;
// some are hardly ever a mistake.
func severity(r capability.Reason) int {
	switch r {
	case capability.MetadataAddress, capability.OwnListener, capability.ForeignCredential, capability.PlaceholderMisplaced, capability.AuthorityMismatch:
		return 4
	case capability.MalformedRequest, capability.MalformedPath, capability.MethodOverride, capability.NetworkNotGranted, capability.AuditUnavailable, capability.RecordBudget:
		return 3
	}
	return 2
}

func (m *Mapper) http(e *Event, r *audit.Record) {
	e.ClassUID, e.ActivityID, e.ActivityName = 4002, 99, cmp.Or(r.Method, "Other")
	if i, ok := methods()[r.Method]; ok {
		e.ActivityID, e.ActivityName = i, r.Method[:1]+strings.ToLower(r.Method[1:])
	}
	e.Request = request(r)
	e.ConnectionInfo = &ConnectionInfo{DirectionID: 2, Direction: "Outbound", ProtocolName: "tcp", ProtocolNum: 6}
	if e.Destination == nil {
		e.Destination = &Endpoint{Name: "unknown"}
	}
}

func methods() map[string]int {
	return map[string]int{"CONNECT": 1, "DELETE": 2, "GET": 3, "HEAD": 4, "OPTIONS": 5, "POST": 6, "PUT": 7, "TRACE": 8, "PATCH": 9}
}

func request(r *audit.Record) *Request {
	var query []string
	for _, p := range r.Query {
		query = append(query, p.Name+"="+p.Value)
	}
	u := URL{Scheme: r.Scheme, Hostname: r.Host, Port: r.Port, Path: r.Path, Query: strings.Join(query, "&")}
	u.String = strings.TrimPrefix(r.Asked(), r.Method+" ")
	if u.Query != "" {
		u.String += "?" + u.Query
	}
	out := &Request{UID: r.ID, Method: r.Method, Version: strings.TrimPrefix(r.Protocol, "HTTP/"), URL: u}
	if r.Body != nil && r.Body.Length > 0 {
		out.Length = r.Body.Length
	}
	return out
}

func (m *Mapper) name(e *Event, r *audit.Record) {
	e.ClassUID, e.ActivityID, e.ActivityName = 4003, 1, "Query"
	e.Query = &Query{Hostname: r.Host, Type: r.Protocol, Class: "IN"}
	e.Destination = &Endpoint{Name: "resolver of the sandbox"}
	e.ConnectionInfo = &ConnectionInfo{DirectionID: 2, Direction: "Outbound"}
}

func (m *Mapper) network(e *Event, r *audit.Record) {
	e.ClassUID, e.ActivityID, e.ActivityName = 4001, 1, "Open"
	if r.Verdict != "allow" {
		e.ActivityID, e.ActivityName = 5, "Refuse"
	}
	e.ConnectionInfo = &ConnectionInfo{DirectionID: 2, Direction: "Outbound", ProtocolName: "tcp"}
	if r.Kind == string(capability.KindPacket) {
		e.ConnectionInfo.ProtocolName = r.Protocol
	}
	e.ConnectionInfo.ProtocolNum = map[string]int{"icmp": 1, "tcp": 6, "udp": 17}[e.ConnectionInfo.ProtocolName]
	if e.Destination == nil {
		e.Destination = &Endpoint{Name: "unknown"}
	}
}

func (m *Mapper) tool(e *Event, r *audit.Record) {
	e.ClassUID, e.ActivityID, e.ActivityName = 6003, 99, "Call"
	e.API, e.Actor = &API{Operation: "unknown"}, &Actor{User: Named{Name: m.start.User}}
	if t := r.Tool; t != nil {
		e.API = &API{Operation: t.Name, Version: t.Version}
		e.Actor.User = Named{Name: t.Role, UID: t.Caller}
	}
}

// without is a record that has no kind: it belongs to a decision, or to the run.
func (m *Mapper) without(e *Event, r *audit.Record) {
	of := m.pending[r.Decision]
	switch {
	case r.Event == audit.Ended:
		delete(m.pending, r.Decision)
		m.outcome(e, r, of)
	case r.Event == audit.Repeated && of != nil:
		e.like(of)
		e.StatusID, e.SeverityID, e.StatusCode, e.Message = of.StatusID, of.SeverityID, of.StatusCode, of.Message
		e.ActionID, e.DispositionID = of.ActionID, of.DispositionID
	default:
		m.lifecycle(e, r)
	}
}

// like gives e what it has in common with the event of its decision.
func (e *Event) like(of *Event) {
	e.ClassUID, e.ActivityID, e.ActivityName, e.Request, e.Query = of.ClassUID, of.ActivityID, of.ActivityName, of.Request, of.Query
	e.Destination, e.ConnectionInfo, e.API, e.Actor, e.Policy, e.FirewallRule = of.Destination, of.ConnectionInfo, of.API, of.Actor, of.Policy, of.FirewallRule
}

// outcome has what its decision had, if that is known.
func (m *Mapper) outcome(e *Event, r *audit.Record, of *Event) {
	e.ClassUID, e.ActivityID, e.ActivityName = 4002, 99, "Outcome"
	e.ConnectionInfo = &ConnectionInfo{DirectionID: 2, Direction: "Outbound", ProtocolName: "tcp", ProtocolNum: 6}
	if of != nil {
		e.like(of)
	}
	e.ActionID, e.DispositionID = 1, 1
	if a, err := netip.ParseAddrPort(r.Upstream); err == nil {
		to := Endpoint{IP: a.Addr().String(), Port: a.Port()}
		if e.Destination != nil {
			to.Hostname = e.Destination.Hostname
		}
		e.Destination = &to
	}
	if e.Destination == nil && e.ClassUID == 4002 {
		e.Destination = &Endpoint{Name: "unknown"}
	}
	if e.ClassUID == 4002 {
		e.Response = &Response{Code: r.Status, Latency: r.Took / int64(time.Millisecond), Length: r.Received}
		e.Traffic = &Traffic{BytesIn: r.Received, BytesOut: r.Sent, Bytes: r.Sent + r.Received}
	}
	if r.Error != "" {
		e.StatusID, e.SeverityID, e.Detail = 2, 2, r.Error
	}
}

// lifecycle is what happens to a run.
func (m *Mapper) lifecycle(e *Event, r *audit.Record) {
	e.ClassUID, e.ActivityID = 6002, 99
	e.ActivityName = string(r.Event)
	e.App, e.Source = &Product{"scupper", "scupper", m.start.Scupper}, nil
	switch r.Event {
	case audit.RunStarted:
		e.ActivityID, e.ActivityName = 3, "Start"
		e.Message = strings.Join(m.start.Command, " ")
		e.Policy = &Named{m.start.Policy, m.start.PolicyHash}
	case audit.RunEnded:
		e.ActivityID, e.ActivityName, e.StatusCode = 4, "Stop", r.Reason
		if r.Summary != nil {
			e.Message = fmt.Sprintf("exit %d", r.Summary.Exit)
		}
	case audit.PolicyChanged:
		if c := r.Change; c != nil && c.Refused != "" {
			e.StatusID, e.Detail = 2, c.Refused
		} else if c != nil {
			e.Policy = &Named{m.start.Policy, c.To}
		}
	case audit.Gap, audit.Withdrawn, audit.BudgetSpent, audit.LogTorn, audit.AnchorFailed:
		e.StatusID, e.SeverityID, e.StatusCode, e.Detail = 2, 4, r.Reason, r.Error
	case audit.SegmentsDropped:
		e.SeverityID = 3
	case audit.LimitReached:
		e.SeverityID, e.Message = 2, r.Says
	}
}

// finish fills in what follows from the identifiers.
func (e *Event) finish() {
	class := map[int]string{4001: "Network Activity", 4002: "HTTP Activity", 4003: "DNS Activity", 6002: "Application Lifecycle", 6003: "API Activity"}
	category := map[int]string{4: "Network Activity", 6: "Application Activity"}
	e.CategoryUID = e.ClassUID / 1000
	e.ClassName, e.CategoryName = class[e.ClassUID], category[e.CategoryUID]
	e.TypeUID, e.TypeName = e.ClassUID*100+e.ActivityID, e.ClassName+": "+e.ActivityName
	e.Severity = [...]string{"Unknown", "Informational", "Low", "Medium", "High"}[e.SeverityID]
	e.Status = [...]string{"Unknown", "Success", "Failure"}[e.StatusID]
	e.Action = [...]string{"", "Allowed", "Denied"}[e.ActionID]
	e.Disposition = [...]string{"", "Allowed", "Blocked"}[e.DispositionID]
}

// mapped are the fields of a record that have a place in OCSF.
func mapped() []string {
	return []string{
		"v", "seq", "time", "event", "id", "decision", "count", "kind", "verdict", "reason", "grant", "position", "host", "address", "port", "scheme",
		"method", "path", "query", "protocol", "mismatch", "policy", "status", "sent", "received", "upstream", "took", "error", "says",
	}
}

// rest puts everything else under its own name.
func (e *Event) rest(l *audit.Line, p *Proof) error {
	if err := json.Unmarshal(l.Bytes, &e.Unmapped); err != nil {
		return fmt.Errorf("export record %d: %w", l.Seq, err)
	}
	for _, name := range mapped() {
		delete(e.Unmapped, name)
	}
	if p == nil {
		return nil
	}
	proof, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("export the proof of record %d: %w", l.Seq, err)
	}
	e.Unmapped["proof"] = proof
	return nil
}
