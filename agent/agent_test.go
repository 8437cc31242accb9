package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/agent"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/usage"
)

func TestAnswer(t *testing.T) {
	m := turns(t, say("Good day."))
	s := agent.NewSession()
	got := do(t, agent.New(m, nil, &agent.Options{System: "Be polite."}), s, prompt("Hello"))
	if got.Stop != agent.StopAnswer || got.Text != "Good day." || got.Turns != 1 || got.Usage.Tokens != (usage.Tokens{Input: 10, Output: 1}) {
		t.Errorf("%+v", got)
	}
	if want := []string{"test/scripted"}; !slices.Equal(got.Usage.UnpricedModels(), want) {
		t.Errorf("the models without a price are %q, want %q", got.Usage.UnpricedModels(), want)
	}
	if m.requests[0].System != "Be polite." || m.requests[0].CacheKey != s.ID() {
		t.Errorf("request: %+v", m.requests[0])
	}
	if again := do(t, agent.New(m, nil, nil), s); again.Text != got.Text || len(m.requests) != 1 {
		t.Errorf("a run without a prompt asked the model again: %+v", again)
	}
}

// TestCalls has parallel calls end in another order than they were made.
func TestCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended []string
		var tools toolpost.Tools
		for name, pause := range map[string]time.Duration{"slow": 2 * time.Second, "quick": time.Second} {
			tools = append(tools, tool(name, func(_ context.Context, text string) (string, error) {
				time.Sleep(pause)
				return name + " " + text, nil
			}))
		}
		m := turns(t, []model.Part{call(1, "slow", `{"text":"a"}`), call(2, "quick", `{"text":"b"}`)}, say("Done."))
		s := agent.NewSession()
		began := time.Now()
		for e, err := range agent.New(m, tools, nil).Run(t.Context(), s, prompt("Go")) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Type == agent.EventResult {
				ended = append(ended, e.Call.Name)
			}
		}
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("the calls took %v", took)
		}
		if want := []string{"quick", "slow"}; !slices.Equal(ended, want) {
			t.Errorf("the calls ended as %q, want %q", ended, want)
		}
		if got, want := outputs(s), []string{"slow a", "quick b"}; !slices.Equal(got, want) {
			t.Errorf("the model received %q, want %q", got, want)
		}
	})
}

// TestSequential has a sequential tool between others: it starts after those
// before it and ends before those after it.
func TestSequential(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log []string
		note := func(name string) func(context.Context, string) (string, error) {
			return func(context.Context, string) (string, error) {
				log = append(log, name+" begins")
				time.Sleep(time.Second)
				log = append(log, name+" ends")
				return "", nil
			}
		}
		tools := toolpost.Tools{tool("before", note("before")), tool("alone", note("alone"), toolpost.Policy{Sequential: true}), tool("after", note("after"))}
		m := turns(t, []model.Part{call(1, "before", `{"text":""}`), call(2, "alone", `{"text":""}`), call(3, "after", `{"text":""}`)}, say("Done."))
		do(t, agent.New(m, tools, nil), agent.NewSession(), prompt("Go"))
		want := []string{"before begins", "before ends", "alone begins", "alone ends", "after begins", "after ends"}
		if diff := cmp.Diff(want, log); diff != "" {
			t.Error(diff)
		}
	})
}

