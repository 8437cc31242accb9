package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/toolpost/toolpost/agent"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/usage"
)

// A billed is a model that plays one list of deltas for each request, and bills what
// they count. A list that ends without a response ends with the error.
type billed struct {
	name  string
	plays [][]*model.Delta
	err   error
}

func (b *billed) Origin() model.Origin {
	return model.Origin{Provider: "anthropic", API: "messages", Model: b.name}
}

func (b *billed) Check(*model.Request) error { return nil }

func (b *billed) Stream(context.Context, *model.Request) iter.Seq2[*model.Delta, error] {
	return func(yield func(*model.Delta, error) bool) {
		if len(b.plays) == 0 {
			yield(nil, b.err)
			return
		}
		next := b.plays[0]
		b.plays = b.plays[1:]
		for _, d := range next {
			if !yield(d, nil) || d.Response != nil {
				return
			}
		}
		yield(nil, b.err)
	}
}

func counted(input, output int) *model.Delta {
	return &model.Delta{Tokens: &usage.Tokens{Input: input, Output: output}}
}

var down = &model.Error{Kind: model.KindOverloaded, Text: "down"}

// TestFailedAttemptsAreCounted: attempts that failed or were cancelled are billed by
// their providers, so they are in the usage.
func TestFailedAttemptsAreCounted(t *testing.T) {
	done := &model.Delta{Response: response(model.StopEnd, say("Done.")...)} // 10 in, 1 out
	text := &model.Delta{Type: model.TypeText, Text: "So"}
	for name, test := range map[string]struct {
		play     []*model.Delta
		requests int
		tokens   usage.Tokens
	}{
		"an answer":           {[]*model.Delta{counted(10, 0), done}, 1, usage.Tokens{Input: 10, Output: 1}},
		"sent again":          {[]*model.Delta{counted(10, 0), counted(10, 5), {Restart: down}, counted(10, 0), {Restart: down}, {Restart: down}, counted(10, 1), done}, 3, usage.Tokens{Input: 30, Output: 6}},
		"failed in the end":   {[]*model.Delta{counted(10, 3), text}, 1, usage.Tokens{Input: 10, Output: 3}},
		"the consumer leaves": {[]*model.Delta{counted(10, 0), text, text, done}, 1, usage.Tokens{Input: 10}},
	} {
		s := agent.NewSession()
		m := &billed{name: "claude-haiku-5-5", plays: [][]*model.Delta{test.play}, err: errors.New("broken off")}
		for e, err := range agent.New(m, nil, nil).Run(t.Context(), s, prompt("Go")) {
			if err == nil && name == "the consumer leaves" && e.Type == agent.EventDelta {
				break
			}
		}
		if got := s.Usage(); got.Requests != test.requests || got.Tokens != test.tokens || got.Unpriced != 0 || got.Cost == 0 {
			t.Errorf("%s: %d requests, %+v, %v", name, got.Requests, got.Tokens, got.Cost)
		}
	}
}

// TestCostOfFallback: what the second model of a fallback wrote has its price, also
// summaries and responses without a part.
func TestCostOfFallback(t *testing.T) {
	empty := &model.Delta{Response: response(model.StopEnd)}
	first := &billed{name: "claude-haiku-5-5", err: down}
	second := &billed{name: "claude-opus-5-5", plays: [][]*model.Delta{{counted(1, 0), {Restart: down}, empty}, {{Response: response(model.StopEnd, say("One.")...)}},
		{{Response: response(model.StopEnd, say("Two.")...)}}, {{Response: response(model.StopEnd, say("A summary.")...)}}}}
	a := agent.New(model.Fallback(first, second), nil, nil)
	s := agent.NewSession()
	for range 2 {
		do(t, a, s, prompt("Go "+strings.Repeat("on ", 1000)))
	}
	if n, err := a.Compact(t.Context(), s); n == 0 || err != nil {
		t.Fatalf("%d messages are replaced, %v", n, err)
	}
	models := s.Usage().ByModel()
	if got := models["anthropic/claude-opus-5-5"]; len(models) != 1 || got == nil || got.Requests != 5 || got.Tokens != (usage.Tokens{Input: 41, Output: 4}) {
		t.Errorf("%+v, %+v", models, got)
	}
}

