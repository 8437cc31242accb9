package agent

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/usage"
)

// sessionVersion is the version of the format that this package writes.
const sessionVersion = 1

// A record is one line of a session: something that happened. The state of a
// session follows from its records alone.
type record struct {
	Type string    `json:"type"`
	Time time.Time `json:"time,omitzero"`

	Version int    `json:"version,omitempty"` // recordStart
	ID      string `json:"id,omitempty"`      // recordStart: of the session

	Message *model.Message `json:"message,omitempty"` // recordPrompt, recordNote, recordResponse
	Origin  *model.Origin  `json:"origin,omitempty"`  // recordResponse, recordCompaction
	Stop    StopReason     `json:"stop,omitempty"`    // recordResponse: the model's; recordEnd: the run's
	Tokens  *usage.Tokens  `json:"tokens,omitempty"`  // recordResponse, recordCompaction, recordSpent
	Cost    *usage.Money   `json:"cost,omitempty"`    // recordResponse, recordCompaction, recordSpent; nil if the price is unknown

	Call       int                   `json:"call,omitempty"`       // recordDecision, recordIntent, recordResult, recordSpent: the index of the call in the last response
	Response   int                   `json:"response,omitempty"`   // recordSpent: the number of the response with the call
	Definition string                `json:"definition,omitempty"` // recordIntent: the hash of the tool's definition
	Arguments  json.RawMessage       `json:"arguments,omitempty"`  // recordIntent: those that the tool receives
	Decision   *Decision             `json:"decision,omitempty"`   // recordDecision
	Result     *toolpost.ToolMessage `json:"result,omitempty"`     // recordResult
	Complete   bool                  `json:"complete,omitempty"`   // recordResult: the call ends the run
	Duration   time.Duration         `json:"duration,omitempty"`   // recordResult: of the call, in nanoseconds; 0 if it did not run
	Text       string                `json:"text,omitempty"`       // recordEnd: the answer; recordResponse: why it was refused

	Setup json.RawMessage `json:"setup,omitempty"` // recordSetup

	Until    int              `json:"until,omitempty"`     // recordCompaction: how many messages Messages replaces
	Messages []*model.Message `json:"messages,omitempty"`  // recordCompaction
	TakeBack bool             `json:"take_back,omitempty"` // recordResponse, recordEnd: a refused turn leaves the conversation
	Trimmed  []trimmedPart    `json:"trimmed,omitempty"`   // recordTrim
}

// The types of records.
const (
	recordStart      = "session"
	recordPrompt     = "prompt"     // a person's message; a run starts
	recordNote       = "note"       // a message of this package to the model
	recordResponse   = "response"   // the model's message
	recordDecision   = "decision"   // what a person decided about a call
	recordIntent     = "intent"     // a call is about to run
	recordResult     = "result"     // a call has ended
	recordTrim       = "trim"       // outputs are replaced by references
	recordCompaction = "compaction" // old messages are replaced by a summary
	recordSpent      = "spent"      // tokens of a model that ran inside a call
	recordRetry      = "retry"      // tokens of a response that is not part of the conversation
	recordAttempt    = "attempt"    // tokens of a request that was sent again or failed
	recordEnd        = "end"        // the run has ended
	recordSetup      = "setup"      // what the program keeps with the session
	recordUndo       = "undo"       // the last prompt and all after it are not part of the conversation
)

// trimmedPart is a tool result that became a reference or shorter, or an image or document
// of the user that became a note.
type trimmedPart struct {
	Message int                   `json:"message"`
	Part    int                   `json:"part"`
	Result  *toolpost.ToolMessage `json:"result,omitempty"`
	Note    string                `json:"note,omitempty"`
}

// state is the result of applying all records of a session.
type state struct {
	id       string
	messages []*model.Message
	batch    []*callState     // the calls of the last message, until all have results
	stop     model.StopReason // the model's reason for the end of its last message
	refusal  string           // why the provider refused it
	takeBack bool             // the provider wants the refused turn to leave the conversation
	setup    json.RawMessage
	context  int // tokens of the conversation at the last response; 0 if unknown

	// Of the whole session:
	responses int           // messages of the model
	requests  int           // to the model
	earlier   *usage.Ledger // what was used until the last prompt

	// Since the last prompt:
	turns     int
	used      *usage.Ledger
	completed *record // recordResult of the call that completed the run
	ended     *record // recordEnd

	undos []undo // what Undo goes back to, the newest last
}

