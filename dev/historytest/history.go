// Package historytest runs random conversations of agents with providers on
// loopback, and checks that whatever happens to a conversation, it can go on: with
// the same provider, and with every other.
package historytest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/agent"
	"github.com/toolpost/toolpost/dev/modeltest"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/usage"
)

// Run runs random conversations with p. After every event a copy of the session,
// which is what a crash would leave, is continued with and without a new prompt, by
// the same provider and by others: all of them must accept it. So is what a
// cancellation at each event leaves. The raw forms of parts are sent back as they
// were received.
func Run(t *testing.T, p Provider, conversations int) {
	for seed := range conversations {
		h := &history{t: t, p: p, seed: uint64(seed), random: rand.New(rand.NewPCG(uint64(seed), 18)), folder: t.TempDir(), tried: map[attempt]bool{}, heirs: map[string]*heir{}}
		h.tools = h.newTools()
		h.run()
		if t.Failed() {
			return
		}
		if h.canceled == 0 {
			t.Errorf("conversation %d: no run was ended", seed)
		}
		t.Logf("conversation %d: %d copies, canceled at %d events", seed, h.copies, h.canceled)
	}
}

// A history is one random conversation.
type history struct {
	t      *testing.T
	p      Provider
	seed   uint64
	random *rand.Rand
	folder string

	tools            toolpost.Toolset
	checked          []byte           // the session that was checked last
	tried            map[attempt]bool // the copies that were continued
	heirs            map[string]*heir // who continue them, by their provider
	copies, canceled int              // how many copies were continued, and at how many events a run was ended
}

// An heir continues copies. It is made once for all of them: its model adapts the tools once.
type heir struct {
	*agent.Agent
	look *lookout
}

func (h *history) heir(p Provider) *heir {
	if h.heirs[p.Name] == nil {
		m, err := p.Open("http://127.0.0.1:1")
		if err != nil {
			h.t.Fatal(err)
		}
		look := &lookout{Model: m}
		h.heirs[p.Name] = &heir{agent.New(look, h.tools, &agent.Options{System: "Work."}), look}
	}
	return h.heirs[p.Name]
}

// An attempt is a way to continue a session: with or without a prompt, by a provider.
// Sessions that differ in nothing but their times are one.
type attempt struct {
	session  [sha256.Size]byte
	provider string
	prompted bool
}

// path is that of the session.
func (h *history) path() string { return filepath.Join(h.folder, "session.jsonl") }

func (h *history) run() {
	turns := h.turns()
	server := modeltest.Serve(h.t, h.p.Wire, turns...)
	opened, err := h.p.Open(server.URL)
	if err != nil {
		h.t.Fatal(err)
	}
	m := &tape{Model: opened, path: h.path()}
	s, err := agent.OpenSession(h.path())
	if err != nil {
		h.t.Fatal(err)
	}
	defer s.Close()
	o := &agent.Options{System: "Work.", Approve: h.approve, Hold: h.random.IntN(2) == 0}
	if h.random.IntN(2) == 0 {
		o.Window = 900 // so small that it is summarized again and again
	}
	h.converse(agent.New(m, h.tools, o), s, server)
	if _, err := agent.New(m, h.tools, &agent.Options{System: "Work."}).Do(h.t.Context(), s, goOn()...); err != nil {
		h.t.Fatalf("seed %d: %v", h.seed, err)
	}
	h.checkRaw(s, server)
	for _, t := range m.takes {
		h.cancelEverywhere(opened, o, t)
	}
}

func goOn() []model.Part { return []model.Part{{Type: model.TypeText, Text: "Go on."}} }

// converse runs the agent again and again, until the model has no more to say.
func (h *history) converse(a *agent.Agent, s *agent.Session, server *modeltest.Server) {
	prompt := []model.Part{{Type: model.TypeText, Text: "Start."}, {Type: model.TypeImage, Data: pixel, MIMEType: "image/png"}}
	for len(server.Requests()) < randomTurns {
		stopped, err := h.once(a, s, prompt)
		prompt = goOn()
		switch {
		case errors.Is(err, context.Canceled):
		case err != nil:
			h.t.Fatalf("seed %d: %v", h.seed, err)
		case stopped != nil && stopped.Stop == agent.StopApproval:
			prompt = nil
			for _, c := range stopped.Waiting {
				d := agent.Decision{Allow: true, Binding: c.Binding}
				if err := s.Decide(d); err != nil {
					h.t.Fatal(err)
				}
			}
		}
	}
}

