package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/agent"
	"github.com/toolpost/toolpost/internal/modeltest"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/anthropic"
	"github.com/toolpost/toolpost/model/claudecli"
	"github.com/toolpost/toolpost/model/gemini"
	"github.com/toolpost/toolpost/model/openai"
	"github.com/toolpost/toolpost/usage"
)

// A provider is a model's API on loopback.
type provider struct {
	name string
	wire modeltest.Wire
	open func(url string) (model.Model, error)

	// members reports that the raw form of a part is a member of a message of
	// the request, so that the request does not contain it as it is.
	members bool
}

func providers() []provider {
	return []provider{
		{name: "anthropic", wire: modeltest.Anthropic(), open: func(url string) (model.Model, error) {
			return anthropic.New("claude-test", &anthropic.Options{APIKey: modeltest.Key, BaseURL: url}), nil
		}},
		{name: "openai", wire: modeltest.Responses(), open: func(url string) (model.Model, error) {
			return openai.New("gpt-test", &openai.Options{APIKey: modeltest.Key, BaseURL: url}), nil
		}},
		{name: "chat", wire: modeltest.Chat(), members: true, open: func(url string) (model.Model, error) {
			return openai.NewChat("gpt-test", &openai.Options{APIKey: modeltest.Key, BaseURL: url}), nil
		}},
		{name: "gemini", wire: modeltest.Gemini(), open: func(url string) (model.Model, error) {
			return gemini.New("gemini-3-pro-preview", &gemini.Options{APIKey: modeltest.Key, BaseURL: url})
		}},
	}
}

// successors are the models that continue a conversation.
func successors() []provider {
	return append(providers(), provider{name: "claude-cli", open: func(string) (model.Model, error) { return claudecli.New("sonnet", nil), nil }})
}

// A lookout is a model that only checks what it would send.
type lookout struct {
	model.Model
	checked int
	err     error
}

func (l *lookout) Stream(_ context.Context, r *model.Request) iter.Seq2[*model.Delta, error] {
	return func(yield func(*model.Delta, error) bool) {
		l.checked++
		if l.err = l.Check(r); l.err != nil {
			yield(nil, l.err)
			return
		}
		m := &model.Message{Role: model.RoleAssistant, Parts: []model.Part{{Type: model.TypeText, Text: "Fine."}}}
		yield(&model.Delta{Response: &model.Response{Message: m, Stop: model.StopEnd}}, nil)
	}
}

// A tape is a model whose responses are kept, each with the session before its
// request.
type tape struct {
	model.Model
	path  string // of the session
	takes []take
}

type take struct {
	session []byte
	deltas  []*model.Delta
}

func (m *tape) Stream(ctx context.Context, r *model.Request) iter.Seq2[*model.Delta, error] {
	return func(yield func(*model.Delta, error) bool) {
		text, err := os.ReadFile(m.path)
		if err != nil {
			yield(nil, err)
			return
		}
		t := take{session: text}
		for d, err := range m.Model.Stream(ctx, r) {
			if t.deltas = append(t.deltas, d); !yield(d, err) || err != nil {
				return
			}
		}
		m.takes = append(m.takes, t)
	}
}

// A player is a model that gives one response of a tape, and no other.
type player struct {
	model.Model
	deltas []*model.Delta
}

var errPlayed = errors.New("the response was given")

func (m *player) Stream(ctx context.Context, _ *model.Request) iter.Seq2[*model.Delta, error] {
	return func(yield func(*model.Delta, error) bool) {
		deltas := m.deltas
		m.deltas = nil
		for _, d := range deltas {
			if ctx.Err() != nil {
				yield(nil, context.Cause(ctx))
				return
			}
			if !yield(d, nil) {
				return
			}
		}
		if deltas == nil {
			yield(nil, errPlayed)
		}
	}
}

