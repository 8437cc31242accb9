package chat

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/agent"
	"github.com/toolpost/toolpost/schema"
)

// TestLayer decides about calls of a model with a loop of its own.
func TestLayer(t *testing.T) {
	yes := true
	for name, test := range map[string]struct {
		reads bool
		rule  string
		ask   *agent.Decision // nil without a terminal
		fails error
		want  string // the arguments that ran
		text  string
	}{
		"reads":       {reads: true, rule: DenyAll, want: `{"a":1}`},
		"all allowed": {rule: AllowAll, want: `{"a":1}`},
		"all denied":  {rule: DenyAll, text: "denied"},
		"no terminal": {text: "no terminal to ask in"},
		"yes":         {ask: &agent.Decision{Allow: true}, want: `{"a":1}`},
		"no":          {ask: &agent.Decision{Reason: "not 100%"}, text: "The reason: not 100%"},
		"edited":      {ask: &agent.Decision{Allow: true, Arguments: json.RawMessage(`{"a":2}`)}, want: `{"a":2}`, text: `changed the arguments of this call to {"a":2}`},
		"ended":       {ask: &agent.Decision{}, fails: errCanceled, text: "canceled"},
	} {
		t.Run(name, func(t *testing.T) {
			c := &Chat{approver: newApprover(test.rule, nil, nil)}
			if test.ask != nil {
				c.approver.ask = func(context.Context, *agent.Request) (agent.Decision, error) { return *test.ask, test.fails }
			}
			ran := ""
			tool := &toolpost.Tool{Definition: toolpost.Definition{Name: "t", Input: schema.MustParse(`{"type":"object"}`)}}
			if test.reads {
				tool.Annotations.ReadOnly = &yes
			}
			tool.Handler = func(_ context.Context, call *toolpost.Call) (*toolpost.Result, error) {
				ran = string(call.Arguments)
				return toolpost.TextResult("done"), nil
			}
			var ended error
			set, err := toolpost.NewSet(t.Context(), c.Layer(toolpost.Tools{tool}, func(err error) { ended = err }))
			if err != nil {
				t.Fatal(err)
			}
			result, err := set.Call(t.Context(), &toolpost.Call{Name: "t", Arguments: json.RawMessage(`{"a":1}`)})
			text := ""
			if err != nil {
				text = err.Error()
			} else {
				raw, _ := result.MarshalJSON()
				text = strings.Join(append(result.Notes(), string(raw)), " ")
			}
			if ran != test.want || !strings.Contains(text, test.text) || ended != test.fails || (c.Undecided() > 0) != (name == "no terminal") {
				t.Errorf("it ran with %q; the result is %s (%v); the run ended with %v, %d undecided", ran, text, err, ended, c.Undecided())
			}
		})
	}
}
