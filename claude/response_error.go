package claude

import (
	"fmt"
	"strings"

	"github.com/toolpost/toolpost/claude/message"
)

// isFailure reports whether a result is an error. The CLI has said so by the
// subtype alone.
func isFailure(r *message.Result) bool { return isFailed(r.IsError, r.Subtype) }

func isFailed(isError bool, subtype string) bool {
	return isError || strings.HasPrefix(subtype, "error_")
}

// A ResultError is a result that reports a failure.
type ResultError struct {
	Subtype        string   // "success" if the API failed
	Errors         []string // the CLI's messages about the failure
	APIStatus      int      // of HTTP; 0 if the API did not fail
	TerminalReason string
	SessionID      string // to resume
}

func (e *ResultError) Error() string {
	what := "the claude run failed"
	switch {
	case e.APIStatus != 0:
		what += fmt.Sprintf(": the API answered %d", e.APIStatus)
	case e.Subtype != "success":
		what += ": " + e.Subtype
	case e.TerminalReason != "" && e.TerminalReason != "completed": // which says nothing about the failure
		what += ": " + e.TerminalReason
	}
	if len(e.Errors) > 0 {
		what += ": " + strings.Join(e.Errors, "; ")
	}
	if advice := e.advice(); advice != "" {
		what += "; " + advice
	}
	return what
}

// advice is what to do next.
func (e *ResultError) advice() string {
	switch status := e.APIStatus; {
	case status == 401 || status == 403:
		return "check the API key (ANTHROPIC_API_KEY) or sign in with the claude CLI"
	case status == 429:
		return "a limit is reached: wait, then resume the session"
	case status >= 500: // 529 is overloaded
		return "the API is overloaded or down: try again later"
	case status >= 400:
		return "the API refuses the request: check the model, and the content of the prompt and the tools"
	}
	switch e.Subtype {
	case "error_max_turns":
		return "raise Options.MaxTurns, or resume the session"
	case "error_max_budget_usd":
		return "raise Options.MaxBudgetUSD, or resume the session"
	case "error_max_structured_output_retries":
		return "simplify the output schema, or describe the output in the prompt"
	}
	switch e.TerminalReason {
	case "aborted_streaming", "aborted_tools":
		return "it was interrupted; resume the session to go on"
	case "api_error":
		return "check the network and the API's address, then resume the session"
	case "prompt_too_long":
		return "shorten the prompt, or start a new session"
	}
	return ""
}