// TestHistories runs random conversations with every provider. After every event
// a copy of the session, which is what a crash would leave, is continued with and
// without a new prompt, by the same provider and by the others: all of them
// must accept it. So is what a cancellation at each event leaves. The raw forms of
// parts are sent back as they were received.
func TestHistories(t *testing.T) {
	for _, p := range providers() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			seeds := uint64(4)
			if raced {
				seeds = 1 // it takes ten times as long
			}
			for seed := range seeds {
				h := &history{t: t, p: p, seed: seed, random: rand.New(rand.NewPCG(seed, 18)), folder: t.TempDir()}
				h.run()
				t.Logf("seed %d: %d copies, canceled at %d events", seed, h.copies, h.canceled)
				if t.Failed() {
					return
				}
			}
		})
	}
}

// A history is one random conversation.
type history struct {
	t      *testing.T
	p      provider
	seed   uint64
	random *rand.Rand
	folder string

	checked          []byte // the session that was checked last
	copies, canceled int    // how many copies were checked, and at how many events a run was ended
}

func (h *history) run() {
	turns := h.turns()
	server := modeltest.Serve(h.t, h.p.wire, turns...)
	opened, err := h.p.open(server.URL)
	if err != nil {
		h.t.Fatal(err)
	}
	path := filepath.Join(h.folder, "session.jsonl")
	m := &tape{Model: opened, path: path}
	s, err := agent.OpenSession(path)
	if err != nil {
		h.t.Fatal(err)
	}
	defer s.Close()
	o := &agent.Options{System: "Work.", Approve: h.approve, Hold: h.random.IntN(2) == 0}
	if h.random.IntN(2) == 0 {
		o.Window = 900 // so small that it is summarized again and again
	}
	a := agent.New(m, h.tools(), o)
	prompt := []model.Part{{Type: model.TypeText, Text: "Start."}, {Type: model.TypeImage, Data: pixel, MIMEType: "image/png"}}
	for len(server.Requests()) < randomTurns {
		stopped, err := h.once(a, s, path, prompt)
		prompt = []model.Part{{Type: model.TypeText, Text: "Go on."}}
		switch {
		case errors.Is(err, context.Canceled):
		case err != nil:
			h.t.Fatalf("seed %d: %v", h.seed, err)
		case stopped != nil && stopped.Stop == agent.StopApproval:
			prompt = nil
			for _, c := range stopped.Waiting {
				d := agent.Decision{Action: agent.Allow, Binding: c.Binding}
				if err := s.Decide(d); err != nil {
					h.t.Fatal(err)
				}
			}
		}
	}
	if _, err := agent.New(m, h.tools(), &agent.Options{System: "Work."}).Do(h.t.Context(), s, prompt...); err != nil {
		h.t.Fatalf("seed %d: %v", h.seed, err)
	}
	h.checkRaw(s, server)
	for _, t := range m.takes {
		h.cancelEverywhere(opened, o, t)
	}
}

// cancelEverywhere runs what happened between two requests again and again, and
// ends it at each event: with its context, or by leaving the loop.
func (h *history) cancelEverywhere(m model.Model, o *agent.Options, t take) {
	path := filepath.Join(h.folder, "canceled.jsonl")
	for at := 1; ; at++ {
		if err := os.WriteFile(path, t.session, 0o600); err != nil {
			h.t.Fatal(err)
		}
		s, err := agent.OpenSession(path)
		if err != nil {
			h.t.Fatalf("seed %d: %v", h.seed, err)
		}
		ctx, cancel := context.WithCancel(h.t.Context())
		n, leave := 0, h.random.IntN(2) == 0
		for _, err := range agent.New(&player{m, t.deltas}, h.tools(), o).Run(ctx, s) {
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
			return // there is no further event
		}
		h.canceled++
	}
}

// once runs the agent, and cancels it at a random event.
func (h *history) once(a *agent.Agent, s *agent.Session, path string, prompt []model.Part) (result *agent.Result, err error) {
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
		h.checkCopies(path)
		if n++; n == end {
			cancel()
		}
		result = e.End
	}
	return result, nil
}

