package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/agent"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/internal/jsontree"
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
	result, err := set.Call(t.Context(), &toolpost.Call{Name: "ask", Arguments: json.RawMessage("{}"), Caller: questioner{watcher{c}}})
	if err != nil {
		return "", screen.String(), err
	}
	return result.Message("").Text, screen.String(), nil
}

func TestQuestions(t *testing.T) {
	form := func(properties, required string) string {
		return `{"message":"Which\u001b[2J?","requestedSchema":{"type":"object","properties":{` + properties + `},"required":[` + required + `]}}`
	}
	const choices = `"oneOf":[{"const":"r","title":"Red"},{"const":"g","title":"Green"}]`
	for name, tt := range map[string]struct{ params, lines, want string }{
		"a text":                              {form(`"n":{"type":"string"}`, `"n"`), "y\nfour\n", `{"action":"accept","content":{"n":"four"}}`},
		"declined":                            {form(`"n":{"type":"string"}`, `"n"`), "n\n", `{"action":"decline"}`},
		"the input ends":                      {form(`"n":{"type":"string"}`, `"n"`), "y\n", `{"action":"decline"}`},
		"a confirmation":                      {`{"message":"Really?"}`, "yes\n", `{"action":"accept","content":{}}`},
		"a number, after mistakes":            {form(`"n":{"type":"integer","minimum":1}`, `"n"`), "y\n\nx\n0\n1.5\n7\n", `{"action":"accept","content":{"n":7}}`},
		"optional, and left out":              {form(`"n":{"type":"string"}`, ``), "y\n\n", `{"action":"accept","content":{}}`},
		"a default":                           {form(`"n":{"type":"boolean","default":true}`, `"n"`), "y\n\n", `{"action":"accept","content":{"n":true}}`},
		"a boolean":                           {form(`"n":{"type":"boolean"}`, `"n"`), "y\nmaybe\nn\n", `{"action":"accept","content":{"n":false}}`},
		"a choice by its number":              {form(`"n":{"type":"string",`+choices+`}`, `"n"`), "y\n3\n2\n", `{"action":"accept","content":{"n":"g"}}`},
		"a choice by its title":               {form(`"n":{"type":"string","enum":["a","b"],"enumNames":["First","Second"]}`, `"n"`), "y\nsecond\n", `{"action":"accept","content":{"n":"b"}}`},
		"a number of a list":                  {form(`"n":{"type":"integer","enum":[10,20]}`, `"n"`), "y\n2\n", `{"action":"accept","content":{"n":20}}`},
		"a default that is not allowed":       {form(`"n":{"type":"integer","default":"x"}`, `"n"`), "y\n\n5\n", `{"action":"accept","content":{"n":5}}`},
		"hostile texts":                       {form(`"n\u001b[2J":{"type":"string","description":"d\u001b[2J","oneOf":[{"const":"a","title":"t\u001b[2J"}]}`, ``), "y\n1\n", `{"action":"accept","content":{"n\u001b[2J":"a"}}`},
		"a choice with a default":             {form(`"n":{"type":"string","default":"g",`+choices+`}`, ``), "y\n\n", `{"action":"accept","content":{"n":"g"}}`},
		"several choices":                     {form(`"n":{"type":"array","minItems":1,"items":{"anyOf":[{"const":"r","title":"Red"},{"const":"g"}]}}`, `"n"`), "y\n\n1, g\n", `{"action":"accept","content":{"n":["r","g"]}}`},
		"the order of the form":               {form(`"z":{"type":"string"},"a":{"type":"string"}`, `"z","a"`), "y\n1\n2\n", `{"action":"accept","content":{"a":"2","z":"1"}}`},
		"a kind that is not known":            {form(`"n":{"type":"object"}`, ``), "y\n", `{"action":"accept","content":{}}`},
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
		`{"type":"string","default":"g",` + choices + `}`:                  `  n (a number; Enter for Green): `,
		`{"type":"integer","title":"Size\u001b[2J","default":3}`:           "  Size [2J (integer; Enter for 3): ",
		`{"type":"array","items":{"anyOf":[{"const":"r","title":"Red"}]}}`: "  n (numbers, separated by commas; Enter for none): ",
	} {
		form := jsontree.Read([]byte(`{"n":` + field + `}`))
		if got := newField(form.Members()[0], false).prompt; got != want {
			t.Errorf("%s: got %q, want %q", field, got, want)
		}
	}
	long := strings.Repeat("T", 50_000)
	titles := []string{`{"type":"array","default":["a"` + strings.Repeat(`,"a"`, 50_000) + `],"items":{"anyOf":[{"const":"a","title":"` + long + `"}]}}`,
		`{"type":"string","title":"` + long + `","description":"` + long + `","default":"` + long + `"}`}
	for _, raw := range titles {
		f := newField(jsontree.Read([]byte(`{"n":` + raw + `}`)).Members()[0], false)
		if n := len(f.prompt) + len(strings.Join(f.lines, "")); n > 2000 {
			t.Errorf("%d bytes are shown of %.60s", n, raw)
		}
	}
	if answer, shown, err := ask(t, "sampling/createMessage", `{}`, "y\n", nil); err != nil || !strings.Contains(answer, toolpost.ErrNoCaller.Error()) || shown != "" {
		t.Errorf("sampling: %s %v %q", answer, err, shown)
	}
}

// What cannot be asked is an error for the tool, before the user sees anything of it.
func TestQuestionsThatAreNotAsked(t *testing.T) {
	many := ""
	for i := range 50 {
		many += fmt.Sprintf(`"f%d":{"type":"string"},`, i)
	}
	for params, want := range map[string]string{
		`{"message":"?","requestedSchema":{"properties":{` + strings.TrimSuffix(many, ",") + `}}}`:                       "has 50 fields",
		`{"message":"?","requestedSchema":{"properties":{"a":{"type":"object"}},"required":["a"]}}`:                      `"a" has a type that forms of MCP do not have`,
		`{"message":"?","requestedSchema":{"properties":{"a":{"type":"array","items":{}}},"required":["a"]}}`:            `"a" has a type that forms of MCP do not have`,
		`{"message":"?","requestedSchema":{"properties":{"a":{"enum":["x"` + strings.Repeat(`,"x"`, 300) + `]}}}}`:       "has 301 choices",
		`{"mode":"url","message":"?","url":"https://example.com/` + strings.Repeat("x", 9000) + `","elicitationId":"1"}`: "its address has 9020 bytes",
	} {
		answer, shown, err := ask(t, "elicitation/create", params, "y\n", nil)
		if err != nil || !strings.Contains(answer, want) || shown != "" {
			t.Errorf("%.80s: %s, %v, shown %q", params, answer, err, shown)
		}
	}
}

// Questions of calls that run at the same time are asked one after the other.
func TestOneQuestionAtATime(t *testing.T) {
	var screen bytes.Buffer
	c := New(&Options{Session: agent.NewSession(), In: terminal.NewLines(strings.NewReader(""), &screen), Out: &screen, Err: &screen})
	done, err := c.takeTurn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	over := errors.New("over")
	cancel(over)
	if _, err := (questioner{watcher{c}}).Request(ctx, "elicitation/create", json.RawMessage(`{"message":"?"}`)); !errors.Is(err, over) {
		t.Errorf("a question beside another one: %v", err)
	}
	if _, err := c.askInTurn(ctx, &agent.Request{}); !errors.Is(err, over) {
		t.Errorf("an approval beside a question: %v", err)
	}
	if screen.Len() > 0 {
		t.Errorf("shown: %q", &screen)
	}
	done()
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