// maxUndos is how many prompts can be taken back.
const maxUndos = 10

// undo is the conversation before a prompt.
type undo struct {
	messages []*model.Message
	ended    *record
}

// callState is a call of the last response.
type callState struct {
	index    int
	call     *model.Part
	decision *Decision
	intents  int           // how often the call began to run
	inner    *usage.Ledger // what models used inside the call, nil for nothing
	result   *toolpost.ToolMessage

	canonical string // what canonicalArguments returned
}

// canonicalArguments returns one spelling of the arguments: a file may contain another
// one than the model wrote.
func (c *callState) canonicalArguments() string {
	if c.canonical == "" {
		c.canonical = jsontree.Canonical(c.call.Arguments)
	}
	return c.canonical
}

// apply adds a record to the state. If there is an error, the state is unchanged.
func (s *state) apply(r *record) error {
	switch r.Type {
	case recordStart:
		return s.applyStart(r)
	case recordPrompt, recordNote:
		return s.applyUser(r)
	case recordResponse:
		return s.applyResponse(r)
	case recordSpent:
		return s.applySpent(r)
	case recordDecision, recordIntent, recordResult:
		return s.applyCall(r)
	case recordTrim:
		return s.applyTrim(r)
	case recordCompaction:
		return s.applyCompaction(r)
	case recordRetry, recordAttempt:
		s.applyUnused(r)
	case recordEnd:
		s.applyEnd(r)
	case recordSetup:
		s.setup = r.Setup
	case recordUndo:
		return s.applyUndo()
	}
	return nil // types of later versions that need not be understood
}

func (s *state) applyStart(r *record) error {
	if r.Version != sessionVersion {
		return fmt.Errorf("the session has the format %d; this version reads %d", r.Version, sessionVersion)
	}
	if s.id != "" {
		return errors.New("a second session begins")
	}
	s.id = r.ID
	return nil
}

func (s *state) applyUser(r *record) error {
	if s.batch != nil || !hasRole(r.Message, model.RoleUser) {
		return errors.New("a prompt while calls have no results, or without a message of the user")
	}
	if r.Type == recordPrompt {
		s.undos = append(s.undos[max(0, len(s.undos)-maxUndos+1):len(s.undos):len(s.undos)], undo{slices.Clip(s.messages), s.ended})
		s.startOver()
	}
	s.add(r.Message)
	return nil
}

// startOver begins to count from zero.
func (s *state) startOver() {
	s.earlier.Add(s.total())
	s.turns, s.used, s.completed, s.ended = 0, new(usage.Ledger), nil, nil
}

// applyUndo goes back to the conversation before the last prompt. The tokens and calls
// since then stay counted.
func (s *state) applyUndo() error {
	last := len(s.undos) - 1
	if last < 0 {
		return errors.New("there is no prompt to take back")
	}
	s.startOver()
	s.messages, s.ended = s.undos[last].messages, s.undos[last].ended
	s.batch, s.stop, s.refusal, s.takeBack, s.context, s.undos = nil, "", "", false, 0, s.undos[:last:last]
	return nil
}

// applyUnused counts a request whose response is not part of the conversation.
func (s *state) applyUnused(r *record) {
	if r.Type == recordRetry {
		s.requests++
	}
	addRequest(s.used, r)
}

func (s *state) applyEnd(r *record) {
	if s.ended = r; r.TakeBack && len(s.undos) > 0 {
		_ = s.applyUndo() // there is a prompt to take back
	}
}

func hasRole(m *model.Message, role model.Role) bool { return m != nil && m.Role == role }

// add appends a message. Providers want the roles to alternate, so a message of
// the same role as the last one continues it.
func (s *state) add(m *model.Message) {
	if n := len(s.messages); n > 0 && s.messages[n-1].Role == m.Role {
		last := s.messages[n-1]
		s.messages = append(s.messages[:n-1:n-1], &model.Message{Role: m.Role, Parts: append(slices.Clip(last.Parts), m.Parts...)})
		return
	}
	s.messages = append(s.messages, m)
}