func TestOutcomes(t *testing.T) {
	tools := toolpost.Tools{
		tool("retry", func(context.Context, string) (string, error) { return "", toolpost.Retry.Errorf("give a longer text") }),
		tool("failed", func(context.Context, string) (string, error) { return "", toolpost.Failed.Errorf("the disk is full") }),
		tool("denied", func(context.Context, string) (string, error) { return "", toolpost.Denied.Errorf("not here") }),
		tool("broken", func(context.Context, string) (string, error) { return "", errors.New("no connection") }),
		tool("panics", func(context.Context, string) (string, error) { panic("a defect") }),
		tool("done", func(_ context.Context, text string) (string, error) { return "", toolpost.Done.Errorf("%s", text) }, toolpost.Policy{Sequential: true}),
		tool("never", func(context.Context, string) (string, error) { t.Error("a call after the end ran"); return "", nil }),
	}
	m := turns(t, []model.Part{
		call(1, "retry", `{"text":"x"}`), call(2, "failed", `{"text":"x"}`), call(3, "denied", `{"text":"x"}`), call(4, "broken", `{"text":"x"}`),
		call(5, "panics", `{"text":"x"}`), call(6, "retry", `{"txt":"x"}`), call(7, "unknown", `{}`),
		{Type: model.TypeCall, ID: "call_8", Name: "retry", Invalid: "the arguments are cut off"},
	}, []model.Part{call(9, "done", `{"text":"All is well."}`), call(10, "never", `{"text":"x"}`)})
	s := agent.NewSession()
	got := do(t, agent.New(m, tools, nil), s, prompt("Go"))
	if got.Stop != agent.StopDone || got.Text != "All is well." || got.Turns != 2 || got.Usage.Calls != 7 {
		t.Errorf("%+v", got)
	}
	for i, want := range []string{"give a longer text", "the disk is full", "not here", "no connection", "internal error", "txt", `no tool "unknown"`, "cut off", "All is well.", "not run"} {
		if got := outputs(s)[i]; !strings.Contains(got, want) {
			t.Errorf("result %d is %q, want %q in it", i+1, got, want)
		}
	}
	if again := do(t, agent.New(m, tools, nil), s); again.Text != got.Text || again.Stop != agent.StopDone {
		t.Errorf("the ended run ended again as %+v", again)
	}
}

func TestLimits(t *testing.T) {
	for stop, limits := range map[agent.StopReason]agent.Limits{
		agent.StopTurns:  {Turns: 3},
		agent.StopCalls:  {Calls: 3},
		agent.StopTokens: {Tokens: 33},
		agent.StopTime:   {Time: 2500 * time.Millisecond},
	} {
		t.Run(string(stop), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := 0
				m := &script{t: t, think: func(*model.Request) ([]model.Part, error) {
					n++
					time.Sleep(time.Second)
					return []model.Part{call(n, "echo", `{"text":"`+strings.Repeat("x", n)+`"}`)}, nil
				}}
				s := agent.NewSession()
				a := agent.New(m, toolpost.Tools{tool("echo", echo)}, &agent.Options{Limits: limits})
				result, err := a.Do(t.Context(), s, prompt("Go"))
				var stopped *agent.StopError
				if !errors.As(err, &stopped) || stopped.Result != result || result.Stop != stop || n != 3 {
					t.Fatalf("%d requests, %+v, %v", n, result, err)
				}
				if result, _ := a.Do(t.Context(), s, prompt("Go on")); result.Stop != stop || n != 6 {
					t.Errorf("a new prompt did not start again: %d requests, %+v", n, result)
				}
			})
		})
	}
}

