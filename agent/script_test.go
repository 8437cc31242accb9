package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"log/slog"
	"sync"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/agent"
	"github.com/toolpost/toolpost/dep"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/usage"
)

var scripted = model.Origin{Provider: "test", API: "script", Model: "scripted"}

// A script is a model that says what the test tells it to. It refuses histories
// that no provider would accept.
type script struct {
	t     testing.TB
	think func(r *model.Request) ([]model.Part, error) // nil parts are an empty answer
	input func(r *model.Request) int                   // the tokens of a request; 10 if nil
	trust bool                                         // requests are not checked, to measure the agent alone

	mu       sync.Mutex
	requests []*model.Request
}

func (s *script) Origin() model.Origin { return scripted }

func (s *script) Check(r *model.Request) error {
	if s.trust {
		return nil
	}
	return r.Validate()
}

func (s *script) Stream(_ context.Context, r *model.Request) iter.Seq2[*model.Delta, error] {
	return func(yield func(*model.Delta, error) bool) {
		if err := s.Check(r); err != nil {
			s.t.Errorf("the model would refuse the request: %v", err)
			yield(nil, &model.Error{Origin: scripted, Kind: model.KindInvalid, Err: err})
			return
		}
		s.mu.Lock()
		s.requests = append(s.requests, r)
		parts, err := s.think(r)
		s.mu.Unlock()
		if err != nil {
			yield(nil, err)
			return
		}
		m := &model.Message{Role: model.RoleAssistant, Parts: parts}
		stop := model.StopEnd
		if len(m.Calls()) > 0 {
			stop = model.StopCalls
		}
		for i, p := range parts {
			parts[i].Origin = &scripted
			if p.Type == model.TypeText && !yield(&model.Delta{Part: i, Type: p.Type, Text: p.Text}, nil) {
				return
			}
		}
		tokens := usage.Tokens{Input: 10, Output: 1}
		if s.input != nil {
			tokens.Input = s.input(r)
		}
		yield(&model.Delta{Response: &model.Response{Message: m, Stop: stop, Usage: tokens}}, nil)
	}
}

// turns answers the requests with the given parts, in order.
func turns(t testing.TB, all ...[]model.Part) *script {
	s := &script{t: t}
	s.think = func(*model.Request) ([]model.Part, error) {
		if len(all) == 0 {
			return nil, fmt.Errorf("a request too many")
		}
		next := all[0]
		all = all[1:]
		return next, nil
	}
	return s
}

func say(text string) []model.Part { return []model.Part{{Type: model.TypeText, Text: text}} }

// call returns a tool call; number tells calls apart.
func call(number int, name, arguments string) model.Part {
	return model.Part{Type: model.TypeCall, ID: fmt.Sprint("call_", number), Name: name, Arguments: json.RawMessage(arguments)}
}

func prompt(text string) model.Part { return model.Part{Type: model.TypeText, Text: text} }

type textInput struct {
	Text string `json:"text"`
}

// tool returns a tool that takes a text.
func tool(name string, f func(ctx context.Context, text string) (string, error), policy ...toolpost.Policy) *toolpost.Tool {
	o := &toolpost.Options{}
	if len(policy) > 0 {
		o.Policy = policy[0]
	}
	return toolpost.New(name, "A tool.", func(ctx context.Context, in textInput) (string, error) { return f(ctx, in.Text) }, o)
}

func echo(_ context.Context, text string) (string, error) { return text, nil }

// do runs the agent and fails the test if there is an error other than a stop.
func do(t *testing.T, a *agent.Agent, s *agent.Session, prompts ...model.Part) *agent.Result {
	t.Helper()
	quiet := dep.Logger.With(t.Context(), slog.New(slog.DiscardHandler))
	result, err := a.Do(quiet, s, prompts...)
	if result == nil {
		t.Fatal(err)
	}
	return result
}

// outputs returns the texts of all tool results of the conversation.
func outputs(s *agent.Session) (all []string) {
	for _, m := range s.Messages() {
		for _, p := range m.Parts {
			if p.Result != nil {
				all = append(all, p.Result.Text)
			}
		}
	}
	return all
}
