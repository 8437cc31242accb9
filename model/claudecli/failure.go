package claudecli

import (
	"cmp"
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/toolpost/toolpost/claude"
	"github.com/toolpost/toolpost/claude/cli"
	"github.com/toolpost/toolpost/claude/message"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/secret"
	"github.com/toolpost/toolpost/model"
)

// A quoted is an error whose text may come from the CLI: it is shortened and
// escaped.
type quoted struct {
	text string
	err  error
}

func (e *quoted) Error() string { return e.text }

func (e *quoted) Unwrap() error { return e.err }

// hider returns a function that removes the secrets of the environment.
func hider(env []string) func(string) string {
	var values []string
	for _, entry := range append(os.Environ(), env...) {
		if name, value, ok := strings.Cut(entry, "="); ok && secret.Is(name, value) {
			values = append(values, value)
		}
	}
	return secret.Hider(values, secret.RedactText)
}

// quote makes a foreign text safe to show.
func (m *Model) quote(text string) string {
	const most = 4000
	return cleartext.Clip(cleartext.Escape(m.hide(cleartext.Clip(text, 10*most))), most)
}

// failure returns what a stream ends with.
func (m *Model) failure(ctx context.Context, err error) *model.Error {
	if e := (*model.Error)(nil); errors.As(err, &e) {
		e.Origin = m.origin
		return e
	}
	e := &model.Error{Origin: m.origin, Kind: model.KindConnection}
	if ctx.Err() != nil {
		e.Err = context.Cause(ctx)
		return e
	}
	var (
		missing *cli.NotFoundError
		refused *claude.ToolsRefusedError
		dropped *claude.ToolsDroppedError
		request *claude.RequestError
		result  *claude.ResultError
	)
	switch {
	case errors.As(err, &missing), errors.As(err, &refused), errors.As(err, &dropped), errors.As(err, &request), errors.Is(err, errModelClosed):
		e.Kind = model.KindInvalid
	case errors.As(err, &result): // the CLI could not start
		e.Status = result.APIStatus
		e.Kind = kindOfFailure("", result.APIStatus, result.TerminalReason, err.Error())
	}
	e.Err = &quoted{m.quote(err.Error()), err}
	return e
}

// retryError returns why the CLI sends its request again.
func (m *Model) retryError(r *message.APIRetry) *model.Error {
	return &model.Error{
		Origin: m.origin, Status: int(r.ErrorStatus), Text: m.quote(r.Error),
		Kind:       kindOfFailure(r.Error, int(r.ErrorStatus), "api_error", ""),
		RetryAfter: time.Duration(r.RetryDelayMS) * time.Millisecond,
	}
}

// resultError returns the failure that a result reports.
func (m *Model) resultError(r *message.Result, before trouble) *model.Error {
	text := strings.Join(r.Errors, "; ")
	if r.Result != nil {
		text = cmp.Or(text, *r.Result)
	}
	e := &model.Error{Origin: m.origin, Status: int(r.APIErrorStatus)}
	word := r.APIErrorType
	if before.message != nil {
		word = cmp.Or(before.message.Error, word)
		text = cmp.Or(text, before.message.Text())
		e.Status = cmp.Or(e.Status, int(before.message.APIErrorStatus))
	}
	reason := r.TerminalReason
	if r.Subtype == "error_max_budget_usd" {
		word = "billing_error"
	}
	e.Kind = kindOfFailure(word, e.Status, reason, text)
	e.Text = m.quote(cmp.Or(text, reason, r.Subtype))
	if limit := before.limit; limit != nil && limit.ResetsAt > 0 {
		e.Kind = model.KindRateLimit
		e.RetryAfter = max(0, time.Until(time.Unix(limit.ResetsAt, 0)))
	}
	return e
}

// kindOfFailure returns the kind of an error: by the CLI's word for it, the HTTP
// status, the reason why the CLI's turn ended, and its text.
func kindOfFailure(word string, status int, reason, text string) string {
	if reason == "prompt_too_long" || reason == "blocking_limit" || strings.Contains(strings.ToLower(text), "prompt is too long") {
		return model.KindTooLong
	}
	if kind := kindOfWord(word); kind != "" {
		return kind
	}
	switch {
	case status == 401 || status == 403:
		return model.KindAuth
	case status == 402:
		return model.KindQuota
	case status == 413:
		return model.KindTooLong
	case status == 429:
		return model.KindRateLimit
	case status == 529:
		return model.KindOverloaded
	case status >= 500:
		return model.KindServer
	case status >= 400:
		return model.KindInvalid
	case reason == "api_error":
		return model.KindConnection
	}
	return model.KindServer
}

// kindOfWord returns the kind of one of the CLI's words for errors, "" if it
// does not determine the kind.
func kindOfWord(word string) string {
	switch word {
	case "authentication_failed", "authentication_error", "oauth_org_not_allowed", "account_on_hold", "verification_required", "cloud_credential_error":
		return model.KindAuth
	case "billing_error":
		return model.KindQuota
	case "rate_limit", "rate_limit_error":
		return model.KindRateLimit
	case "overloaded", "overloaded_error":
		return model.KindOverloaded
	case "invalid_request", "invalid_request_error", "model_not_found":
		return model.KindInvalid
	case "server_error":
		return model.KindServer
	}
	return ""
}
