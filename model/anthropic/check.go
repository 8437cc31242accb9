package anthropic

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// Limits of the API.
const (
	maxBody        = 32 << 20 // bytes of a request
	maxMessages    = 100_000
	maxBreakpoints = 4
)

var errTooLong = errors.New("make the conversation shorter")

// check returns the reason why the API would refuse the body of a request. It
// knows the rules that break conversations: the order of roles, calls and their
// results, signatures of thinking, empty texts, cache breakpoints, media types,
// and the names and schemas of tools.
func check(body []byte) error { return checkBody(body, true) }

// checkBody is check. Tools that were checked before are not checked again,
// because that takes long.
func checkBody(body []byte, tools bool) error {
	if len(body) > maxBody {
		return fmt.Errorf("the request has %d bytes; the limit is %d; %w", len(body), maxBody, errTooLong)
	}
	root, err := jsontree.Parse(body, 2*maxLevels)
	if err != nil {
		return fmt.Errorf("the request is not JSON: %w", err)
	}
	if !isObject(root) {
		return errors.New("the request is not a JSON object")
	}
	c := &checker{root: root, ids: map[string]bool{}, serverIDs: map[string]bool{}}
	checks := []func() error{c.checkParameters, c.checkThinking, c.checkSystem, c.checkToolList, c.checkMessages, c.checkTurn}
	if tools {
		checks = append(checks, func() error { return checkTools(rawOf(root.Get("tools"))) })
	}
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// rawOf returns the JSON of a value, nil if there is none.
func rawOf(v *jsontree.Value) json.RawMessage {
	if v == nil {
		return nil
	}
	return v.Raw
}

// A checker is the state of checking one request.
type checker struct {
	root        *jsontree.Value
	ids         map[string]bool // of all calls so far
	serverIDs   map[string]bool // of all calls that the provider runs; true without a result
	breakpoints int
	shortTTL    bool // a breakpoint of five minutes was seen
}

// checkParameters checks the members that are neither tools nor messages.
func (c *checker) checkParameters() error {
	limit := c.root.Get("max_tokens")
	if limit == nil || limit.Kind != jsontree.KindInteger || jsontree.ParseDecimal(limit.Raw).Count() < 1 {
		return errors.New("max_tokens: it must be an integer of at least 1")
	}
	if textOf(c.root.Get("model")) == "" {
		return errors.New("model: it is missing")
	}
	choice := textOf(c.root.Get("tool_choice").Get("type"))
	known := []string{"", "auto", "any", "tool", "none"}
	switch {
	case !slices.Contains(known, choice):
		return fmt.Errorf("tool_choice: the type %q is unknown", choice)
	case choice != "" && len(c.root.Get("tools").Items()) == 0:
		return errors.New("tool_choice: it needs tools")
	}
	return c.checkOutput()
}

// checkOutput checks output_config.
func (c *checker) checkOutput() error {
	config := c.root.Get("output_config")
	effort := textOf(config.Get("effort"))
	if known := []string{"", "low", "medium", "high", "xhigh", "max"}; !slices.Contains(known, effort) {
		return fmt.Errorf("output_config.effort: %q is unknown", effort)
	}
	format := config.Get("format")
	if format == nil {
		return nil
	}
	if !format.Get("type").IsText("json_schema") || !isObject(format.Get("schema")) {
		return errors.New("output_config.format: it needs the type json_schema and a schema")
	}
	if err := lintSchema("anthropic-strict", "output", format.Get("schema").Raw); err != nil {
		return fmt.Errorf("output_config.format.schema: %w", err)
	}
	return nil
}

// checkThinking checks the budget for thinking.
func (c *checker) checkThinking() error {
	thinking := c.root.Get("thinking")
	kind := textOf(thinking.Get("type"))
	switch kind {
	case "enabled":
	case "adaptive", "disabled", "between_tools":
		return nil
	default:
		if thinking == nil {
			return nil
		}
		return fmt.Errorf("thinking: the type %q is unknown", kind)
	}
	budget := jsontree.Decimal{}
	if v := thinking.Get("budget_tokens"); v != nil && v.Kind == jsontree.KindInteger {
		budget = jsontree.ParseDecimal(v.Raw)
	}
	limit := jsontree.ParseDecimal(c.root.Get("max_tokens").Raw)
	choice := textOf(c.root.Get("tool_choice").Get("type"))
	switch {
	case budget.Count() < minBudget:
		return fmt.Errorf("thinking.budget_tokens: it must be at least %d", minBudget)
	case budget.Cmp(limit) >= 0:
		return errors.New("thinking.budget_tokens: it must be less than max_tokens")
	case choice == "any" || choice == "tool":
		return errors.New("tool_choice: thinking does not allow that calls are forced")
	}
	return nil
}

// checkSystem checks the system prompt.
func (c *checker) checkSystem() error {
	system := c.root.Get("system")
	switch {
	case system == nil, system.Kind == jsontree.KindString && !isBlank(system.Text):
		return nil
	case len(system.Items()) == 0:
		return errors.New("system: it is empty; leave it out")
	}
	for i, b := range system.Items() {
		if !b.Get("type").IsText("text") || isBlank(textOf(b.Get("text"))) {
			return fmt.Errorf("system.%d: it must be a text that is not empty", i)
		}
		if err := c.checkBreakpoint(b); err != nil {
			return fmt.Errorf("system.%d: %w", i, err)
		}
	}
	return nil
}

// checkToolList checks the breakpoints of tools, and that at least one tool is
// not deferred.
func (c *checker) checkToolList() error {
	tools := c.root.Get("tools").Items()
	deferred := 0
	for i, t := range tools {
		isDeferred := t.Get("defer_loading") != nil && t.Get("defer_loading").Is("true")
		if isDeferred {
			deferred++
		}
		if isDeferred && t.Get("cache_control") != nil {
			return fmt.Errorf("tools.%d: a deferred tool cannot have cache_control", i)
		}
		if err := c.checkBreakpoint(t); err != nil {
			return fmt.Errorf("tools.%d: %w", i, err)
		}
	}
	if deferred > 0 && deferred == len(tools) {
		return errors.New("tools: at least one tool must not be deferred")
	}
	return nil
}

// checkBreakpoint counts and checks the mark of the cache of a block or tool.
func (c *checker) checkBreakpoint(v *jsontree.Value) error {
	mark := v.Get("cache_control")
	if mark == nil || mark.Kind == jsontree.KindNull {
		return nil
	}
	kind, ttl := textOf(v.Get("type")), textOf(mark.Get("ttl"))
	switch c.breakpoints++; {
	case isThinking(kind):
		return errors.New("thinking cannot have cache_control")
	case !mark.Get("type").IsText("ephemeral"):
		return errors.New("cache_control: the type must be ephemeral")
	case ttl != "" && ttl != "5m" && ttl != "1h":
		return fmt.Errorf("cache_control: the ttl %q is not 5m or 1h", ttl)
	case ttl == "1h" && c.shortTTL:
		return errors.New("cache_control: a ttl of 1h cannot follow one of 5m")
	case c.breakpoints > maxBreakpoints:
		return fmt.Errorf("cache_control: there are more than %d breakpoints", maxBreakpoints)
	}
	c.shortTTL = c.shortTTL || ttl != "1h"
	return nil
}
