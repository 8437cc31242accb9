package agent

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/toolpost/toolpost"
)

// A Request is a tool call of the model, before it runs.
type Request struct {
	ID        string          `json:"id"`   // as the model chose it
	Tool      *toolpost.Tool  `json:"-"`    // nil if no tool has that name
	Name      string          `json:"name"` // of the tool
	Arguments json.RawMessage `json:"arguments"`

	// Interrupted reports that the process ended while the call ran, so that it
	// may have taken effect.
	Interrupted bool `json:"interrupted,omitempty"`

	// Binding identifies the session, the call, the tool's definition, the arguments
	// and Options.Key. A Decision holds only for the same Binding.
	Binding string `json:"binding"`
}

// A Decision is what a person or a rule decides about a call. The zero Decision denies it.
type Decision struct {
	Action    Action          `json:"action"`              // Allow, Deny, Edit or Wait
	Reason    string          `json:"reason,omitempty"`    // of Deny: the model reads it
	Arguments json.RawMessage `json:"arguments,omitempty"` // of Edit: the call runs with these
	Binding   string          `json:"binding,omitempty"`   // Request.Binding; required by Session.Decide
}

// An Action is what a decision does with a call. The zero Action is Deny.
type Action string

// The actions of decisions.
const (
	Allow Action = "allow"
	Deny  Action = "deny"
	Edit  Action = "edit" // run with other arguments, which the model learns of
	Wait  Action = "wait" // decide later with Session.Decide; the run ends
)

// Denial is what the model reads of a call that was denied.
func (d *Decision) Denial() string {
	return "The user denied this call. Do not try it again in another way." + d.reason()
}

func (d *Decision) reason() string {
	if d.Reason == "" {
		return ""
	}
	return " The reason: " + d.Reason
}

// Change is what the model reads of a call that ran with other arguments.
func (d *Decision) Change() string {
	return "The user changed the arguments of this call to " + string(d.Arguments)
}

// normalize replaces the zero Action by Deny, and refuses a decision that cannot be
// carried out.
func (d *Decision) normalize() error {
	switch d.Action {
	case "":
		d.Action = Deny
		return nil
	case Allow, Deny, Wait:
		return nil
	case Edit:
		if !json.Valid(d.Arguments) || !bytes.HasPrefix(bytes.TrimSpace(d.Arguments), []byte("{")) {
			return fmt.Errorf("the edited arguments are not a JSON object")
		}
		return nil
	}
	return fmt.Errorf("the decision %q is unknown; it must be %q, %q, %q or %q", d.Action, Allow, Deny, Edit, Wait)
}

// Decide records a decision about a waiting call, identified by the decision's
// Binding. The next Run without a prompt carries it out.
func (s *Session) Decide(d Decision) error {
	if err := d.normalize(); err != nil {
		return fmt.Errorf("decide: %w", err)
	}
	for _, c := range s.snapshot().batch {
		if c.result == nil && c.decision != nil && c.decision.Action == Wait && c.decision.Binding == d.Binding {
			return s.append(&record{Type: recordDecision, Call: c.index, Decision: &d})
		}
	}
	return fmt.Errorf("decide: no waiting call has this binding; the call, its tool or its arguments have changed since it was shown")
}

// bind returns the call that a decision is about.
func (r *run) bind(c *callState, tool *toolpost.Tool) *Request {
	begun := c.intents
	if tool.Policy.Resumable {
		begun = 0 // the call continues, so the decision about it still holds
	}
	call := &Request{ID: c.call.ID, Tool: tool, Name: c.call.Name, Arguments: c.call.Arguments, Interrupted: begun > 0}
	var bound []byte
	for _, part := range []string{r.session.ID(), strconv.Itoa(r.session.responses()), strconv.Itoa(c.index), strconv.Itoa(begun),
		r.definitionHash(tool), c.call.Name, c.canonicalArguments()} {
		bound = append(strconv.AppendInt(bound, int64(len(part)), 10), ':') // the length keeps neighbours apart
		bound = append(bound, part...)
	}
	h := hmac.New(sha256.New, r.agent.opts.Key)
	h.Write(bound)
	call.Binding = hex.EncodeToString(h.Sum(nil))
	return call
}

// definitionHash identifies what a tool says about itself.
func (r *run) definitionHash(tool *toolpost.Tool) string {
	if hash, known := r.lookups.hashes.Load(tool); known {
		return hash.(string)
	}
	raw, err := tool.Definition.MarshalJSON()
	if err != nil {
		raw = []byte(tool.Name)
	}
	sum := sha256.Sum256(raw)
	hash := hex.EncodeToString(sum[:])
	r.lookups.hashes.Store(tool, hash)
	return hash
}
