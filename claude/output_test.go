package claude

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost/claude/message"
	"github.com/toolpost/toolpost/schema"
)

type answer struct {
	Answer int    `json:"answer"`
	Why    string `json:"why,omitempty"`
}

// TestOutputSent looks at what the CLI is told: its root has to be an object.
func TestOutputSent(t *testing.T) {
	tests := []struct {
		name    string
		output  *answerSchema
		want    string
		wrapped bool
	}{
		{"struct", outputOf[answer](), `{"type":"object","properties":{"answer":{"type":"integer"},"why":{"type":"string"}},"required":["answer"],"additionalProperties":false}`, false},
		{"slice", outputOf[[]string](), `{"type":"object","properties":{"value":{"type":"array","items":{"type":"string"}}},"required":["value"],"additionalProperties":false}`, true},
		{"string", outputOf[string](), `{"type":"object","properties":{"value":{"type":"string"}},"required":["value"],"additionalProperties":false}`, true},
		{"anything", newAnswerSchema(schema.MustParse(`true`)), `{"type":"object","properties":{"value":{}},"required":["value"],"additionalProperties":false}`, true},
		{"alternatives", newAnswerSchema(schema.MustParse(`{"anyOf":[{"type":"object","properties":{"a":{}},"required":["a"]},{"type":"object","properties":{"b":{}},"required":["b"]}]}`)),
			`{"type":"object","properties":{"value":{"anyOf":[{"type":"object","properties":{"a":{}},"required":["a"]},{"type":"object","properties":{"b":{}},"required":["b"]}]}},"required":["value"],"additionalProperties":false}`, true},
		{"references", newAnswerSchema(schema.MustParse(`{"type":"array","items":{"$ref":"#/$defs/n"},"$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"}}}}}`)),
			`{"type":"object","properties":{"value":{"type":"array","items":{"$ref":"#/$defs/n"}}},"required":["value"],"additionalProperties":false,"$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"}}}}}`, true},
		{"old draft", newAnswerSchema(schema.MustParse(`{"$schema":"http://json-schema.org/draft-04/schema#","type":"object","properties":{"n":{"type":"integer","minimum":1,"exclusiveMinimum":true}}}`)),
			`{"type":"object","properties":{"n":{"type":"integer","exclusiveMinimum":1}}}`, false},
		{"names", newAnswerSchema(schema.MustParse(`{"type":"object","properties":{"数":{"type":"integer"}}}`)),
			`{"type":"object","properties":{"property":{"type":"integer","description":"Its name is \"数\"."}}}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.output.err != nil {
				t.Fatal(tt.output.err)
			}
			sameJSON(t, tt.output.sent, tt.want)
			if tt.output.wrapped != tt.wrapped {
				t.Errorf("wrapped is %v", tt.output.wrapped)
			}
		})
	}
	for name, o := range map[string]*answerSchema{
		"nothing fits": newAnswerSchema(schema.MustParse(`false`)),
	} {
		if o.err == nil {
			t.Errorf("%s: sent as %s", name, o.sent)
		}
	}
}

// TestRecursiveRoot wraps a schema that refers to itself.
func TestRecursiveRoot(t *testing.T) {
	o := newAnswerSchema(schema.MustParse(`{"type":["array","null"],"items":{"$ref":"#"}}`))
	if o.err != nil {
		t.Fatal(o.err)
	}
	sent, err := schema.Parse(o.sent)
	if err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]bool{`{"value":[[],[[]]]}`: true, `{"value":[{"value":[]}]}`: false} {
		if got := sent.Validate([]byte(value)) == nil; got != want {
			t.Errorf("%s by %s: %v", value, o.sent, got)
		}
	}
}

func use(input string) message.Message {
	return &message.Assistant{Content: []message.Block{&message.ToolUse{Name: "StructuredOutput", Input: json.RawMessage(input)}}}
}

func say(text string) message.Message {
	return &message.Assistant{Content: []message.Block{&message.Text{Text: text}}}
}

func ended(subtype, structured, text string) *message.Result {
	r := &message.Result{IsError: subtype != "success", Result: &text}
	r.Subtype, r.SessionID = subtype, "s"
	if structured != "" {
		r.StructuredOutput = json.RawMessage(structured)
	}
	return r
}

func TestOutputWatch(t *testing.T) {
	const early = "error_max_structured_output_retries"
	object, list := outputOf[answer](), outputOf[[]string]()
	nullable := newAnswerSchema(schema.MustParse(`{"type":["integer","null"]}`))
	other := func(m message.Message) message.Message {
		m.(*message.Assistant).ParentToolUseID = "toolu_agent"
		return m
	}
	tests := []struct {
		name   string
		output *answerSchema
		before []message.Message
		result *message.Result
		want   string // "" for none
		reason string // of an *OutputError
	}{
		{"kept", object, nil, ended("success", `{"answer":42}`, ""), `{"answer":42}`, ""},
		{"unwrapped", list, nil, ended("success", `{"value":["x"]}`, ""), `["x"]`, ""},
		{"never given", object, []message.Message{say("42")}, ended("success", "", "42"), "", "the model finished without giving it"},
		{"null", object, nil, ended("success", "null", ""), "null", "does not match the schema"},
		{"null for a pointer", outputOf[*int](), nil, ended("success", `{"value":null}`, ""), `{"value":null}`, "got null"},
		{"null that is allowed", nullable, nil, ended("success", `{"value":null}`, ""), "null", ""},
		{"null for anything", outputOf[any](), nil, ended("success", `{"value":null}`, ""), "null", ""},
		{"null for a list", list, nil, ended("success", `{"value":null}`, ""), `{"value":null}`, "got null"},
		{"null and interrupted", nullable, []message.Message{use(`{"value":null}`)}, ended("error_during_execution", "", ""), "null", ""},
		{"not taken", object, []message.Message{&message.Init{Tools: []string{"Read"}}}, ended("success", "", "42"), "", "does not accept the schema"},
		{"offered", object, []message.Message{&message.Init{Tools: []string{"Read", "StructuredOutput"}}}, ended("success", "", "42"), "", "finished without giving it"},
		{"unfit", object, nil, ended("success", `{"answer":"x"}`, ""), `{"answer":"x"}`, "does not match the schema"},
		{"called and interrupted", object, []message.Message{use(`{"answer":1}`), use(`{"answer":"x"}`)}, ended("error_during_execution", "", ""), `{"answer":1}`, ""},
		{"last call wins", object, []message.Message{use(`{"answer":1}`), use(`{"answer":2}`)}, ended("error_max_turns", "", ""), `{"answer":2}`, ""},
		{"parameters", object, []message.Message{use(`{"parameters":{"answer":1}}`)}, ended(early, "", ""), `{"answer":1}`, ""},
		{"parameter", object, []message.Message{use(`{"parameter":{"answer":1}}`)}, ended(early, "", ""), `{"answer":1}`, ""},
		{"output as text", object, []message.Message{use(`{"output":"{\"answer\":1}"}`)}, ended(early, "", ""), `{"answer":1}`, ""},
		{"not wrapped", list, []message.Message{use(`{"parameters":["a"]}`)}, ended(early, "", ""), `["a"]`, ""},
		{"never valid", object, []message.Message{use(`{"answer":"x"}`)}, ended(early, "", ""), "", ""},
		{"other wrapper", object, []message.Message{use(`{"input":{"answer":1}}`)}, ended(early, "", ""), "", ""},
		{"sub-agent", object, []message.Message{other(use(`{"answer":1}`)), other(say(`{"answer":2}`))}, ended(early, "", ""), "", ""},
		{"result text", object, nil, ended(early, "", ` {"answer":1} `), `{"answer":1}`, ""},
		{"fenced", object, nil, ended(early, "", "So:\n```json\n{\"answer\":1}\n```\nBye {x}"), `{"answer":1}`, ""},
		{"second fence", object, nil, ended(early, "", "```\nls\n```\n```\n{\"answer\":1}\n```"), `{"answer":1}`, ""},
		{"in text", object, nil, ended(early, "", `I think [sic] {"answer":1}.`), `{"answer":1}`, ""},
		{"list in text", list, nil, ended(early, "", `These: ["a","b"]`), `["a","b"]`, ""},
		{"said", object, []message.Message{say("hm"), say(`{"answer":1}`)}, ended("error_max_turns", "", ""), `{"answer":1}`, ""},
		{"budget", object, []message.Message{use(`{"answer":1}`)}, ended("error_max_budget_usd", "", ""), "", ""},
		{"text that is valid and a success", object, nil, ended("success", "", `{"answer":1}`), "", "finished without giving it"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newOutputWatch(tt.output)
			for _, m := range tt.before {
				w.see(m)
			}
			w.see(tt.result)
			if got := string(tt.result.StructuredOutput); got != tt.want {
				t.Errorf("the output is %q, want %q", got, tt.want)
			}
			err := w.failure(tt.result)
			var e *OutputError
			switch {
			case tt.reason == "" && err != nil:
				t.Errorf("the failure is %v", err)
			case tt.reason != "" && (!errors.As(err, &e) || !strings.Contains(e.Error(), tt.reason) || e.SessionID != "s"):
				t.Errorf("the failure is %v, want %q", err, tt.reason)
			}
			if got, want := w.hasRecovered(tt.result), tt.result.IsError && tt.want != ""; got != want {
				t.Errorf("recovered is %v", got)
			}
		})
	}
}

