package claude_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost/claude"
	"github.com/toolpost/toolpost/claude/internal/stdio"
	"github.com/toolpost/toolpost/claude/message"
)

func read(lines ...string) iter.Seq2[message.Message, error] {
	p := &message.Parser{Logger: slog.New(slog.DiscardHandler)}
	return p.Read(strings.NewReader(strings.Join(lines, "\n")))
}

const (
	answerLine = `{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"t"},{"type":"text","text":"one"}]},"session_id":"s"}`
	moreLine   = `{"type":"assistant","message":{"content":[{"type":"text","text":"two"},{"type":"tool_use","id":"i","name":"n","input":{}}]},"session_id":"s"}`
	subLine    = `{"type":"assistant","message":{"content":[{"type":"text","text":"of a sub-agent"}]},"parent_tool_use_id":"toolu_1","session_id":"s"}`
	callLine   = `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"i","name":"n","input":{}}]},"session_id":"s"}`
	quietLine  = `{"type":"result","subtype":"success","is_error":false,"result":null,"session_id":"s"}`
)

// requirement 2, FR-001, FR-004, SC-001 and user story 1: every field of a result
// is in the response.
func TestCollectKeepsEveryField(t *testing.T) {
	got, err := claude.Collect(read(answerLine, `{"type":"result","subtype":"success","is_error":false,"duration_ms":1,"duration_api_ms":2,`+
		`"num_turns":3,"result":"r","session_id":"s","total_cost_usd":0.5,"usage":{"input_tokens":4,"server_tool_use":{"web_search_requests":5},`+
		`"cache_creation":{"ephemeral_1h_input_tokens":6},"service_tier":"standard"},"structured_output":{"a":1},`+
		`"modelUsage":{"m":{"costUSD":0.5}},"model_usage_since_last_result":{"m":{"costUSD":0.25}},`+
		`"permission_denials":[{"tool_name":"f","tool_use_id":"i","tool_input":{"x":1}}],"deferred_tool_use":{"id":"i","name":"f","input":{}},`+
		`"stop_reason":"end_turn","terminal_reason":"completed","uuid":"u"}`))
	if err != nil {
		t.Fatal(err)
	}
	want := &claude.Response{
		Result: "r", Subtype: "success", DurationMS: 1, DurationAPIMS: 2, NumTurns: 3, SessionID: "s", TotalCostUSD: 0.5,
		Usage:            message.Usage{InputTokens: 4, ServiceTier: "standard"},
		StructuredOutput: json.RawMessage(`{"a":1}`), CostUSDSinceLastResult: 0.25,
		ModelUsage:                map[string]message.ModelUsage{"m": {CostUSD: 0.5}},
		ModelUsageSinceLastResult: map[string]message.ModelUsage{"m": {CostUSD: 0.25}},
		PermissionDenials:         []message.PermissionDenial{{ToolName: "f", ToolUseID: "i", ToolInput: json.RawMessage(`{"x":1}`)}},
		DeferredToolUse:           &message.DeferredToolUse{ID: "i", Name: "f", Input: json.RawMessage(`{}`)},
		StopReason:                "end_turn", TerminalReason: "completed", UUID: "u",
	}
	want.Usage.ServerToolUse.WebSearchRequests, want.Usage.CacheCreation.Ephemeral1hInputTokens = 5, 6
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if err := got.Err(); err != nil {
		t.Errorf("it is an error: %v", err)
	}
}

// requirement 2, FR-001: the names are those of the requirement.
func TestResponseNames(t *testing.T) {
	response, err := claude.Collect(read(quietLine))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(response)
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields("result subtype is_error duration_ms duration_api_ms num_turns session_id total_cost_usd usage structured_output model_usage permission_denials") {
		if _, ok := members[name]; !ok {
			t.Errorf("there is no %s in %s", name, raw)
		}
	}
}

// requirement 2, user story 1, scenario 3: the text is that of the result, else
// the text blocks of the main agent.
func TestCollectText(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"result":            {[]string{answerLine, `{"type":"result","subtype":"success","is_error":false,"result":"r"}`}, "r"},
		"empty result":      {[]string{answerLine, `{"type":"result","subtype":"success","is_error":false,"result":""}`}, ""},
		"no result":         {[]string{answerLine, subLine, callLine, moreLine, quietLine}, "one\ntwo"},
		"no text":           {[]string{callLine, quietLine}, ""},
		"error":             {[]string{answerLine, `{"type":"result","subtype":"error_max_turns","is_error":true,"errors":["e"]}`}, "one"},
		"the last one wins": {[]string{answerLine, `{"type":"result","subtype":"success","is_error":false,"result":"r"}`, `{"type":"result","subtype":"success","is_error":false,"result":"last"}`}, "last"},
		"unknown between":   {[]string{`{"type":"odd"}`, answerLine, `{"type":"odd"}`, quietLine, `{"type":"odd"}`}, "one"},
	} {
		got, err := claude.Collect(read(c.lines...))
		if err != nil || got.Result != c.want {
			t.Errorf("%s: %q, %v; want %q", name, got.Result, err, c.want)
		}
	}
}

