package gemini

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/toolpost/toolpost/internal/lazyregexp"
)

// rules are what models of Google have not in common.
type rules struct {
	signed        bool // the first call of a step needs a thought signature
	responseMedia bool // the response of a function may contain media
	jsonWithTools bool // JSON output and tools may be in one request
	levels        bool // effort is a level, otherwise a budget of tokens
	thinks        bool
	pro           bool
}

var generation = lazyregexp.New(`gemini-(\d+)(?:\.(\d+))?`)

// rulesOf returns the rules of a model. A name without a version, such as
// gemini-flash-latest, is the newest generation.
func rulesOf(name string) rules {
	major, minor := 3, 0
	if found := generation.FindStringSubmatch(name); found != nil {
		major, _ = strconv.Atoi(found[1])
		minor, _ = strconv.Atoi(found[2])
	} else if strings.Contains(name, "gemma") || strings.Contains(name, "learnlm") {
		major = 1
	}
	newest := major >= 3
	return rules{
		signed: newest, responseMedia: newest, jsonWithTools: newest, levels: newest,
		thinks: newest || major == 2 && minor >= 5 && !strings.Contains(name, "image"),
		pro:    strings.Contains(name, "pro"),
	}
}

// thinking returns the configuration for an effort, and what is lost by it.
func (r rules) thinking(name, effort string) (config *thinkingConfig, loss string, err error) {
	if effort != "" && !strings.Contains(" none low medium high ", " "+effort+" ") {
		return nil, "", fmt.Errorf("the effort is %q; write none, low, medium or high", effort)
	}
	switch {
	case !r.thinks && (effort == "" || effort == "none"):
		return nil, "", nil
	case !r.thinks:
		return nil, "the model cannot think; the effort is not sent", nil
	}
	config = &thinkingConfig{IncludeThoughts: effort != "none"}
	if effort == "" {
		return config, "", nil
	}
	if r.levels {
		config.ThinkingLevel, loss = r.level(name, effort)
	} else {
		budget, why := r.budget(effort)
		config.ThinkingBudget, loss = &budget, why
	}
	return config, loss, nil
}

// level returns the level of thinking of a model since Gemini 3. None of them can
// stop thinking.
func (r rules) level(name, effort string) (level, loss string) {
	switch {
	case effort == "none" && r.pro:
		return "LOW", "the model cannot stop thinking; it thinks at the level low"
	case effort == "none":
		return "MINIMAL", "the model cannot stop thinking; it thinks at the level minimal"
	case effort == "medium" && strings.Contains(name, "gemini-3-pro"):
		return "HIGH", "the model has no level medium; it thinks at the level high"
	}
	return strings.ToUpper(effort), ""
}

// budget returns the tokens that a model of Gemini 2.5 may think. They are those
// of Google's own interface for clients of OpenAI.
func (r rules) budget(effort string) (tokens int32, loss string) {
	switch {
	case effort == "none" && r.pro:
		return 128, "the model cannot stop thinking; it thinks for at most 128 tokens"
	case effort == "none":
		return 0, ""
	case effort == "low":
		return 1024, ""
	case effort == "medium":
		return 8192, ""
	}
	return 24576, ""
}
