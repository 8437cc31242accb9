package openai

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/toolpost/toolpost/internal/lazyregexp"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
)

// A failure is an error as the provider writes it.
type failure struct {
	Status  int // of the response, or a number in the code
	Code    string
	Type    string
	Message string
}

// readFailure reads the JSON of an error. Compatible servers write it in many
// forms: an object or a string, inside of "error", of a list, or of neither.
func readFailure(raw []byte) failure {
	var f struct {
		Error, Code, Type, Message, Detail json.RawMessage
	}
	for range 3 {
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) == nil && len(list) > 0 {
			raw = list[0]
		}
		f.Error = nil
		if json.Unmarshal(raw, &f) != nil {
			return failure{Message: stringOf(raw)}
		}
		if !isPresent(f.Error) {
			break
		}
		raw = f.Error
	}
	read := failure{Code: stringOf(f.Code), Type: stringOf(f.Type), Message: stringOf(f.Message)}
	if read.Message == "" {
		read.Message = stringOf(f.Detail)
	}
	if n, err := strconv.Atoi(read.Code); err == nil {
		read.Status = n
	}
	return read
}

// isPresent reports whether a member of an object is there and not null.
func isPresent(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// stringOf returns the string in raw, or else raw itself.
func stringOf(raw []byte) string {
	var s string
	if !isPresent(raw) {
		return ""
	}
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// refusal returns the error of a response with an error status.
func (e *endpoint) refusal(refused *provider.StatusError) *model.Error {
	f := readFailure(refused.Body)
	f.Status = refused.Status
	failed := e.failureError(f)
	if wait := provider.RetryAfter(refused.Header); wait > 0 {
		failed.RetryAfter = wait
	}
	return failed
}

// failureError returns the error for what the provider reports.
func (e *endpoint) failureError(f failure) *model.Error {
	text := f.Message
	if text == "" {
		text = strings.TrimSpace(f.Type + " " + f.Code)
	}
	return &model.Error{Origin: e.origin, Kind: kindOf(f), Status: f.Status, RetryAfter: waitInText(f.Message), Text: e.clean(text)}
}

// clean returns a text of the provider without secrets, and not too long.
func (e *endpoint) clean(text string) string {
	return provider.ErrorText(text, e.sender.Hide)
}

// An errorWord is what the errors of a kind contain.
type errorWord struct {
	kind    model.ErrorKind
	pattern string
}

// words maps what codes, types and messages contain to kinds of errors. The
// first that matches counts.
func words() []errorWord {
	return []errorWord{
		{model.KindQuota, "insufficient_quota"}, {model.KindQuota, "exceeded your current quota"},
		{model.KindQuota, "billing_hard_limit"}, {model.KindQuota, "insufficient balance"}, {model.KindQuota, "credit_balance"},
		{model.KindTooLong, "context_length_exceeded"}, {model.KindTooLong, "exceed_context_size"},
		{model.KindTooLong, "maximum context length"}, {model.KindTooLong, "context window"}, {model.KindTooLong, "context size"},
		{model.KindOverloaded, "overloaded"}, {model.KindOverloaded, "slow_down"}, {model.KindOverloaded, "insufficient_system_resource"},
		{model.KindRateLimit, "rate_limit"},
		{model.KindAuth, "invalid_api_key"}, {model.KindAuth, "authentication_error"},
	}
}

// brokeDown matches what servers write in a stream, without a code, when they fail.
var brokeDown = lazyregexp.New(`unexpected|stopped|died|crash|dead|lost|gone|memory|time(d )?out|unavailable|try again|connection|fail`)

// kindOf returns the kind of an error.
func kindOf(f failure) model.ErrorKind {
	all := strings.ToLower(f.Code + " " + f.Type + " " + f.Message)
	for _, w := range words() {
		if strings.Contains(all, w.pattern) {
			return w.kind
		}
	}
	if f.Status >= 300 || strings.Contains(all, "server_error") || strings.Contains(all, "internal") || f.Code+f.Type == "" && brokeDown.MatchString(all) {
		return provider.KindOfStatus(f.Status)
	}
	return model.KindInvalid
}

// connectionError returns the error of a connection or stream that broke. Errors of the
// provider remain as they are.
func (e *endpoint) connectionError(err error) error {
	if _, ok := errors.AsType[*model.Error](err); ok {
		return err
	}
	kind := model.KindConnection
	if provider.IsPermanent(err) {
		kind = model.KindInvalid
	}
	return &model.Error{Origin: e.origin, Kind: kind, Text: e.clean(err.Error())}
}

// cancelError returns the error of a request whose context ended.
func (e *endpoint) cancelError(ctx context.Context) error {
	return &model.Error{Origin: e.origin, Kind: model.KindConnection, Err: context.Cause(ctx)}
}

// unfinishedError returns the error of a stream that ended before the response.
func (e *endpoint) unfinishedError() error {
	return &model.Error{Origin: e.origin, Kind: model.KindConnection, Text: "the stream ended before the response was complete"}
}

// malformedError returns the error of a response that no history could contain.
func (e *endpoint) malformedError(text string) error {
	return &model.Error{Origin: e.origin, Kind: model.KindServer, Text: "the response is malformed: " + e.clean(text)}
}

// tryAgain is how OpenAI requests a wait in a stream, which has no headers left, such
// as "1m12.3s", "20 s" or "2 minutes".
var tryAgain = lazyregexp.New(`(?i)try again in ((?:[0-9]{1,9}(?:\.[0-9]{1,9})? ?(?:ms|h|m|s))+)`)

// waitInText returns the wait that a message requests, 0 if none.
func waitInText(message string) time.Duration {
	m := tryAgain.FindStringSubmatch(message)
	if m == nil {
		return 0
	}
	wait, err := time.ParseDuration(strings.ToLower(strings.ReplaceAll(m[1], " ", "")))
	if err != nil {
		return 0
	}
	return provider.Wait(wait.Seconds())
}