func (s *state) applyResponse(r *record) error {
	if s.batch != nil || !hasRole(r.Message, model.RoleAssistant) || r.Tokens == nil {
		return errors.New("a response while calls have no results, or without its message of the assistant and tokens")
	}
	s.add(r.Message)
	s.responses++
	s.requests++
	s.context, s.stop, s.refusal, s.takeBack = r.Tokens.Context(), model.StopReason(r.Stop), r.Text, r.TakeBack
	s.turns++
	addRequest(s.used, r)
	for i, call := range r.Message.Calls() {
		s.batch = append(s.batch, &callState{index: i, call: call})
	}
	return nil
}

// applySpent charges a call for a model inside it. A run that outlives its call is
// charged to none.
func (s *state) applySpent(r *record) error {
	ledger := s.used
	if cmp.Or(r.Response, s.responses) == s.responses && r.Call >= 0 && r.Call < len(s.batch) && s.batch[r.Call].result == nil {
		c := s.batch[r.Call]
		c.inner = cmp.Or(c.inner, new(usage.Ledger))
		ledger = c.inner
	}
	addRequest(ledger, r)
	return nil
}

func (s *state) applyCall(r *record) error {
	if r.Call < 0 || r.Call >= len(s.batch) {
		return fmt.Errorf("a record of call %d, but the last response has %d open calls", r.Call, len(s.batch))
	}
	c := s.batch[r.Call]
	switch {
	case r.Type == recordDecision:
		c.decision = r.Decision
	case r.Type == recordIntent:
		c.intents++
	case r.Result == nil:
		return errors.New("a result without content")
	default:
		c.result = r.Result
		if c.intents > 0 {
			s.used.AddCall(c.call.Name, len(c.call.Arguments), len(text(r.Result)), r.Duration, c.inner)
		}
		if r.Complete {
			s.completed = r
		}
		s.answer()
	}
	return nil
}

// answer adds the message with the results once all calls have one.
func (s *state) answer() {
	m := &model.Message{Role: model.RoleUser}
	for _, c := range s.batch {
		if c.result == nil {
			return
		}
		m.Parts = append(m.Parts, model.Part{Type: model.TypeResult, Result: c.result})
	}
	s.add(m)
	s.batch = nil
}

func (s *state) applyCompaction(r *record) error {
	if r.Until < 0 || r.Until > len(s.messages) {
		return fmt.Errorf("the compaction replaces %d of %d messages", r.Until, len(s.messages))
	}
	for _, m := range r.Messages {
		if !hasRole(m, model.RoleUser) {
			return errors.New("a compaction with a message that is not a user's")
		}
	}
	rest := s.messages[r.Until:]
	s.messages = nil
	for _, m := range slices.Concat(r.Messages, rest) {
		s.add(m)
	}
	s.requests++
	s.context = 0
	addRequest(s.used, r)
	return nil
}

// fits reports whether t can take the place of a part.
func (t *trimmedPart) fits(p *model.Part) bool {
	if t.Result == nil {
		return t.Note != "" && (p.Type == model.TypeImage || p.Type == model.TypeDocument)
	}
	return p.Result != nil && p.Result.CallID == t.Result.CallID
}

func (s *state) applyTrim(r *record) error {
	for _, t := range r.Trimmed {
		if t.Message < 0 || t.Message >= len(s.messages) || t.Part < 0 || t.Part >= len(s.messages[t.Message].Parts) {
			return errors.New("a trim of a part that does not exist")
		}
		if !t.fits(&s.messages[t.Message].Parts[t.Part]) {
			return errors.New("a trim of a part that is neither the result of the same call nor an image or document")
		}
	}
	s.messages = slices.Clone(s.messages)
	for _, t := range r.Trimmed {
		old := s.messages[t.Message]
		parts := slices.Clone(old.Parts)
		if parts[t.Part].Result = t.Result; t.Result == nil {
			parts[t.Part] = model.Text(t.Note)
		}
		s.messages[t.Message] = &model.Message{Role: old.Role, Parts: parts}
	}
	s.context = 0
	return nil
}

// addRequest adds the tokens of a record.
func addRequest(l *usage.Ledger, r *record) {
	if r.Tokens == nil || r.Origin == nil {
		return
	}
	var cost usage.Money
	if r.Cost != nil {
		cost = *r.Cost
	}
	l.AddRequest(r.Origin.String(), *r.Tokens, cost, r.Cost != nil)
}

// total returns what the run has used since the prompt, with the calls that
// have not ended.
func (s *state) total() *usage.Ledger {
	all := s.used.Clone()
	for _, c := range s.batch {
		if c.result == nil {
			all.Add(c.inner)
		}
	}
	return all
}
