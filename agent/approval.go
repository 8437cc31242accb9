package agent

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
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
	Allow     bool            `json:"allow"`               // the call runs
	Arguments json.RawMessage `json:"arguments,omitempty"` // with Allow: the call runs with these, and the model learns of it
	Reason    string          `json:"reason,omitempty"`    // without Allow: for the model
	Wait      bool            `json:"wait,omitempty"`      // decide later with Session.Decide; the run ends
	Binding   string          `json:"binding,omitempty"`   // Request.Binding; required by Session.Decide
}

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

// check refuses a decision that cannot be carried out.
func (d *Decision) check() error {
	switch {
	case d.Allow && d.Wait:
		return errors.New("the decision allows the call and waits; leave out Allow or Wait")
	case d.Arguments == nil:
		return nil
	case !d.Allow:
		return errors.New("the decision has arguments and does not allow the call; set Allow, or leave out Arguments")
	case !json.Valid(d.Arguments) || !bytes.HasPrefix(bytes.TrimSpace(d.Arguments), []byte("{")):
		return errors.New("the arguments of the decision are not a JSON object")
	}
	return nil
}

// Decide records a decision about a waiting call, identified by the decision's
// Binding. The next Run without a prompt carries it out.
func (s *Session) Decide(d Decision) error {
	if err := d.check(); err != nil {
		return fmt.Errorf("decide: %w", err)
	}
	for _, c := range s.snapshot().batch {
		if c.result == nil && c.decision != nil && c.decision.Wait && c.decision.Binding == d.Binding {
			return s.append(&record{Type: recordDecision, Call: c.index, Decision: &d})
		}
	}
	return fmt.Errorf("decide: no waiting call has this binding: it is decided already, or the call, its tool or its arguments have changed since it was shown")
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
