// Package trail is the form of the audit log: records, one JSON line each, in files that
// rotate and form a chain. Package audit decides what is recorded.
//
//	Record ── Encode ──▶ Writer ──▶ folder/audit-TIME-PID.jsonl ──▶ Calls, Follow ──▶ Summarize
//	                                                            └──▶ Verify
package trail

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/observe"
)

// A Record is one line of the log. A call of a tool that may change something has
// two: one of [PhaseStart], which is on disk before the call is sent, and one at its
// end. All other calls have the second only. Both have the same ID.
type Record struct {
	Version    int       `json:"v"`               // of the format: 1
	Time       time.Time `json:"ts"`              // UTC; the start of the call for PhaseStart, otherwise its end
	Host       string    `json:"host"`            // the machine's name
	PID        int       `json:"pid"`             // the process that served the call
	Run        string    `json:"run,omitempty"`   // of the process: another process may get its PID, on another host or after a restart
	Phase      string    `json:"phase,omitempty"` // PhaseStart, or "" for the end
	Method     string    `json:"method"`          // of MCP, such as tools/call
	ID         string    `json:"id"`              // of this call, unique
	Trace      string    `json:"trace,omitempty"` // the W3C trace id that the client sent or the gateway made
	Principal  Principal `json:"principal"`
	Upstream   string    `json:"upstream,omitempty"`    // the server, as the configuration names it
	Tool       string    `json:"tool,omitempty"`        // the tool, prompt, URI or method, as clients know it
	Through    string    `json:"through,omitempty"`     // the tool of a tool search that the client called it with
	ServerTool string    `json:"server_tool,omitempty"` // the tool, as the server names it
	Definition string    `json:"def,omitempty"`         // "sha256:" and the digest of the tool's definition

	ArgsSHA256 string          `json:"args_sha256,omitempty"` // of the redacted arguments
	Args       json.RawMessage `json:"args,omitempty"`        // redacted; of LevelArgs and LevelFull
	Result     json.RawMessage `json:"result,omitempty"`      // redacted; of LevelFull

	Decision  Decision        `json:"decision,omitzero"`
	Approval  Approval        `json:"approval,omitzero"`
	Outcome   observe.Outcome `json:"outcome,omitempty"` // "" for PhaseStart
	IsError   bool            `json:"is_error,omitempty"`
	ErrorCode int64           `json:"error_code,omitempty"` // of JSON-RPC, if the exchange failed
	Duration  float64         `json:"dur_ms,omitempty"`     // milliseconds
	BytesIn   int64           `json:"bytes_in,omitempty"`   // of the arguments
	BytesOut  int64           `json:"bytes_out,omitempty"`  // of the result that the client got
	Ref       string          `json:"ref,omitempty"`        // the stored output, if the client got an excerpt

	Chain string `json:"chain,omitempty"` // its chain, which goes on in other files
	Seq   uint64 `json:"seq"`             // position in its chain, from 1
	Prev  string `json:"prev"`            // "sha256:" and the digest of the line before; "" for the first
}

// Version is the version of the format that this package writes.
const Version = 1

// PhaseStart is the phase of a record that is written before the call.
const PhaseStart = "start"

// A Principal is the client that made a call. Client is its own claim.
type Principal struct {
	Client    string `json:"client,omitempty"`    // name and version, such as claude-code/2.1.0
	Session   string `json:"session,omitempty"`   // a keyed hash: equal for calls of one session of one process
	Profile   string `json:"profile,omitempty"`   // that it is served; none if that is everything
	User      string `json:"user,omitempty"`      // the user that it was authenticated as
	Transport string `json:"transport,omitempty"` // stdio, http, sse or command
	Address   string `json:"address,omitempty"`   // the host that it is connected from
}

// A Decision reports whether the gateway passed a call on.
type Decision struct {
	Effect string          `json:"effect,omitempty"` // allow or deny
	Rule   observe.Outcome `json:"rule,omitempty"`   // what denied it
}

// An Approval is what an approval rule of the configuration did with a call.
type Approval struct {
	Rule     string `json:"rule,omitempty"`     // that matched, such as approvals[2]
	Decision string `json:"decision,omitempty"` // of the rule, and of the user whom it asks
}

// Outcomes of calls that have a start and no end. No line has them; [Calls] finds
// them out. All others are those of package observe.
const (
	Running observe.Outcome = "running" // the process that served the call still writes the log
	Unknown observe.Outcome = "unknown" // it does not: the call may have been executed, or not
)

// Succeeded reports whether the client got what it wanted, or was asked for more.
func (r *Record) Succeeded() bool {
	return r.Outcome == observe.OK || r.Outcome == observe.InputRequired || r.Outcome == Running
}

// appendPlace returns the line of a record whose JSON is body, with its place in the
// chain. Body ends with the members seq and prev of an empty place.
func appendPlace(body []byte, chain string, seq uint64, prev string) []byte {
	head := bytes.TrimSuffix(body, []byte(emptyPlace))
	line := make([]byte, 0, len(head)+len(chain)+len(prev)+50)
	line = append(line, head...)
	if chain != "" {
		line = fmt.Appendf(line, `"chain":"%s",`, chain)
	}
	return fmt.Appendf(line, `"seq":%d,"prev":"%s"}`+"\n", seq, prev)
}

const emptyPlace = `"seq":0,"prev":""}`

// Encode returns the JSON of a record without its place in the chain.
func Encode(r *Record) ([]byte, error) {
	c := *r
	c.Version, c.Chain, c.Seq, c.Prev = Version, "", 0, ""
	body, err := marshal(&c)
	const room = 200 // for the place in the chain
	if err == nil && len(body) > maxLine-room && c.Result != nil {
		c.Result = TooLong(len(c.Result))
		body, err = marshal(&c)
	}
	if err == nil && len(body) > maxLine-room && c.Args != nil {
		c.Args = TooLong(len(c.Args))
		body, err = marshal(&c)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("encode an audit record: %w", err)
	case len(body) > maxLine-room:
		return nil, fmt.Errorf("encode an audit record: it has %d bytes, and the limit is %d", len(body), maxLine-room)
	}
	return body, nil
}

// marshal returns JSON in which the characters of HTML are not escaped: an escape
// has six bytes.
func marshal(r *Record) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(r); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// decode reads a line.
func decode(line []byte) (*Record, error) {
	r := &Record{}
	if err := json.Unmarshal(line, r); err != nil {
		return nil, fmt.Errorf("not an audit record: %w", err)
	}
	switch {
	case r.Version != Version:
		return nil, fmt.Errorf("an audit record of version %d; this program reads version %d", r.Version, Version)
	case r.Seq == 0 || r.ID == "" || r.Time.IsZero():
		return nil, fmt.Errorf("not an audit record: it lacks seq, id or ts")
	}
	return r, nil
}

// digest identifies a line, without its line break.
func digest(line []byte) string { return Digest(bytes.TrimSuffix(line, []byte("\n"))) }

// Digest returns "sha256:" and the digest of data in hexadecimal.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// maxLine is the longest line, in bytes.
const maxLine = 1 << 20

// Clip returns a foreign text in at most 512 bytes.
func Clip(s string) string { return cleartext.Clip(s, 512) }

// TooLong returns a JSON value that stands for one of n bytes.
func TooLong(n int) json.RawMessage {
	return wire.Quote(fmt.Sprintf("[%d bytes, too long to be recorded]", n))
}