// requirement 2, user story 1, scenario 4 and the edge case: a structured output
// is an object.
func TestCollectStructuredOutput(t *testing.T) {
	for value, want := range map[string]string{
		`{"a":1}`: `{"a":1}`, `{}`: `{}`, `[1]`: "", `"text"`: "", `7`: "", `null`: "",
	} {
		got, err := claude.Collect(read(`{"type":"result","subtype":"success","is_error":false,"structured_output":` + value + `}`))
		if err != nil || string(got.StructuredOutput) != want {
			t.Errorf("%s: %s, %v; want %s", value, got.StructuredOutput, err, want)
		}
	}
}

// requirement 2, edge cases: no messages, no result. requirement 2, FR-006: a
// malformed message is an error, with what was known before it.
func TestCollectFails(t *testing.T) {
	if r, err := claude.Collect(read()); r != nil || !errors.Is(err, claude.ErrNoMessages) {
		t.Errorf("nothing: %v, %v", r, err)
	}
	r, err := claude.Collect(read(answerLine, subLine))
	if !errors.Is(err, claude.ErrNoResult) || r.Result != "one" || r.SessionID != "s" {
		t.Errorf("no result: %+v, %v", r, err)
	}
	var failure *message.ParseError
	r, err = claude.Collect(read(quietLine, `{"type":"assistant"}`, answerLine))
	if !errors.As(err, &failure) || r.Subtype != "success" || r.Result != "" {
		t.Errorf("malformed: %+v, %v", r, err)
	}
	if r, err := claude.Collect(func(yield func(message.Message, error) bool) { yield(nil, io.ErrClosedPipe) }); r != nil || err != io.ErrClosedPipe {
		t.Errorf("an error at once: %v, %v", r, err)
	}
}

// requirement 2, user story 1, scenario 2, and what the CLI does: costs are
// totals, which are read and never summed.
func TestCollectCosts(t *testing.T) {
	result := func(total, turn string) string {
		return `{"type":"result","subtype":"success","is_error":false,"total_cost_usd":` + total + `,"model_usage_since_last_result":{"a":{"costUSD":` + turn + `},"b":{"costUSD":0}}}`
	}
	for name, c := range map[string]struct {
		lines       []string
		total, turn float64
	}{
		"one":       {[]string{result("0.5", "0.5")}, 0.5, 0.5},
		"two":       {[]string{result("0.5", "0.5"), result("0.75", "0.25")}, 0.75, 0.25},
		"three":     {[]string{result("0.5", "0.5"), result("0.75", "0.25"), result("1", "0.25")}, 1, 0.25},
		"resumed":   {[]string{result("1.5", "0.25")}, 1.5, 0.25},
		"reset":     {[]string{result("0.5", "0.5"), `{"type":"conversation_reset","new_conversation_id":"n"}`, result("0.25", "0.25")}, 0.25, 0.25},
		"no parts":  {[]string{`{"type":"result","subtype":"success","is_error":false,"total_cost_usd":0.5}`}, 0.5, 0.5},
		"no change": {[]string{result("0.5", "0.5"), result("0.5", "0")}, 0.5, 0},
	} {
		got, err := claude.Collect(read(c.lines...))
		if err != nil || got.TotalCostUSD != c.total || math.Abs(got.CostUSDSinceLastResult-c.turn) > 1e-12 {
			t.Errorf("%s: %v and %v, %v; want %v and %v", name, got.TotalCostUSD, got.CostUSDSinceLastResult, err, c.total, c.turn)
		}
	}
}