// checkCopies continues copies of the session as it is now, unless it is the one
// that was checked last: while the model speaks, nothing is recorded.
func (h *history) checkCopies(path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		h.t.Fatal(err)
	}
	if bytes.Equal(text, h.checked) {
		return
	}
	h.checked = text
	for _, p := range successors() {
		for _, prompt := range [][]model.Part{nil, {{Type: model.TypeText, Text: "Go on."}}} {
			if p.name != h.p.name && h.random.IntN(4) > 0 {
				continue
			}
			h.copies++
			h.checkCopy(p, text, prompt)
		}
	}
}

func (h *history) checkCopy(p provider, text []byte, prompt []model.Part) {
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
	m, err := p.open("http://127.0.0.1:1")
	if err != nil {
		h.t.Fatal(err)
	}
	look := &lookout{Model: m}
	result, err := agent.New(look, h.tools(), &agent.Options{System: "Work."}).Do(h.t.Context(), s, prompt...)
	if look.err != nil || err != nil && result == nil || prompt != nil && look.checked == 0 {
		h.t.Fatalf("seed %d, %s after %s, prompt %v, %d requests: %v\n%s", h.seed, p.name, h.p.name, prompt != nil, look.checked, err, text)
	}
}

// checkRaw compares the last request with the parts of the session.
func (h *history) checkRaw(s *agent.Session, server *modeltest.Server) {
	requests := server.Requests()
	last := requests[len(requests)-1]
	for _, m := range s.Messages()[:len(s.Messages())-1] {
		for _, p := range m.Parts {
			if !h.p.members && len(p.Raw) > 0 && p.Invalid == "" && !bytes.Contains(last, p.Raw) {
				h.t.Errorf("seed %d: the part %s was not sent back as it is:\n%s", h.seed, p.Raw, last)
			}
		}
	}
}

var pixel = []byte("\x89PNG\r\n\x1a\n")

func (h *history) tools() toolpost.Toolset {
	type input struct {
		Text string `json:"text"`
	}
	named := func(name string, policy toolpost.Policy, f func(text string) (*toolpost.Result, error)) *toolpost.Tool {
		return toolpost.New(name, "A tool.", func(_ context.Context, in input) (*toolpost.Result, error) { return f(in.Text) }, &toolpost.Options{Policy: policy})
	}
	return toolpost.Tools{
		named("echo", toolpost.Policy{}, func(text string) (*toolpost.Result, error) { return toolpost.TextResult(text), nil }),
		named("alone", toolpost.Policy{Sequential: true}, func(text string) (*toolpost.Result, error) { return nil, toolpost.Failed("%s", text) }),
		named("picture", toolpost.Policy{}, func(string) (*toolpost.Result, error) {
			return toolpost.NewResult(toolpost.Part{Type: "text", Text: "a picture"}, toolpost.Part{Type: "image", Data: pixel, MIMEType: "image/png"}), nil
		}),
		named("nothing", toolpost.Policy{}, func(string) (*toolpost.Result, error) { return toolpost.TextResult(""), nil }),
	}
}

// approve decides by chance. Calls of other runs of a conversation may run at the
// same time, but only one is decided at a time.
func (h *history) approve(_ context.Context, c *agent.Call) (agent.Decision, error) {
	switch h.random.IntN(8) {
	case 0:
		return agent.Decision{Action: agent.Deny, Reason: "by chance"}, nil
	case 1:
		return agent.Decision{Action: agent.Edit, Arguments: json.RawMessage(`{"text":"edited"}`)}, nil
	case 2:
		return agent.Decision{Action: agent.Wait}, nil
	}
	return agent.Decision{Action: agent.Allow}, nil
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
		if slices.ContainsFunc(turn.Parts, func(p model.Part) bool { return p.Type == model.TypeCall }) && h.random.IntN(10) == 0 {
			turn.Stop = model.StopLength
		}
		all = append(all, turn)
	}
	for range 10 { // the conversation ends
		all = append(all, modeltest.Turn{Parts: []model.Part{{Type: model.TypeText, Text: "The end."}}})
	}
	return all
}