// TestUnmeasured has a provider that does not count. A limit that could not hold ends
// the run with an error.
func TestUnmeasured(t *testing.T) {
	play := func() *billed {
		r := response(model.StopCalls, call(1, "echo", `{"text":"a"}`))
		r.Usage = usage.Tokens{}
		return &billed{name: "claude-haiku-5-5", plays: [][]*model.Delta{{{Response: r}}, {{Response: response(model.StopEnd, say("Done.")...)}}}}
	}
	for _, limits := range []agent.Limits{{Cost: usage.Dollar}, {Tokens: 1000}} {
		s := agent.NewSession()
		_, err := agent.New(play(), nil, &agent.Options{Limits: limits}).Do(t.Context(), s, prompt("Go"))
		if err == nil || !strings.Contains(err.Error(), "did not say how many tokens") || s.Usage().Unmeasured != 1 {
			t.Errorf("%+v: %v", limits, err)
		}
	}
	s := agent.NewSession()
	if got := do(t, agent.New(play(), nil, nil), s, prompt("Go")); got.Text != "Done." || got.Usage.Unmeasured != 1 || got.Usage.Unpriced != 1 {
		t.Errorf("%+v", got.Usage)
	}
}

// TestRetryIsTheDefault: a temporary error does not end a run.
func TestRetryIsTheDefault(t *testing.T) {
	for _, test := range []struct {
		opts *agent.Options
		want string
	}{{nil, "Done."}, {&agent.Options{Retry: &model.RetryOptions{Attempts: 1}}, ""}} {
		synctest.Test(t, func(t *testing.T) {
			n := 0
			m := turns(t)
			m.think = func(*model.Request) ([]model.Part, error) {
				if n++; n == 1 {
					return nil, &model.Error{Kind: model.KindOverloaded, Status: 529, Text: "overloaded"}
				}
				return say("Done."), nil
			}
			got, err := agent.New(m, nil, test.opts).Do(t.Context(), agent.NewSession(), prompt("Go"))
			if (err == nil) != (test.want != "") || got != nil && got.Text != test.want {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

// TestReportedAfterRecord: a consumer that leaves at any event of a response has it in the
// session.
func TestReportedAfterRecord(t *testing.T) {
	for leaveAt := 1; leaveAt <= 3; leaveAt++ {
		r := response(model.StopEnd, say("Done.")...)
		r.Losses = []model.Loss{{Message: -1, Part: -1, Text: "something"}}
		s := agent.NewSession()
		m := &billed{name: "claude-haiku-5-5", plays: [][]*model.Delta{{counted(10, 0), {Response: r}}}}
		seen := 0
		for _, err := range agent.New(m, nil, nil).Run(t.Context(), s, prompt("Go")) {
			if err != nil {
				t.Fatal(err)
			}
			if seen++; seen == leaveAt {
				break
			}
		}
		if got := s.Usage(); seen != leaveAt || got.Requests != 1 || got.Tokens != r.Usage || len(s.Messages()) != 2 {
			t.Errorf("after event %d: %d requests, %+v, %d messages", seen, got.Requests, got.Tokens, len(s.Messages()))
		}
	}
}

// TestStepsOfAttempts: failed attempts change no names of steps, and are counted in a
// replay.
func TestStepsOfAttempts(t *testing.T) {
	stored := map[string]json.RawMessage{}
	replay := func(plays [][]*model.Delta) (names []string, tokens usage.Tokens) {
		o := &agent.Options{Step: func(ctx context.Context, name string, do func(context.Context) (json.RawMessage, error)) (json.RawMessage, error) {
			names = append(names, name)
			if raw, ok := stored[name]; ok {
				return raw, nil
			}
			raw, err := do(ctx)
			stored[name] = raw
			return raw, err
		}}
		s := agent.NewSession()
		a := agent.New(&billed{name: "claude-haiku-5-5", plays: plays}, nil, o)
		for range 2 {
			do(t, a, s, prompt("Go"))
		}
		return names, s.Usage().Tokens
	}
	done := func(text string) *model.Delta { return &model.Delta{Response: response(model.StopEnd, say(text)...)} }
	first, spent := replay([][]*model.Delta{{counted(10, 0), {Restart: down}, counted(10, 1), done("One.")}, {counted(10, 1), done("Two.")}})
	again, spentAgain := replay(nil)
	if !slices.Equal(first, again) || spent != spentAgain || spent.Input != 30 {
		t.Errorf("%q, then %q; %+v, then %+v", first, again, spent, spentAgain)
	}
}