// All recordings of the CLI come to a response; those that failed are errors.
func TestCollectRecordings(t *testing.T) {
	want := map[string]int{"08b-api-429-final": 429, "08d-api-401": 401, "08e-api-400": 400, "09-max-turns": 0, "40-api-hang": 0}
	unfinished := map[string]bool{} // the CLI was ended, or did not begin
	files, err := filepath.Glob("testdata/recordings/*/stdio.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		name := filepath.Base(filepath.Dir(file))
		response, err := claude.Collect(read(recordedLines(t, file)...))
		if err != nil {
			unfinished[name] = true
			continue
		}
		if response.SessionID == "" || response.UUID == "" || response.TerminalReason == "" {
			t.Errorf("%s: %+v", name, response)
		}
		var failure *claude.ResultError
		status, failed := want[name]
		if errors.As(response.Err(), &failure) != failed || failed && (failure.APIStatus != status || len(failure.Errors) == 0) {
			t.Errorf("%s: %v, want an error: %v with status %d", name, response.Err(), failed, status)
		}
	}
	if len(unfinished) != 4 || !unfinished["26-exit-error-flag"] || !unfinished["38-sigterm-mid-turn"] || !unfinished["48-text-mode-json"] || !unfinished["61-jsonschema-invalid"] {
		t.Errorf("%v have no result", unfinished)
	}
}

// recordedLines returns what the CLI wrote.
func recordedLines(t *testing.T, file string) (lines []string) {
	t.Helper()
	entries, err := stdio.Read(os.DirFS("."), file)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Dir == "stdout" {
			lines = append(lines, string(e.Line))
		}
	}
	return lines
}

func TestResultError(t *testing.T) {
	for line, want := range map[string]string{
		`"subtype":"success","api_error_status":401,"terminal_reason":"api_error","result":"Invalid API key"`: `the claude run failed: the API answered 401: Invalid API key; check the API key (ANTHROPIC_API_KEY) or sign in with the claude CLI`,
		`"subtype":"success","api_error_status":429,"result":"x"`:                                             `the claude run failed: the API answered 429: x; a limit is reached: wait, then resume the session`,
		`"subtype":"success","api_error_status":529,"result":"x"`:                                             `the claude run failed: the API answered 529: x; the API is overloaded or down: try again later`,
		`"subtype":"success","api_error_status":400,"result":"x"`:                                             `the claude run failed: the API answered 400: x; the API refuses the request: check the model, and the content of the prompt and the tools`,
		`"subtype":"success","terminal_reason":"prompt_too_long","result":"x"`:                                `the claude run failed: prompt_too_long: x; shorten the prompt, or start a new session`,
		`"subtype":"success","terminal_reason":"api_error","result":"timed out"`:                              `the claude run failed: api_error: timed out; check the network and the API's address, then resume the session`,
		`"subtype":"success","terminal_reason":"completed","result":"Not logged in · Please run /login"`:      `the claude run failed: Not logged in · Please run /login`,
		`"subtype":"success"`: `the claude run failed`,
		`"subtype":"error_max_turns","terminal_reason":"max_turns","errors":["Reached maximum number of turns (1)"]`: `the claude run failed: error_max_turns: Reached maximum number of turns (1); raise Options.MaxTurns, or resume the session`,
		`"subtype":"error_max_budget_usd","errors":["a","b"]`:                                                        `the claude run failed: error_max_budget_usd: a; b; raise Options.MaxBudgetUSD, or resume the session`,
		`"subtype":"error_max_structured_output_retries"`:                                                            `the claude run failed: error_max_structured_output_retries; simplify the output schema, or describe the output in the prompt`,
		`"subtype":"error_during_execution","terminal_reason":"aborted_tools"`:                                       `the claude run failed: error_during_execution; it was interrupted; resume the session to go on`,
		`"subtype":"error_of_tomorrow","errors":["e"]`:                                                               `the claude run failed: error_of_tomorrow: e`,
	} {
		response, err := claude.Collect(read(`{"type":"result","is_error":true,"session_id":"s",` + line + `}`))
		if err != nil {
			t.Fatal(err)
		}
		var failure *claude.ResultError
		if err := response.Err(); !errors.As(err, &failure) || failure.SessionID != "s" || err.Error() != want {
			t.Errorf("%s:\n%v, want\n%s", line, err, want)
		}
		response.IsError = false
		if said := strings.Contains(line, `"subtype":"error_`); said != (response.Err() != nil) {
			t.Errorf("%s without is_error: %v", line, response.Err())
		}
	}
}

// requirement 2, FR-009, SC-006, SC-007: what turns messages into a response, a
// usage and a text is public and typed.
func ExampleCollect() {
	stream := strings.NewReader(`
{"type":"assistant","message":{"content":[{"type":"text","text":"It is 5."}]},"session_id":"s"}
{"type":"result","subtype":"success","is_error":false,"result":null,"total_cost_usd":0.5,"session_id":"s"}
`)
	response, err := claude.Collect(new(message.Parser).Read(stream))
	if err == nil {
		err = response.Err()
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(response.Result, response.TotalCostUSD)
	// Output: It is 5. 0.5
}