// TestLimitOfUnknownCosts refuses a limit of costs for a model that is not known,
// and for one of which only the window is.
func TestLimitOfUnknownCosts(t *testing.T) {
	window, err := usage.ParsePrices([]byte(`{"prices":[{"providers":["test"],"models":[{"names":["scripted"],"unpriced":true,"context":1000,"date":"2026-11-26","source":"me"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, prices := range []*usage.Prices{nil, window} {
		a := agent.New(turns(t), nil, &agent.Options{Limits: agent.Limits{Cost: usage.Dollar}, Prices: prices})
		if _, err := a.Do(t.Context(), agent.NewSession(), prompt("Go")); err == nil || !strings.Contains(err.Error(), "price of test/scripted is not known") {
			t.Error(err)
		}
	}
}

// TestRepeats has the model make the same call again and again.
func TestRepeats(t *testing.T) {
	reads := true
	look := tool("look", echo)
	look.Annotations.ReadOnly = &reads
	for _, test := range []struct {
		name string
		next func(n int) model.Part
		stop agent.StopReason
	}{
		{"the same call", func(n int) model.Part { return call(n, "change", `{"text":"x"}`) }, agent.StopRepeat},
		{"in other words", func(n int) model.Part { return call(n, "change", strings.Repeat(" ", n)+`{"text":"x"}`) }, agent.StopRepeat},
		{"with reads in between", func(n int) model.Part {
			return call(n, []string{"change", "look"}[n%2], `{"text":"x"}`)
		}, agent.StopRepeat},
		{"a test after each change", func(n int) model.Part {
			if n%2 == 0 {
				return call(n, "change", `{"text":"`+strings.Repeat("x", n)+`"}`)
			}
			return call(n, "look", `{"text":"x"}`)
		}, agent.StopTurns},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := 0
			m := &script{t: t, think: func(*model.Request) ([]model.Part, error) { n++; return []model.Part{test.next(n)}, nil }}
			s := agent.NewSession()
			got := do(t, agent.New(m, toolpost.Tools{tool("change", echo), look}, &agent.Options{Limits: agent.Limits{Turns: 20}}), s, prompt("Go"))
			warned := slices.ContainsFunc(outputs(s), func(text string) bool { return strings.Contains(text, "try another way") })
			if got.Stop != test.stop || warned != (test.stop == agent.StopRepeat) {
				t.Errorf("the run ended with %q after %d turns, warned: %v", got.Stop, n, warned)
			}
		})
	}
}

func TestStructuredAnswer(t *testing.T) {
	type answer struct {
		Sum int `json:"sum"`
	}
	m := turns(t, say("It is 3."), say("```json\n{\"sum\":3}\n```"))
	got, result, err := agent.DoAs[answer](t.Context(), agent.New(m, nil, nil), agent.NewSession(), prompt("1+2?"))
	if err != nil || got.Sum != 3 || string(result.Output) != `{"sum":3}` || result.Turns != 2 {
		t.Errorf("%+v, %+v, %v", got, result, err)
	}
	if m.requests[0].Output == nil {
		t.Error("the model was not asked for JSON")
	}
	_, _, err = agent.DoAs[answer](t.Context(), agent.New(turns(t, say("a"), say("b"), say("c")), nil, nil), agent.NewSession(), prompt("1+2?"))
	if err == nil || !strings.Contains(err.Error(), "after 3 tries") {
		t.Error(err)
	}
	m = turns(t, []model.Part{call(1, "done", `{"text":"three"}`)}, []model.Part{call(2, "done", `{"text":"{\"sum\":3}"}`)})
	done := tool("done", func(_ context.Context, text string) (string, error) { return "", toolpost.Done.Errorf("%s", text) })
	got, _, err = agent.DoAs[answer](t.Context(), agent.New(m, toolpost.Tools{done}, nil), agent.NewSession(), prompt("1+2?"))
	if err != nil || got.Sum != 3 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestEmptyAnswer(t *testing.T) {
	m := turns(t, nil, say("Here I am."))
	if got := do(t, agent.New(m, nil, nil), agent.NewSession(), prompt("Hello")); got.Text != "Here I am." || got.Usage.Tokens.Input != 20 {
		t.Errorf("%+v", got)
	}
}

func TestCancel(t *testing.T) {
	s := agent.NewSession()
	ctx, cancel := context.WithCancel(t.Context())
	tools := toolpost.Tools{tool("wait", func(ctx context.Context, _ string) (string, error) {
		cancel()
		<-ctx.Done()
		return "", ctx.Err()
	}, toolpost.Policy{Sequential: true})}
	m := turns(t, []model.Part{call(1, "wait", `{"text":""}`), call(2, "wait", `{"text":""}`)}, say("As you like."))
	a := agent.New(m, tools, nil)
	if _, err := a.Do(ctx, s, prompt("Go")); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	got := do(t, a, s, prompt("Leave it"))
	if got.Text != "As you like." || !strings.Contains(outputs(s)[0], "may or may not") || !strings.Contains(outputs(s)[1], "not run") {
		t.Errorf("%+v %q", got, outputs(s))
	}
}

func TestSubagent(t *testing.T) {
	inner := turns(t, []model.Part{call(1, "echo", `{"text":"found"}`)}, say("I found it."))
	var asked []string
	outer := turns(t, []model.Part{call(1, "research", `{"task":"Find it."}`)}, say("It is found."))
	sub := agent.New(inner, toolpost.Tools{tool("echo", echo)}, nil).Tool("research", "Finds things.")
	a := agent.New(outer, toolpost.Tools{sub}, &agent.Options{Approve: func(_ context.Context, c *agent.Request) (agent.Decision, error) {
		asked = append(asked, c.Name)
		return agent.Decision{Allow: true}, nil
	}})
	s := agent.NewSession()
	got := do(t, a, s, prompt("Go"))
	if got.Text != "It is found." || got.Turns != 2 || got.Usage.Tokens.Input != 40 {
		t.Errorf("%+v", got)
	}
	if want := []string{"research", "echo"}; !slices.Equal(asked, want) {
		t.Errorf("asked about %q, want %q", asked, want)
	}
	if inner := got.Usage.Tools["research"]; inner.Calls != 1 || inner.Tokens.Input != 20 {
		t.Errorf("the tool used %+v", inner)
	}
	if want := []string{"I found it."}; !slices.Equal(outputs(s), want) {
		t.Errorf("the model received %q, want %q", outputs(s), want)
	}
}

// TestSubagentLimits has an agent inside another reach the limit of the outer one.
func TestSubagentLimits(t *testing.T) {
	n := 0
	inner := &script{t: t, think: func(*model.Request) ([]model.Part, error) {
		n++
		return []model.Part{call(n, "echo", `{"text":"`+strings.Repeat("x", n)+`"}`)}, nil
	}}
	outer := turns(t, []model.Part{call(1, "research", `{"task":"Find it."}`)})
	sub := agent.New(inner, toolpost.Tools{tool("echo", echo)}, nil).Tool("research", "Finds things.")
	got := do(t, agent.New(outer, toolpost.Tools{sub}, &agent.Options{Limits: agent.Limits{Tokens: 50}}), agent.NewSession(), prompt("Go"))
	if got.Stop != agent.StopTokens || n != 4 {
		t.Errorf("%d requests, %+v", n, got)
	}
}

func TestRecursion(t *testing.T) {
	var a *agent.Agent
	n := 0
	m := &script{t: t, think: func(r *model.Request) ([]model.Part, error) {
		if n++; len(r.Messages) > 1 {
			return say(r.Messages[2].Parts[0].Result.Text), nil
		}
		return []model.Part{call(1, "again", `{"task":"Again."}`)}, nil
	}}
	again := toolpost.ToolsetFunc(func(context.Context) ([]*toolpost.Tool, error) {
		return []*toolpost.Tool{a.Tool("again", "Again.")}, nil
	})
	a = agent.New(m, again, nil)
	if got := do(t, a, agent.NewSession(), prompt("Go")); !strings.Contains(got.Text, "too many agents") {
		t.Errorf("%d requests, %+v", n, got)
	}
}

// TestStep replays the results of all steps, as an engine for durable execution
// does after a crash.
func TestStep(t *testing.T) {
	stored := map[string]json.RawMessage{}
	step := func(ctx context.Context, name string, do func(context.Context) (json.RawMessage, error)) (json.RawMessage, error) {
		if raw := stored[name]; raw != nil {
			return raw, nil
		}
		raw, err := do(ctx)
		stored[name] = raw
		return raw, err
	}
	ran := 0
	tools := toolpost.Tools{tool("count", func(context.Context, string) (string, error) { ran++; return "counted", nil })}
	m := turns(t, []model.Part{call(1, "count", `{"text":""}`)}, say("Done."))
	for range 2 {
		got := do(t, agent.New(m, tools, &agent.Options{Step: step}), agent.NewSession(), prompt("Go"))
		if got.Text != "Done." || ran != 1 || len(m.requests) != 2 {
			t.Errorf("%+v; the tool ran %d times, the model %d times", got, ran, len(m.requests))
		}
	}
}

// TestSameSet has a model see the same set of tools in every run until they change.
func TestSameSet(t *testing.T) {
	list := toolpost.Tools{tool("echo", echo)}
	m := turns(t, say("a"), say("b"), say("c"))
	a := agent.New(m, toolpost.ToolsetFunc(func(context.Context) ([]*toolpost.Tool, error) { return list, nil }), nil)
	do(t, a, agent.NewSession(), prompt("Go"))
	do(t, a, agent.NewSession(), prompt("Go"))
	list = toolpost.Tools{list[0], tool("more", echo)}
	do(t, a, agent.NewSession(), prompt("Go"))
	if m.requests[0].Tools != m.requests[1].Tools || m.requests[2].Tools.Lookup("more") == nil {
		t.Error("the sets of the runs are not as they should be")
	}
}

// A tool for MCP Apps only is not offered to a model, and does not run for one that
// knows its name.
func TestToolsForApps(t *testing.T) {
	zoom, ran := tool("zoom", echo), false
	zoom.Meta = json.RawMessage(`{"ui":{"visibility":["app"]}}`)
	run := zoom.Handler
	zoom.Handler = func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		ran = true
		return run(ctx, call)
	}
	m := turns(t, []model.Part{call(1, "zoom", `{}`)}, say("done"))
	do(t, agent.New(m, toolpost.Tools{zoom, tool("echo", echo)}, nil), agent.NewSession(), prompt("Go"))
	if m.requests[0].Tools.Lookup("zoom") != nil || ran {
		t.Errorf("the model was offered the tool, or it ran: %v", ran)
	}
}

// TestIDs has a server give two calls the same id, and one none.
func TestIDs(t *testing.T) {
	calls := []model.Part{call(1, "echo", `{"text":"a"}`), call(1, "echo", `{"text":"b"}`), call(1, "echo", `{"text":"c"}`)}
	calls[2].ID = ""
	s := agent.NewSession()
	do(t, agent.New(turns(t, calls, say("Done.")), toolpost.Tools{tool("echo", echo)}, nil), s, prompt("Go"))
	if want := []string{"a", "b", "c"}; !slices.Equal(outputs(s), want) {
		t.Errorf("the model received %q, want %q", outputs(s), want)
	}
}

// TestInnerResumes has the process end inside an agent that runs as a tool.
func TestInnerResumes(t *testing.T) {
	folder, crashed := t.TempDir(), t.TempDir()
	ran := map[string]int{}
	count := tool("count", func(_ context.Context, text string) (string, error) {
		ran[text]++
		if text == "b" {
			copyFiles(t, folder, crashed)
		}
		return text, nil
	}, toolpost.Policy{Sequential: true})
	inner := &script{t: t, think: func(r *model.Request) ([]model.Part, error) {
		switch len(r.Messages) {
		case 1:
			return []model.Part{call(1, "count", `{"text":"a"}`)}, nil
		case 3:
			return []model.Part{call(2, "count", `{"text":"b"}`)}, nil
		}
		return say("Both: " + r.Messages[4].Parts[0].Result.Text), nil
	}}
	outer := &script{t: t, think: func(r *model.Request) ([]model.Part, error) {
		if len(r.Messages) == 1 {
			return []model.Part{call(1, "research", `{"task":"Count."}`)}, nil
		}
		return say(r.Messages[2].Parts[0].Result.Text), nil
	}}
	asked := 0
	a := agent.New(outer, toolpost.Tools{agent.New(inner, toolpost.Tools{count}, nil).Tool("research", "Counts.")}, &agent.Options{
		Approve: func(context.Context, *agent.Request) (agent.Decision, error) {
			asked++
			return agent.Decision{Allow: true}, nil
		}})
	if got := do(t, a, open(t, filepath.Join(folder, "s")), prompt("Go")); got.Text != "Both: b" || ran["a"] != 1 || asked != 3 {
		t.Fatalf("%+v; the calls ran %v, %d were approved", got, ran, asked)
	}
	got := do(t, a, open(t, filepath.Join(crashed, "s")))
	if got.Text != "Both: b" || ran["a"] != 1 || ran["b"] != 2 || asked != 4 {
		t.Errorf("%+v; the calls ran %v, %d were approved: only the one that was interrupted should be again", got, ran, asked)
	}
	if got.Usage.Tools["research"].Tokens.Input != 30 {
		t.Errorf("inside: %+v", got.Usage.Tools["research"])
	}
}

// TestInnerOutlivesCall has an agent go on after the call that it began in, while
// another one runs, of the same message or the next: the run is charged for it, no call
// is.
func TestInnerOutlivesCall(t *testing.T) {
	for _, together := range []bool{false, true} {
		inner := agent.New(&script{t: t, think: func(*model.Request) ([]model.Part, error) { return say("Late."), nil }}, nil, nil)
		var ended context.Context
		begin := tool("begin", func(ctx context.Context, _ string) (string, error) {
			ended = context.WithoutCancel(ctx)
			return "", nil
		}, toolpost.Policy{Sequential: true})
		later := tool("later", func(context.Context, string) (string, error) {
			_, err := inner.Do(ended, agent.NewSession(), prompt("Go"))
			return "", err
		}, toolpost.Policy{Sequential: true})
		first, second := call(1, "begin", `{"text":""}`), call(2, "later", `{"text":""}`)
		outer := &script{t: t, think: func(r *model.Request) ([]model.Part, error) {
			switch {
			case len(r.Messages) == 1 && together:
				return []model.Part{first, second}, nil
			case len(r.Messages) == 1:
				return []model.Part{first}, nil
			case len(r.Messages) == 3 && !together:
				return []model.Part{second}, nil
			}
			return say("Done."), nil
		}}
		got := do(t, agent.New(outer, toolpost.Tools{begin, later}, nil), agent.NewSession(), prompt("Go"))
		if got.Text != "Done." || got.Usage.Requests != got.Turns+1 || got.Usage.Tools["begin"].Tokens.Input+got.Usage.Tools["later"].Tokens.Input != 0 {
			t.Errorf("together %v: %+v, %d requests, %+v", together, got, got.Usage.Requests, got.Usage.Tools)
		}
	}
}

// TestInnerTasks has a tool give an agent several tasks in one call, and a new
// session in the place of one that was removed.
func TestInnerTasks(t *testing.T) {
	answers := 0
	inner := &script{t: t, think: func(r *model.Request) ([]model.Part, error) {
		answers++
		return say(fmt.Sprintf("%s %d", r.Messages[0].Text(), answers)), nil
	}}
	asked := agent.New(inner, nil, nil).Tool("ask", "Answers.")
	both := tool("both", func(ctx context.Context, _ string) (string, error) {
		set, err := toolpost.NewSet(ctx, toolpost.Tools{asked})
		if err != nil {
			return "", err
		}
		var all []string
		for _, task := range []string{"one", "two", "two"} {
			text, err := set.CallText(ctx, "ask", map[string]string{"task": task})
			if err != nil {
				return "", err
			}
			all = append(all, text)
		}
		return strings.Join(all, ", "), nil
	})
	path := filepath.Join(t.TempDir(), "s")
	for _, want := range []string{"one 1, two 2, two 3", "one 4, two 5, two 6"} {
		m := turns(t, []model.Part{call(1, "both", `{"text":""}`)}, say("Done."))
		s := open(t, path)
		do(t, agent.New(m, toolpost.Tools{both}, nil), s, prompt("Go"))
		if got := outputs(s); !slices.Equal(got, []string{want}) {
			t.Errorf("the model received %q, want %q", got, want)
		}
		s.Close()
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

func copyFiles(t *testing.T, from, to string) {
	t.Helper()
	entries, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(from, e.Name()))
		if err == nil {
			err = os.WriteFile(filepath.Join(to, e.Name()), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestAnswerWithoutWords asks again after a message of parts that only the provider
// understands, which does not answer the user. A picture does.
func TestAnswerWithoutWords(t *testing.T) {
	silent := func() []model.Part {
		return []model.Part{{Type: model.TypeThinking, Text: "Hm."}, {Type: model.TypeOpaque, Text: "search", Raw: json.RawMessage(`{"type":"search"}`)}, {Type: model.TypeText, Text: " \n"}}
	}
	s := agent.NewSession()
	if got := do(t, agent.New(turns(t, silent(), say("Here I am.")), nil, nil), s, prompt("Hello")); got.Text != "Here I am." || len(s.Messages()) != 4 {
		t.Errorf("%+v after %d messages", got, len(s.Messages()))
	}
	if got, err := agent.New(turns(t, silent(), silent(), silent()), nil, nil).Do(t.Context(), agent.NewSession(), prompt("Hello")); err == nil {
		t.Errorf("%+v", got)
	}
	picture := []model.Part{{Type: model.TypeImage, MIMEType: "image/png", Data: []byte{1}}}
	if got := do(t, agent.New(turns(t, picture), nil, nil), agent.NewSession(), prompt("Draw")); got.Stop != agent.StopAnswer {
		t.Errorf("%+v", got)
	}
}

// TestInnerFiles: the file of an agent inside a call is removed once the call has its
// result.
func TestInnerFiles(t *testing.T) {
	folder := t.TempDir()
	during := 0
	look := tool("look", func(context.Context, string) (string, error) {
		files, err := os.ReadDir(folder)
		during = len(files)
		return "", err
	})
	lowest := agent.New(turns(t, []model.Part{call(1, "look", `{"text":""}`)}, say("Looked.")), toolpost.Tools{look}, nil).Tool("lowest", "Looks.")
	middle := agent.New(turns(t, []model.Part{call(1, "lowest", `{"task":"Look."}`)}, say("Done.")), toolpost.Tools{lowest}, nil).Tool("middle", "Has another one look.")
	m := turns(t, []model.Part{call(1, "middle", `{"task":"Look."}`), call(2, "middle", `{"task":"Look again."}`)}, say("Done."))
	do(t, agent.New(m, toolpost.Tools{middle}, &agent.Options{Parallel: 1}), open(t, filepath.Join(folder, "s")), prompt("Go"))
	files, err := os.ReadDir(folder)
	if err != nil || during != 3 || len(files) != 1 || files[0].Name() != "s" {
		t.Errorf("there are %v (%v), while the call ran %d", files, err, during)
	}
}