// TestOutputTurns: what was called in one turn is nothing to the next.
func TestOutputTurns(t *testing.T) {
	w := newOutputWatch(outputOf[answer]())
	w.see(use(`{"answer":1}`))
	w.see(ended("success", `{"answer":1}`, ""))
	second := ended("error_max_turns", "", "")
	w.see(second)
	if w.hasRecovered(second) {
		t.Errorf("the second turn has %s", second.StructuredOutput)
	}
	task := ended("success", "", "a task is done")
	task.Origin = &message.Origin{Kind: "task-notification"}
	w.see(task)
	if err := w.failure(task); err != nil || string(task.StructuredOutput) != `{"answer":1}` {
		t.Errorf("after a background task the output is %s, %v", task.StructuredOutput, err)
	}
}

func TestNoOutput(t *testing.T) {
	w := newOutputWatch(nil)
	r := ended("success", "", "text")
	w.see(r)
	if w.failure(r) != nil || w.hasRecovered(r) {
		t.Error("a run without an output is watched for one")
	}
}

func TestOutputDefaults(t *testing.T) {
	o := newAnswerSchema(schema.MustParse(`{"type":"object","properties":{"数":{"type":"integer"},"b":{"type":"integer","default":7}}}`))
	w := newOutputWatch(o)
	r := ended("success", `{"property":3}`, "")
	w.see(r)
	if diff := cmp.Diff(`{"数":3,"b":7}`, string(r.StructuredOutput)); diff != "" {
		t.Error(diff)
	}
}