// cancelEverywhere runs what happened between two requests again and again, and
// ends it at each event: with its context, or by leaving the loop.
func (h *history) cancelEverywhere(m model.Model, o *agent.Options, t take) {
	path := filepath.Join(h.folder, "canceled.jsonl")
	played := &player{Model: m}
	a := agent.New(played, h.tools, o)
	for at := 1; ; at++ {
		if err := os.WriteFile(path, t.session, 0o600); err != nil {
			h.t.Fatal(err)
		}
		s, err := agent.OpenSession(path)
		if err != nil {
			h.t.Fatalf("seed %d: %v", h.seed, err)
		}
		ctx, cancel := context.WithCancel(h.t.Context())
		played.deltas = t.deltas
		n, leave := 0, h.random.IntN(2) == 0
		for _, err := range a.Run(ctx, s) {
			if err != nil && !errors.Is(err, errPlayed) && !errors.Is(err, context.Canceled) {
				h.t.Fatalf("seed %d, canceled at event %d: %v", h.seed, at, err)
			}
			if n++; n != at {
				continue
			}
			if leave {
				break
			}
			cancel()
		}
		cancel()
		s.Close()
		h.checkCopies(path)
		if n < at {
			return // the run ended before the event
		}
		h.canceled++
	}
}

// once runs the agent, and cancels it at a random event.
func (h *history) once(a *agent.Agent, s *agent.Session, prompt []model.Part) (result *agent.Result, err error) {
	ctx, cancel := context.WithCancel(h.t.Context())
	defer cancel()
	end := h.random.IntN(30)
	n := 0
	for e, err := range a.Run(ctx, s, prompt...) {
		if err != nil {
			return nil, err
		}
		if e.Type == agent.EventDelta && h.random.IntN(8) > 0 {
			continue
		}
		h.checkCopies(h.path())
		if n++; n == end {
			cancel()
		}
		result = e.End
	}
	return result, nil
}

// checkCopies continues copies of the session as it is now, unless it is the one
// that was checked last: while the model speaks, nothing is recorded. Nine of ten
// cancellations leave what another one left, which needs no other copy.
func (h *history) checkCopies(path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		h.t.Fatal(err)
	}
	if bytes.Equal(text, h.checked) {
		return
	}
	h.checked = text
	session := sha256.Sum256(times.ReplaceAll(text, nil))
	for _, p := range successors() {
		for _, prompt := range [][]model.Part{nil, goOn()} {
			if p.Name != h.p.Name && h.random.IntN(4) > 0 {
				continue
			}
			a := attempt{session: session, provider: p.Name, prompted: prompt != nil}
			if h.tried[a] {
				continue
			}
			h.tried[a] = true
			h.copies++
			h.checkCopy(p, text, prompt)
		}
	}
}

// times are when the records of a session were written.
var times = regexp.MustCompile(`"time":"[^"]*"`)

func (h *history) checkCopy(p Provider, text []byte, prompt []model.Part) {
	path := filepath.Join(h.folder, fmt.Sprint("copy", h.copies))
	if err := os.WriteFile(path, text, 0o600); err != nil {
		h.t.Fatal(err)
	}
	defer os.Remove(path)
	s, err := agent.OpenSession(path)
	if err != nil {
		h.t.Fatalf("seed %d: %v", h.seed, err)
	}
	defer s.Close()
	heir := h.heir(p)
	look := heir.look
	look.checked, look.err = 0, nil
	result, err := heir.Do(h.t.Context(), s, prompt...)
	if look.err != nil || err != nil && result == nil || prompt != nil && look.checked == 0 {
		h.t.Fatalf("seed %d, %s after %s, prompt %v, %d requests: %v\n%s", h.seed, p.Name, h.p.Name, prompt != nil, look.checked, err, text)
	}
}

