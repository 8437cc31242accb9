package stdtool

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

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
	"-A":                {"context"},
	"-B":                {"context"},
	"timeout":           {"timeout_ms"},
	"timeout_seconds":   {"timeout_ms"},
	"run_in_background": {"background"},
}

// needless are names from other tools for what a tool here does anyway, or has no use
// for: the purpose of a command, what to look for in a page, the grammar of a todo.
var needless = map[string]string{
	"description": "command",
	"prompt":      "url",
	"-n":          "pattern",
	"active_form": "status",
	"priority":    "status",
}

// otherValues are values that models know from other tools, for a name that has only
// certain ones.
var otherValues = map[string]string{
	"files_with_matches": "files",
	"done":               "completed",
	"complete":           "completed",
	"finished":           "completed",
	"todo":               "pending",
	"open":               "pending",
	"in-progress":        "in_progress",
	"active":             "in_progress",
	"canceled":           "cancelled",
}

// An argument is what a schema says of one value.
type argument struct {
	Type       string
	Enum       []string
	Properties map[string]*argument
	Items      *argument
}

// newTool is [toolpost.New] for a tool that takes arguments as models write them
// for other tools: by other names, and numbers, booleans, lists and objects as text.
func newTool[In, Out any](name string, fn func(context.Context, In) (Out, error), opts *toolpost.Options) *toolpost.Tool {
	t := toolpost.New(name, description(name), fn, opts)
	var input argument
	if json.Unmarshal(t.Input.Raw(), &input) != nil {
		return t // nothing is changed without the schema
	}
	t.Policy.Prepare = func(raw json.RawMessage) json.RawMessage {
		better, _ := input.accept(raw)
		return better
	}
	return t
}

// accept returns a value by the names and of the types that a tool has, and whether it
// is another one. What is not known stays, and is refused later.
func (a *argument) accept(raw json.RawMessage) (better json.RawMessage, changed bool) {
	raw, changed = a.convertType(raw)
	switch {
	case a.Type == "object" && a.Properties != nil:
		return a.acceptObject(raw, changed)
	case a.Type != "array" || a.Items == nil:
		return raw, changed
	}
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		return raw, changed
	}
	for i, item := range items {
		better, other := a.Items.accept(item)
		items[i], changed = better, changed || other
	}
	return encodeIfChanged(items, raw, changed)
}

func (a *argument) acceptObject(raw json.RawMessage, changed bool) (json.RawMessage, bool) {
	var given map[string]json.RawMessage
	if json.Unmarshal(raw, &given) != nil || given == nil {
		return raw, changed
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		target := a.name(name)
		if target == "" {
			if a.hasNoUse(name) {
				delete(given, name)
				changed = true
			}
			continue
		}
		better, other := a.Properties[target].accept(given[name])
		if target != name {
			if better, other = a.aliasValue(given, name, target, better); !other {
				continue
			}
			delete(given, name)
		}
		given[target] = better
		changed = changed || other
	}
	return encodeIfChanged(given, raw, changed)
}

// aliasValue returns the value that has another name, and false if there is another one by
// the tool's name: which one counts is not known.
func (a *argument) aliasValue(given map[string]json.RawMessage, name, target string, value json.RawMessage) (json.RawMessage, bool) {
	switch snakeCase(name) {
	case "timeout":
		value = milliseconds(value, maxSeconds)
	case "timeout_seconds":
		value = milliseconds(value, math.MaxInt32)
	}
	present, twice := given[target]
	return value, !twice || bytes.Equal(present, value)
}

// encodeIfChanged returns v as JSON if it is changed, else raw.
func encodeIfChanged(v any, raw json.RawMessage, changed bool) (json.RawMessage, bool) {
	if !changed {
		return raw, false
	}
	better, err := json.Marshal(v)
	if err != nil {
		return raw, false
	}
	return better, true
}

// name returns the name that a tool has for another one, "" if it has none.
func (a *argument) name(given string) string {
	if a.Properties[given] != nil {
		return given
	}
	snake := snakeCase(given)
	for _, target := range append(slices.Clone(aliases[given]), append([]string{snake}, aliases[snake]...)...) {
		if a.Properties[target] != nil {
			return target
		}
	}
	return ""
}

func (a *argument) hasNoUse(name string) bool {
	beside := needless[snakeCase(name)]
	return beside != "" && a.Properties[beside] != nil
}

// snakeCase returns filePath as file_path.
func snakeCase(name string) string {
	if strings.HasPrefix(name, "-") {
		return name
	}
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// maxSeconds is the longest time that a number is taken for which may be seconds or
// milliseconds. No command is given so few milliseconds.
const maxSeconds = 600

// milliseconds returns a time of a tool whose unit is the second up to the largest one.
func milliseconds(value json.RawMessage, largest float64) json.RawMessage {
	seconds, err := strconv.ParseFloat(string(value), 64)
	if err != nil || seconds <= 0 || seconds > largest {
		return value
	}
	return strconv.AppendInt(nil, max(1, int64(seconds*1000)), 10)
}

// convertType returns what a text holds that stands for another type, and the tool's word
// for a value.
func (a *argument) convertType(value json.RawMessage) (better json.RawMessage, changed bool) {
	var text string
	if len(value) == 0 || value[0] != '"' || json.Unmarshal(value, &text) != nil {
		return value, false
	}
	switch a.Type {
	case "integer":
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return strconv.AppendInt(nil, n, 10), true
		}
	case "string":
		if other := otherValues[text]; other != "" && slices.Contains(a.Enum, other) && !slices.Contains(a.Enum, text) {
			return json.RawMessage(strconv.Quote(other)), true
		}
	case "boolean", "array", "object":
		if a.isWritten(strings.TrimSpace(text)) {
			return json.RawMessage(text), true
		}
	}
	return value, false
}

// isWritten reports whether text is a value of the type in JSON.
func (a *argument) isWritten(text string) bool {
	switch a.Type {
	case "boolean":
		return text == "true" || text == "false"
	case "array":
		return strings.HasPrefix(text, "[") && json.Valid([]byte(text))
	}
	return strings.HasPrefix(text, "{") && json.Valid([]byte(text))
}
