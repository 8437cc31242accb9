package stdtool

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/toolpost/toolpost"
)

// aliases are names that models know from other tools, with the names that they
// have here. The first one counts that the tool has.
var aliases = map[string][]string{
	"file_path":         {"path"},
	"filename":          {"path"},
	"old_str":           {"old_string"},
	"new_str":           {"new_string"},
	"file_text":         {"content"},
	"source":            {"from"},
	"destination":       {"to"},
	"include":           {"glob"},
	"output_mode":       {"mode"},
	"head_limit":        {"max_matches", "limit"},
	"-i":                {"case_insensitive"},
	"-C":                {"context"},
	"timeout":           {"timeout_ms"},
	"run_in_background": {"background"},
}

// newTool is [toolpost.New] for a tool that takes arguments as models write them
// for other tools: by other names, and numbers or booleans as text.
func newTool[In, Out any](name string, fn func(context.Context, In) (Out, error), opts *toolpost.Options) *toolpost.Tool {
	t := toolpost.New(name, description(name), fn, opts)
	var input struct {
		Properties map[string]struct {
			Type string `json:"type"`
		} `json:"properties"`
	}
	if json.Unmarshal(t.Input.Raw(), &input) != nil {
		return t // nothing is changed without the schema
	}
	types := map[string]string{}
	for name, p := range input.Properties {
		types[name] = p.Type
	}
	t.Policy.Prepare = func(raw json.RawMessage) json.RawMessage { return acceptAliases(raw, types) }
	return t
}

// acceptAliases returns the arguments by the names and of the types that a tool has.
// What it does not know stays, and is refused later.
func acceptAliases(raw json.RawMessage, types map[string]string) json.RawMessage {
	var given map[string]json.RawMessage
	if json.Unmarshal(raw, &given) != nil {
		return raw
	}
	changed := false
	for name, value := range given {
		target, known := name, types[name] != ""
		if !known {
			if target = alias(name, given, types); target == "" {
				continue
			}
		}
		if better, ok := retyped(value, types[target]); ok || !known {
			delete(given, name)
			given[target] = better
			changed = true
		}
	}
	if !changed {
		return raw
	}
	if value := string(given["mode"]); value == `"files_with_matches"` {
		given["mode"] = json.RawMessage(`"files"`)
	}
	better, err := json.Marshal(given)
	if err != nil {
		return raw
	}
	return better
}

// alias returns the name that the tool has for another one, if it is not given.
func alias(name string, given map[string]json.RawMessage, types map[string]string) string {
	for _, target := range aliases[name] {
		if _, twice := given[target]; types[target] != "" && !twice {
			return target
		}
	}
	return ""
}

// retyped returns the number or the boolean that a text holds.
func retyped(value json.RawMessage, want string) (better json.RawMessage, changed bool) {
	var text string
	if want != "integer" && want != "boolean" || json.Unmarshal(value, &text) != nil || value[0] != '"' {
		return value, false
	}
	if n, err := strconv.ParseInt(text, 10, 64); want == "integer" && err == nil {
		return strconv.AppendInt(nil, n, 10), true
	}
	if want == "boolean" && (text == "true" || text == "false") {
		return json.RawMessage(text), true
	}
	return value, false
}
