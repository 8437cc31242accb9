package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/schema"
)

// Tools that keep the rounds of a call themselves (MCP 2026-07-28,
// multi round-trip requests): the suite wants certain keys and states, so
// that [toolpost.Call.Ask], which makes its own, does not serve here.

// rounds is what a call brings from the rounds before.
type rounds struct {
	Responses map[string]json.RawMessage `json:"inputResponses"`
	State     string                     `json:"requestState"`
	Meta      struct {
		Can map[string]json.RawMessage `json:"io.modelcontextprotocol/clientCapabilities"`
	} `json:"_meta"`
}

// accepted returns a value of the form that the user filled in, "" if none.
func (r *rounds) accepted(key, field string) string {
	var form struct {
		Action  string         `json:"action"`
		Content map[string]any `json:"content"`
	}
	if json.Unmarshal(r.Responses[key], &form) != nil || form.Action != "accept" || form.Content[field] == nil {
		return ""
	}
	return fmt.Sprint(form.Content[field])
}

// sampled returns what the client's model said, "" if it was not asked.
func (r *rounds) sampled(key string) string {
	var answer struct {
		Content struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	if json.Unmarshal(r.Responses[key], &answer) != nil {
		return ""
	}
	return answer.Content.Text
}

func (r *rounds) roots(key string) (n int, answered bool) {
	var answer struct {
		Roots []json.RawMessage `json:"roots"`
	}
	answered = json.Unmarshal(r.Responses[key], &answer) == nil && answer.Roots != nil
	return len(answer.Roots), answered
}

func inputTools() []*toolpost.Tool {
	return []*toolpost.Tool{
		roundsTool("test_missing_capability", "Needs a client that can sample", missingCapability),
		roundsTool("test_input_required_result_elicitation", "Asks for a name", askName),
		roundsTool("test_input_required_result_sampling", "Asks the client's model", askModel),
		roundsTool("test_input_required_result_list_roots", "Asks for the roots", askRoots),
		roundsTool("test_input_required_result_request_state", "Asks with a state", confirm),
		roundsTool("test_input_required_result_tampered_state", "Asks with a state that the client must not change", confirm),
		roundsTool("test_input_required_result_multiple_inputs", "Asks three things at once", askAll),
		roundsTool("test_input_required_result_multi_round", "Asks twice", askTwice),
		roundsTool("test_input_required_result_capabilities", "Asks what the client can answer", askWhatIsPossible),
	}
}

func roundsTool(name, description string, f func(*rounds) (*toolpost.Result, error)) *toolpost.Tool {
	return &toolpost.Tool{
		Definition: toolpost.Definition{Name: name, Description: description, Input: schema.MustParse(`{"type":"object"}`)},
		Handler:    roundsHandler(f),
	}
}

func roundsHandler(f func(*rounds) (*toolpost.Result, error)) toolpost.Handler {
	return func(_ context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		var r rounds
		if err := json.Unmarshal(call.Params, &r); err != nil {
			return nil, &toolpost.ProtocolError{Code: -32602, Message: err.Error()}
		}
		return f(&r)
	}
}

// ask answers with what is needed; without a state, none is sent.
func ask(state string, inputs map[string]json.RawMessage) (*toolpost.Result, error) {
	members := []any{"resultType", "input_required", "inputRequests", inputs}
	if state != "" {
		members = append(members, "requestState", state)
	}
	return toolpost.RawResult(object(members...)), nil
}

func form(message, field, kind string) json.RawMessage {
	return object("method", "elicitation/create", "params", json.RawMessage(object("message", message, "requestedSchema",
		json.RawMessage(object("type", "object", "required", []string{field}, "properties",
			json.RawMessage(object(field, json.RawMessage(object("type", kind)))))))))
}

func modelInput(prompt string) json.RawMessage {
	return object("method", "sampling/createMessage", "params", question(prompt))
}

func rootsInput() json.RawMessage { return object("method", "roots/list", "params", struct{}{}) }

func missingCapability(r *rounds) (*toolpost.Result, error) {
	if r.Meta.Can["sampling"] == nil {
		return nil, &toolpost.ProtocolError{Code: -32021, Message: "the client must declare sampling",
			Data: []byte(`{"requiredCapabilities":{"sampling":{}}}`)}
	}
	return toolpost.TextResult("the client can sample"), nil
}

func askName(r *rounds) (*toolpost.Result, error) {
	if name := r.accepted("user_name", "name"); name != "" {
		return toolpost.TextResult("Hello, " + name + "!"), nil
	}
	return ask("", map[string]json.RawMessage{"user_name": form("What is your name?", "name", "string")})
}

func askModel(r *rounds) (*toolpost.Result, error) {
	if text := r.sampled("capital_question"); text != "" {
		return toolpost.TextResult(text), nil
	}
	return ask("", map[string]json.RawMessage{"capital_question": modelInput("What is the capital of France?")})
}

func askRoots(r *rounds) (*toolpost.Result, error) {
	if n, ok := r.roots("client_roots"); ok {
		return toolpost.TextResult(fmt.Sprintf("The client has %d roots", n)), nil
	}
	return ask("", map[string]json.RawMessage{"client_roots": rootsInput()})
}

// sealed is a state that no client can make up.
const sealed = "sealed"

func confirm(r *rounds) (*toolpost.Result, error) {
	if r.State != "" && r.State != sealed {
		return nil, &toolpost.ProtocolError{Code: -32602, Message: "the requestState was changed"}
	}
	if r.State == sealed && r.accepted("confirm", "ok") != "" {
		return toolpost.TextResult("state-ok"), nil
	}
	return ask(sealed, map[string]json.RawMessage{"confirm": form("Please confirm", "ok", "boolean")})
}

func askAll(r *rounds) (*toolpost.Result, error) {
	name, greeting := r.accepted("user_name", "name"), r.sampled("greeting")
	if n, ok := r.roots("client_roots"); ok && name != "" && greeting != "" {
		return toolpost.TextResult(fmt.Sprintf("%s %s (%d roots)", greeting, name, n)), nil
	}
	return ask(sealed, map[string]json.RawMessage{
		"user_name":    form("What is your name?", "name", "string"),
		"greeting":     modelInput("Write a greeting"),
		"client_roots": rootsInput(),
	})
}

func askTwice(r *rounds) (*toolpost.Result, error) {
	name, second := strings.CutPrefix(r.State, "name:")
	switch {
	case second:
		return toolpost.TextResult(name + " likes " + r.accepted("step2", "color")), nil
	case r.State != "":
		return ask("name:"+r.accepted("step1", "name"), map[string]json.RawMessage{"step2": form("What is your favourite colour?", "color", "string")})
	}
	return ask("first", map[string]json.RawMessage{"step1": form("What is your name?", "name", "string")})
}

func askWhatIsPossible(r *rounds) (*toolpost.Result, error) {
	if len(r.Responses) > 0 {
		return toolpost.TextResult("got the input"), nil
	}
	inputs := map[string]json.RawMessage{}
	if r.Meta.Can["elicitation"] != nil {
		inputs["user_name"] = form("What is your name?", "name", "string")
	}
	if r.Meta.Can["sampling"] != nil {
		inputs["greeting"] = modelInput("Write a greeting")
	}
	if r.Meta.Can["roots"] != nil {
		inputs["client_roots"] = rootsInput()
	}
	if len(inputs) == 0 {
		return toolpost.TextResult("the client can answer nothing"), nil
	}
	return ask("", inputs)
}
