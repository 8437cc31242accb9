package agent_test

import (
	"context"
	"errors"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/agent"
	"github.com/toolpost/toolpost/model"
)

// hang waits until ctx ends.
func hang(ctx context.Context) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

// A hanging is a model that never answers.
type hanging struct{ *script }

func (hanging) Stream(ctx context.Context, _ *model.Request) iter.Seq2[*model.Delta, error] {
	return func(yield func(*model.Delta, error) bool) {
		if yield(&model.Delta{Type: model.TypeText, Text: "I "}, nil) {
			yield(nil, hang(ctx))
		}
	}
}

// A hangingSet is a list of tools that never comes.
type hangingSet struct{ toolpost.Toolset }

func (hangingSet) Tools(ctx context.Context) ([]*toolpost.Tool, error) { return nil, hang(ctx) }

// TestTimeEndsWhatHangs: whatever a run does when its time is over is ended then, and
// the run can be continued.
func TestTimeEndsWhatHangs(t *testing.T) {
	calls := func(t *testing.T) model.Model {
		return turns(t, []model.Part{call(1, "echo", `{"text":"a"}`)}, say("Done."))
	}
	echoes := toolpost.Tools{tool("echo", echo)}
	for name, test := range map[string]struct {
		model func(t *testing.T) model.Model
		tools toolpost.Toolset
		opts  agent.Options
	}{
		"a request": {model: func(t *testing.T) model.Model { return hanging{turns(t)} }},
		"the wait before a request": {model: func(t *testing.T) model.Model {
			return &script{t: t, think: func(*model.Request) ([]model.Part, error) {
				return nil, &model.Error{Origin: scripted, Kind: model.KindRateLimit, RetryAfter: time.Minute}
			}}
		}},
		"the second model": {model: func(t *testing.T) model.Model {
			return model.Fallback(&billed{name: "claude-haiku-5-5", err: down}, hanging{turns(t)})
		}},
		"a call": {model: calls, tools: toolpost.Tools{tool("echo", func(ctx context.Context, _ string) (string, error) { return "", hang(ctx) })}},
		"an agent in a call": {model: calls, tools: toolpost.Tools{tool("echo", func(ctx context.Context, text string) (string, error) {
			_, err := agent.New(hanging{turns(t)}, nil, nil).Do(ctx, agent.NewSession(), prompt(text))
			return "", err
		})}},
		"a question": {model: calls, tools: echoes, opts: agent.Options{Approve: func(ctx context.Context, _ *agent.Request) (agent.Decision, error) {
			return agent.Decision{}, hang(ctx)
		}}},
		"the listing": {model: calls, tools: hangingSet{}},
		"a summary":   {model: func(t *testing.T) model.Model { return hanging{turns(t)} }, opts: agent.Options{Window: 10}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for _, outside := range []bool{false, true} {
					s, ctx, opts := agent.NewSession(), t.Context(), test.opts
					if outside {
						limited, cancel := context.WithTimeoutCause(ctx, 5*time.Second, agent.ErrTime)
						defer cancel()
						ctx = limited
					} else {
						opts.Limits.Time = 5 * time.Second
					}
					began := time.Now()
					result, err := agent.New(test.model(t), test.tools, &opts).Do(ctx, s, prompt("Go"))
					var stopped *agent.StopError
					if !errors.As(err, &stopped) || result.Stop != agent.StopTime || time.Since(began) != 5*time.Second {
						t.Fatalf("after %v: %+v, %v", time.Since(began), result, err)
					}
					if result := do(t, agent.New(turns(t, say("Done.")), echoes, nil), s, prompt("Go on")); result.Text != "Done." {
						t.Errorf("it goes on with %+v", result)
					}
				}
			})
		})
	}
}

// TestTimeOfACaller: a deadline that the caller sets is an error, as other
// cancellations are.
func TestTimeOfACaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if result, err := agent.New(hanging{turns(t)}, nil, &agent.Options{Limits: agent.Limits{Time: time.Minute}}).Do(ctx, agent.NewSession(), prompt("Go")); result != nil || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%+v, %v", result, err)
		}
	})
}
