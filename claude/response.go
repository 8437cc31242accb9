package claude

import (
	"encoding/json"
	"errors"
	"iter"
	"strings"

	"github.com/toolpost/toolpost/claude/message"
)

var (
	// ErrNoMessages reports a run without any message.
	ErrNoMessages = errors.New("there are no messages; give the output of the claude CLI with --output-format stream-json --verbose")

	// ErrNoResult reports messages that ended without a result.
	ErrNoResult = errors.New("the messages ended without a result; the run was cut off")
)

// A Response is the outcome of a run: its last result. Costs and model usage
// are totals of the session so far, including resumed sessions and sub-agents;
// do not add those of several responses. Fields whose names end in
// SinceLastResult cover only the last turn.
type Response struct {
	Result           string          `json:"result"` // the text of the answer
	Subtype          string          `json:"subtype"`
	IsError          bool            `json:"is_error"`
	DurationMS       int64           `json:"duration_ms"`
	DurationAPIMS    int64           `json:"duration_api_ms"`
	NumTurns         int64           `json:"num_turns"`
	SessionID        string          `json:"session_id"`
	TotalCostUSD     float64         `json:"total_cost_usd"`
	Usage            message.Usage   `json:"usage"`             // of the last turn's main agent
	StructuredOutput json.RawMessage `json:"structured_output"` // an object, unless Options.Output defines another value

	CostUSDSinceLastResult    float64                       `json:"cost_usd_since_last_result"`
	ModelUsage                map[string]message.ModelUsage `json:"model_usage"`
	ModelUsageSinceLastResult map[string]message.ModelUsage `json:"model_usage_since_last_result"`
	PermissionDenials         []message.PermissionDenial    `json:"permission_denials"`
	DeferredToolUse           *message.DeferredToolUse      `json:"deferred_tool_use,omitempty"`
	Errors                    []string                      `json:"errors,omitempty"`
	StopReason                string                        `json:"stop_reason,omitempty"`
	TerminalReason            string                        `json:"terminal_reason,omitempty"`
	APIErrorStatus            int                           `json:"api_error_status,omitempty"` // of HTTP
	APIErrorType              string                        `json:"api_error_type,omitempty"`
	UUID                      string                        `json:"uuid"`
}

// Collect reads messages to their end and returns the outcome. If there is an
// error, the response contains what was known until then, or is nil. A result
// that reports a failure is not an error of Collect: see [Response.Err].
func Collect(seq iter.Seq2[message.Message, error]) (*Response, error) {
	var c collection
	for m, err := range seq {
		if err != nil {
			return c.response(), err
		}
		c.add(m)
	}
	switch {
	case c.first == nil:
		return nil, ErrNoMessages
	case c.last == nil:
		return c.response(), ErrNoResult
	}
	return c.response(), nil
}

// A collection is what has been seen of a run.
type collection struct {
	first  message.Message
	last   *message.Result
	before *message.Result // the result before the last
	texts  []string        // of the main agent
}

func (c *collection) add(m message.Message) {
	if c.first == nil {
		c.first = m
	}
	switch m := m.(type) {
	case *message.Assistant:
		if t := m.Text(); t != "" && m.IsMain() {
			c.texts = append(c.texts, t)
		}
	case *message.Result:
		c.before, c.last = c.last, m
	}
}

func (c *collection) response() *Response {
	text := strings.Join(c.texts, "\n")
	switch {
	case c.first == nil:
		return nil
	case c.last == nil:
		return &Response{Result: text, SessionID: c.first.Head().SessionID}
	}
	r := newResponse(c.last)
	if c.last.Result == nil {
		r.Result = text
	}
	if c.before != nil && c.last.TotalCostUSD >= c.before.TotalCostUSD { // else the conversation was reset
		r.CostUSDSinceLastResult = c.last.TotalCostUSD - c.before.TotalCostUSD
	}
	return r
}

func newResponse(r *message.Result) *Response {
	response := &Response{
		Subtype: r.Subtype, IsError: r.IsError, Errors: r.Errors,
		DurationMS: r.DurationMS, DurationAPIMS: r.DurationAPIMS, NumTurns: r.NumTurns,
		SessionID: r.SessionID, UUID: r.UUID,
		TotalCostUSD: r.TotalCostUSD, CostUSDSinceLastResult: lastCost(r),
		Usage: r.Usage, ModelUsage: r.ModelUsage, ModelUsageSinceLastResult: r.ModelUsageSinceLastResult,
		StructuredOutput: r.StructuredOutput, PermissionDenials: r.PermissionDenials, DeferredToolUse: r.DeferredToolUse,
		StopReason: r.StopReason, TerminalReason: r.TerminalReason,
		APIErrorStatus: int(r.APIErrorStatus), APIErrorType: r.APIErrorType,
	}
	if r.Result != nil {
		response.Result = *r.Result
	}
	return response
}

// lastCost is what the turn of a result cost, if the result before is not known:
// the total may be that of a session that was resumed.
func lastCost(r *message.Result) (usd float64) {
	if r.ModelUsageSinceLastResult == nil {
		return r.TotalCostUSD
	}
	for _, u := range r.ModelUsageSinceLastResult {
		usd += u.CostUSD
	}
	return usd
}

// Err returns a *ResultError if the CLI reported that the run failed: by
// IsError, even with the subtype success, or by a subtype that begins with
// error_.
func (r *Response) Err() error {
	if !isFailed(r.IsError, r.Subtype) {
		return nil
	}
	errs := r.Errors
	if len(errs) == 0 && r.Result != "" {
		errs = []string{r.Result}
	}
	return &ResultError{r.Subtype, errs, r.APIErrorStatus, r.TerminalReason, r.SessionID}
}

func resultError(r *message.Result) error { return newResponse(r).Err() }
