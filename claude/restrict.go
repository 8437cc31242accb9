package claude

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/schema"
)

// restrictions are Options.Restrict.
type restrictions map[string]map[string]any

// refusal describes what is against a call, as text for the model; "" if nothing. A
// parameter that is left out is not restricted.
func (rs restrictions) refusal(tool string, input json.RawMessage) string {
	restricted := rs[tool]
	if len(restricted) == 0 {
		return ""
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(input, &given); err != nil {
		return fmt.Sprintf("The arguments of %s are not a JSON object.", tool)
	}
	for _, name := range slices.Sorted(maps.Keys(restricted)) {
		got, ok := given[name]
		if !ok {
			continue
		}
		want, _ := json.Marshal(restricted[name]) // checked before the start
		if !sameValue(got, want) {
			return fmt.Sprintf("The parameter %q of %s must be %s here. Call it again with that value, or without the parameter.", name, tool, want)
		}
	}
	return ""
}

// sameValue reports whether two JSON values are equal as JSON Schema has it:
// 1e3 is 1000, and large integers are compared exactly.
func sameValue(got, want json.RawMessage) bool {
	only, err := schema.Parse([]byte(`{"const":` + string(want) + `}`))
	return err == nil && only.Validate(got) == nil
}

// restrictID is the callback that enforces them. It is a hook since
// a Permission is not asked about tools that are allowed.
const restrictID = "restrict"

func (rs restrictions) matcher() hookMatcher {
	tools := slices.Sorted(maps.Keys(rs))
	return hookMatcher{Matcher: strings.Join(tools, "|"), IDs: []string{restrictID}, OnFailure: "block"}
}

// hook is the callback: it gets more calls than those of restricted tools if a
// name reads as a regular expression.
func (rs restrictions) hook(in *HookInput) *HookOutput {
	if why := rs.refusal(in.ToolName, in.ToolInput); why != "" {
		return &HookOutput{Permission: HookDeny, Reason: why}
	}
	return nil
}

func (rs restrictions) check() error {
	for tool, params := range rs {
		if tool == "" {
			return fmt.Errorf("an entry of Restrict names no tool; name one such as %q", "Bash")
		}
		for name, value := range params {
			if _, err := json.Marshal(value); err != nil {
				return fmt.Errorf("the value in Restrict for %q of %s is not JSON; give another: %w", name, tool, err)
			}
		}
	}
	return nil
}
