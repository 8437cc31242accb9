package anthropic

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/toolpost/toolpost/internal/lazyregexp"
	"github.com/toolpost/toolpost/model"
)

// A thinkingConfig is how much the model thinks.
type thinkingConfig struct {
	config json.RawMessage // "thinking" of the request; nil for the model's default
	effort string          // of output_config; "" for the model's default
}

// versionOf matches the family and the version in the name of a model.
var versionOf = lazyregexp.New(`claude-(?:([a-z]+)-)?(\d)(?:[-.](\d{1,2}))?(?:$|[^\d])`)

// thinkingForm returns how a model is asked to think: adaptively since Claude
// 4.6, with a budget of tokens before. Compatible servers know the budget.
// Some families always think.
func thinkingForm(name string) (adaptive, always, byDefault bool) {
	found := versionOf.FindStringSubmatch(name)
	if found == nil {
		return strings.Contains(name, "claude-"), false, false
	}
	major, _ := strconv.Atoi(found[2]) // digits
	minor, _ := strconv.Atoi(found[3]) // digits, or empty
	always = found[1] == "mythos" || found[1] == "fable"
	return always || major > 4 || major == 4 && minor >= 6, always, major > 4
}

// budgets are the tokens for thinking of models that want a number.
var budgets = map[string]int{"low": 4096, "medium": 10240, "high": 24576}

const minBudget = 1024 // the least that the API accepts

// thinking returns the form of the request's effort.
func (b *builder) thinking(maxTokens int, messages []*message) thinkingConfig {
	effort := b.r.Effort
	adaptive, always, byDefault := thinkingForm(b.m.origin.Model)
	switch {
	case effort == "":
		return thinkingConfig{}
	case effort == "none" && always:
		b.losses.Add(-1, -1, "the model always thinks; it receives the effort low instead of none")
		return thinkingConfig{effort: "low"}
	case effort == "none" && byDefault:
		return thinkingConfig{config: json.RawMessage(`{"type":"disabled"}`)}
	case effort == "none":
		return thinkingConfig{}
	case adaptive:
		return thinkingConfig{json.RawMessage(`{"type":"adaptive","display":"summarized"}`), effort}
	}
	budget, known := budgets[effort]
	if !known {
		b.losses.Add(-1, -1, "the effort %q is unknown; use none, low, medium or high", effort)
		return thinkingConfig{}
	}
	budget = min(budget, maxTokens/2)
	switch {
	case budget < minBudget:
		b.losses.Add(-1, -1, "the model does not think, because its response may have only %d tokens", maxTokens)
		return thinkingConfig{}
	case !thinksInTurn(messages):
		b.losses.Add(-1, -1, "the model does not think until the user's next message, because its turn began without thinking")
		return thinkingConfig{}
	}
	return thinkingConfig{config: json.RawMessage(fmt.Sprintf(`{"type":"enabled","budget_tokens":%d}`, budget))}
}

// thinksInTurn reports whether the turn of the assistant that the request
// continues, if any, began with thinking. Otherwise the API refuses a budget for
// thinking.
func thinksInTurn(messages []*message) bool {
	began, thinks := false, false
	for _, m := range messages {
		switch first := m.blocks[0].kind; {
		case m.role == model.RoleUser && first != "tool_result":
			began, thinks = false, false
		case m.role == model.RoleAssistant:
			began = true
			thinks = thinks || isThinking(first)
		}
	}
	return thinks || !began
}

func isThinking(kind string) bool { return kind == "thinking" || kind == "redacted_thinking" }
