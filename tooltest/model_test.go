package tooltest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/tooltest"
	"github.com/toolpost/toolpost/usage"
)

// stream sends a request and returns the deltas, one word for each, the response,
// and the error.
func stream(ctx context.Context, m model.Model, messages ...*model.Message) (seen string, r *model.Response, err error) {
	for d, e := range m.Stream(ctx, &model.Request{Messages: messages}) {
		switch {
		case e != nil:
			err = e
		case d.Response != nil:
			r = d.Response
		default:
			seen += fmt.Sprintf("%d:%s:%s%q ", d.Part, d.Type, d.Name, d.Text)
		}
	}
	return seen, r, err
}

func TestModel(t *testing.T) {
	m := tooltest.NewModel(t,
		tooltest.Turn{Tokens: usage.Tokens{Input: 7, Output: 3}, Parts: []model.Part{
			{Type: model.TypeThinking, Text: "hm"}, {Type: model.TypeText, Text: "I look."}, {Type: model.TypeOpaque},
			{Type: model.TypeCall, Name: "read", Arguments: []byte(`{"path": "a"}`)}, {Type: model.TypeCall, Name: "read", ID: "mine"},
		}},
		tooltest.Turn{Func: func(_ context.Context, r *model.Request) tooltest.Turn {
			return tooltest.Turn{Text: "you answered " + r.Messages[2].Parts[0].Result.Text}
		}},
	)
	seen, r, err := stream(t.Context(), m, model.UserText("go"))
	if want := `0:thinking:"hm" 1:text:"I " 1:text:"look." 3:tool_call:read"{\"path\": " 3:tool_call:read"\"a\"}" 4:tool_call:read"" `; seen != want || err != nil {
		t.Errorf("got %s, %v", seen, err)
	}
	calls := r.Message.Calls()
	if r.Stop != model.StopCalls || r.Usage.Input != 7 || calls[0].ID != "call_1" || calls[1].ID != "mine" || *calls[0].Origin != m.Origin() || r.Model != "script" {
		t.Errorf("got %+v", r)
	}
	results := &model.Message{Role: model.RoleUser}
	for _, c := range calls {
		results.Parts = append(results.Parts, model.Part{Type: model.TypeResult, Result: toolpost.TextResult("42").Message(c.ID)})
	}
	question := model.UserText("go")
	_, r, err = stream(t.Context(), m, question, r.Message, results)
	if err != nil || r.Stop != model.StopEnd || r.Message.Text() != "you answered 42" {
		t.Errorf("got %+v, %v", r, err)
	}
	question.Parts[0].Text = "changed later"
	sent := m.Requests()
	if len(sent) != 2 || len(sent[1].Messages) != 3 || sent[1].Messages[0].Text() != "go" {
		t.Errorf("recorded %+v", sent)
	}
}

// TestTurn checks the order of what a turn consists of.
func TestTurn(t *testing.T) {
	m := tooltest.NewModel(t, tooltest.Turn{
		Text: "I look.", Tool: "read", Arguments: `{"path":"a"}`,
		Parts: []model.Part{{Type: model.TypeCall, Name: "list", Arguments: []byte(`{}`)}},
	})
	seen, r, err := stream(t.Context(), m, model.UserText("go"))
	if want := `0:text:"I " 0:text:"look." 1:tool_call:read"{\"path\":\"a\"}" 2:tool_call:list"{}" `; seen != want || err != nil {
		t.Errorf("got %s, %v", seen, err)
	}
	if calls := r.Message.Calls(); len(calls) != 2 || calls[0].ID != "call_1" || calls[1].ID != "call_2" || r.Stop != model.StopCalls {
		t.Errorf("got %+v", r)
	}
}

func TestModelFails(t *testing.T) {
	v := &verdict{TB: t}
	m := tooltest.NewModel(v, tooltest.Turn{Tool: "read", Arguments: `{}`})
	if _, _, err := stream(t.Context(), m); err == nil || len(v.errors) != 1 || !strings.Contains(v.errors[0], "would refuse request 1: the conversation is empty") {
		t.Errorf("an invalid request: got %v, %q", err, v.errors)
	}
	if _, r, err := stream(t.Context(), m, model.UserText("go")); err != nil || r.Stop != model.StopCalls {
		t.Errorf("a valid request: got %+v, %v", r, err)
	}
	_, _, err := stream(t.Context(), m, model.UserText("go"))
	if failure, ok := err.(*model.Error); !ok || failure.Kind != model.KindInvalid || len(v.errors) != 2 || v.errors[1] != "request 3 has no turn in the test" {
		t.Errorf("a request too many: got %v, %q", err, v.errors)
	}
}

func TestModelErrors(t *testing.T) {
	failure := &model.Error{Kind: model.KindOverloaded}
	m := tooltest.NewModel(t,
		tooltest.Turn{Err: failure},
		tooltest.Turn{Parts: []model.Part{{Type: model.TypeText, Text: "hel"}}, Err: failure},
		tooltest.Turn{Text: "never read"},
	)
	for _, want := range []string{"", `0:text:"hel" `} {
		if seen, r, err := stream(t.Context(), m, model.UserText("go")); seen != want || r != nil || err != failure {
			t.Errorf("got %q, %v, %v", seen, r, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := stream(ctx, m, model.UserText("go")); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
}

// A model that answers from a script tests a program without a provider.
func ExampleNewModel() {
	m := tooltest.NewModel(nil, tooltest.Turn{Text: "Hello, Ada!"}) // t, in a test
	for d, err := range m.Stream(context.Background(), &model.Request{Messages: []*model.Message{model.UserText("Greet Ada.")}}) {
		if err != nil {
			panic(err)
		}
		fmt.Print(d.Text)
	}
	// Output: Hello, Ada!
}
