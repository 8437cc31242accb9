package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/agent"
	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/terminal"
)

// ask puts a question of a tool to a user who types the lines.
func ask(t *testing.T, method, params, lines string, open func(string) error) (answer, shown string, err error) {
	t.Helper()
	var screen bytes.Buffer
	c := New(&Options{Session: agent.NewSession(), In: terminal.NewLines(strings.NewReader(lines), &screen), Out: &screen, Err: &screen, OpenURL: open})
	type none struct{}
	tool := toolpost.New("ask", "Asks.", func(ctx context.Context, _ none) (string, error) {
		var raw json.RawMessage
		err := toolpost.CallFrom(ctx).Ask(ctx, method, json.RawMessage(params), &raw)
		return string(raw), err
	}, nil)
	set, err := toolpost.NewSet(t.Context(), toolpost.Tools{tool})
	if err != nil {
		t.Fatal(err)
	}
	result, err := set.Call(t.Context(), &toolpost.Call{Name: "ask", Arguments: json.RawMessage("{}"), Caller: questioner{c}})
	if err != nil {
		return "", screen.String(), err
	}
	return toolpost.NewMessage("", result).Text, screen.String(), nil
}

func TestQuestions(t *testing.T) {
	form := func(properties, required string) string {
		return `{"message":"Which\u001b[2J?","requestedSchema":{"type":"object","properties":{` + properties + `},"required":[` + required + `]}}`
	}
	const choices = `"oneOf":[{"const":"r","title":"Red"},{"const":"g","title":"Green"}]`
	for name, tt := range map[string]struct{ params, lines, want string }{
		"a text":                              {form(`"n":{"type":"string"}`, `"n"`), "y\nfour\n", `{"action":"accept","content":{"n":"four"}}`},
		"declined":                            {form(`"n":{"type":"string"}`, `"n"`), "n\n", `{"action":"decline"}`},
		"the input ends":                      {form(`"n":{"type":"string"}`, `"n"`), "y\n", `{"action":"cancel"}`},
		"a confirmation":                      {`{"message":"Really?"}`, "yes\n", `{"action":"accept","content":{}}`},
		"a number, after mistakes":            {form(`"n":{"type":"integer","minimum":1}`, `"n"`), "y\n\nx\n0\n1.5\n7\n", `{"action":"accept","content":{"n":7}}`},
		"optional, and left out":              {form(`"n":{"type":"string"}`, ``), "y\n\n", `{"action":"accept","content":{}}`},
		"a default":                           {form(`"n":{"type":"boolean","default":true}`, `"n"`), "y\n\n", `{"action":"accept","content":{"n":true}}`},
		"a boolean":                           {form(`"n":{"type":"boolean"}`, `"n"`), "y\nmaybe\nn\n", `{"action":"accept","content":{"n":false}}`},
		"a choice by its number":              {form(`"n":{"type":"string",`+choices+`}`, `"n"`), "y\n3\n2\n", `{"action":"accept","content":{"n":"g"}}`},
		"a choice by its title":               {form(`"n":{"type":"string","enum":["a","b"],"enumNames":["First","Second"]}`, `"n"`), "y\nsecond\n", `{"action":"accept","content":{"n":"b"}}`},
		"a choice with a default":             {form(`"n":{"type":"string","default":"g",`+choices+`}`, ``), "y\n\n", `{"action":"accept","content":{"n":"g"}}`},
		"several choices":                     {form(`"n":{"type":"array","minItems":1,"items":{"anyOf":[{"const":"r","title":"Red"},{"const":"g"}]}}`, `"n"`), "y\n\n1, g\n", `{"action":"accept","content":{"n":["r","g"]}}`},
		"the order of the form":               {form(`"z":{"type":"string"},"a":{"type":"string"}`, `"z","a"`), "y\n1\n2\n", `{"action":"accept","content":{"a":"2","z":"1"}}`},
		"a kind that is not known":            {form(`"n":{"type":"object"}`, ``), "y\n\n", `{"action":"accept","content":{}}`},
		"an address that is not to be opened": {`{"mode":"url","message":"Log in","url":"https://example.com/","elicitationId":"1"}`, "n\n", `{"action":"decline"}`},
	} {
		answer, shown, err := ask(t, "elicitation/create", tt.params, tt.lines, nil)
		if err != nil || answer != tt.want {
			t.Errorf("%s: got %s, %v, want %s\n%s", name, answer, err, tt.want, shown)
		}
		if strings.Contains(shown, "\x1b[2J") || !strings.Contains(shown, "asks you") {
			t.Errorf("%s: %q", name, shown)
		}
	}
	for field, want := range map[string]string{
		`{"type":"string","default":"g",` + choices + `}`:                  `  n (a number; Enter for "Green"): `,
		`{"type":"integer","title":"Size\u001b[2J","default":3}`:           "  Size·[2J (integer; Enter for 3): ",
		`{"type":"array","items":{"anyOf":[{"const":"r","title":"Red"}]}}`: "  n (numbers, separated by commas; Enter for none): ",
	} {
		form := jsontree.Read([]byte(`{"n":` + field + `}`))
		if got := newField(form.Members()[0], false).prompt; got != want {
			t.Errorf("%s: got %q, want %q", field, got, want)
		}
	}
	if answer, shown, err := ask(t, "sampling/createMessage", `{}`, "y\n", nil); err != nil || !strings.Contains(answer, toolpost.ErrNoCaller.Error()) || shown != "" {
		t.Errorf("sampling: %s %v %q", answer, err, shown)
	}
}

// An address is opened only after a yes, and shown before.
func TestQuestionWithAddress(t *testing.T) {
	for _, failure := range []error{nil, errors.New("there is no browser")} {
		var opened []string
		answer, shown, err := ask(t, "elicitation/create", `{"mode":"url","message":"Log in","url":"https://example.com/login?a=b","elicitationId":"1"}`, "y\n",
			func(address string) error { opened = append(opened, address); return failure })
		if err != nil || answer != `{"action":"accept"}` || len(opened) != 1 || opened[0] != "https://example.com/login?a=b" || !strings.Contains(shown, opened[0]) {
			t.Errorf("got %s, %v, opened %q\n%s", answer, err, opened, shown)
		}
		if failure != nil && !strings.Contains(shown, "there is no browser; open the address yourself") {
			t.Error(shown)
		}
	}
}