// outputOf returns the structure of a Go type.
func outputOf[T any]() *answerSchema {
	s, err := schema.ForInput[T]()
	if err != nil {
		panic(err)
	}
	return newAnswerSchema(s)
}

func FuzzOutputFind(f *testing.F) {
	for _, text := range []string{`{"answer":1}`, "```json\n{\"answer\":1}\n```", "``` {", `x [[[[{"answer":1}`, `{"output":"{\"answer\":1}"}`} {
		f.Add(text)
	}
	outputs := []*answerSchema{outputOf[answer](), outputOf[[]string]()}
	f.Fuzz(func(t *testing.T, text string) {
		for _, o := range outputs {
			value, ok := o.find(text)
			if !ok {
				continue
			}
			if err := o.schema.Validate(value); err != nil {
				t.Errorf("%q gives %s, which does not fit: %v", text, value, err)
			}
		}
	})
}

// FuzzAnswerSchema: whatever is asked for, what is sent is a schema of an object.
func FuzzAnswerSchema(f *testing.F) {
	for _, s := range []string{`{}`, `true`, `{"type":"array","items":{"$ref":"#"}}`, `{"anyOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"type":"object"}}}`, `{"type":["object","null"]}`} {
		f.Add(s, `{"value":1}`)
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		s, err := schema.Parse([]byte(text))
		if err != nil {
			return
		}
		o := newAnswerSchema(s)
		if o.err != nil {
			return
		}
		sent, err := schema.Parse(o.sent)
		if err != nil || !sent.IsObject() {
			t.Fatalf("%s is sent as %s, %v", text, o.sent, err)
		}
		if got, err := o.read(json.RawMessage(value)); err == nil && o.schema.Validate(got) != nil {
			t.Errorf("%s by %s is read as %s, which does not fit", value, text, got)
		}
	})
}