// checkRaw compares the last request with the parts of the session.
func (h *history) checkRaw(s *agent.Session, server *modeltest.Server) {
	requests := server.Requests()
	last := requests[len(requests)-1]
	for _, m := range s.Messages()[:len(s.Messages())-1] {
		for _, p := range m.Parts {
			if !h.p.Members && len(p.Raw) > 0 && p.Invalid == "" && !bytes.Contains(last, p.Raw) {
				h.t.Errorf("seed %d: the part %s was not sent back as it is:\n%s", h.seed, p.Raw, last)
			}
		}
	}
}

var pixel = []byte("\x89PNG\r\n\x1a\n")

func (h *history) newTools() toolpost.Toolset {
	type input struct {
		Text string `json:"text"`
	}
	named := func(name string, policy toolpost.Policy, f func(text string) (*toolpost.Result, error)) *toolpost.Tool {
		return toolpost.New(name, "A tool.", func(_ context.Context, in input) (*toolpost.Result, error) { return f(in.Text) }, &toolpost.Options{Policy: policy})
	}
	return toolpost.Tools{
		named("echo", toolpost.Policy{}, func(text string) (*toolpost.Result, error) { return toolpost.TextResult(text), nil }),
		named("alone", toolpost.Policy{Sequential: true}, func(text string) (*toolpost.Result, error) { return nil, toolpost.Failed.Errorf("%s", text) }),
		named("picture", toolpost.Policy{}, func(string) (*toolpost.Result, error) {
			return toolpost.NewResult(toolpost.Part{Type: "text", Text: "a picture"}, toolpost.Part{Type: "image", Data: pixel, MIMEType: "image/png"}), nil
		}),
		named("nothing", toolpost.Policy{}, func(string) (*toolpost.Result, error) { return toolpost.TextResult(""), nil }),
	}
}

// approve decides by chance. Calls of other runs of a conversation may run at the
// same time, but only one is decided at a time.
func (h *history) approve(_ context.Context, c *agent.Request) (agent.Decision, error) {
	switch h.random.IntN(8) {
	case 0:
		return agent.Decision{Reason: "by chance"}, nil
	case 1:
		return agent.Decision{Allow: true, Arguments: json.RawMessage(`{"text":"edited"}`)}, nil
	case 2:
		return agent.Decision{Wait: true}, nil
	}
	return agent.Decision{Allow: true}, nil
}

const randomTurns = 14

// turns returns what the model says: random parts, each turn with a text, so that
// it can be a summary too.
func (h *history) turns() []modeltest.Turn {
	var all []modeltest.Turn
	calls := 0
	for n := range randomTurns {
		turn := modeltest.Turn{Tokens: usage.Tokens{Input: 200 * (n%4 + 1), Output: 10}}
		if h.random.IntN(2) == 0 {
			turn.Parts = append(turn.Parts, model.Part{Type: model.TypeThinking, Text: fmt.Sprintf("Thought %d of %d.", n, h.seed)})
		}
		turn.Parts = append(turn.Parts, model.Part{Type: model.TypeText, Text: fmt.Sprintf("Turn %d. %s", n, strings.Repeat("é<&> ", h.random.IntN(60)))})
		for range h.random.IntN(4) {
			name := []string{"echo", "alone", "picture", "nothing", "unknown"}[h.random.IntN(5)]
			arguments := `{"text":"` + strings.Repeat("x", h.random.IntN(300)) + fmt.Sprint(calls) + `"}`
			if h.random.IntN(8) == 0 {
				arguments = `{"txt":1}`
			}
			calls++
			turn.Parts = append(turn.Parts, model.Part{Type: model.TypeCall, ID: fmt.Sprintf("call_%d_%d", h.seed, calls), Name: name, Arguments: json.RawMessage(arguments)})
		}
		if slices.ContainsFunc(turn.Parts, func(p model.Part) bool { return p.Type == model.TypeCall }) && h.random.IntN(10) == 0 && !h.p.Whole {
			turn.Stop = model.StopLength
		}
		all = append(all, turn)
	}
	for range 10 { // the conversation ends
		all = append(all, modeltest.Turn{Parts: []model.Part{{Type: model.TypeText, Text: "The end."}}})
	}
	return all
}
