package claudecli

import (
	"cmp"
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/toolpost/toolpost/claude"
	"github.com/toolpost/toolpost/claude/message"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/secret"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
)

// A quoted is an error whose text may come from the CLI: it is shortened and
// escaped.
type quotedError struct {
	text string
	err  error
}

func (e *quotedError) Error() string { return e.text }

func (e *quotedError) Unwrap() error { return e.err }

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
		missing *claude.NotFoundError
		refused *claude.ToolsRefusedError
		dropped *claude.ToolsDroppedError
		request *claude.RequestError
		result  *claude.ResultError
	)
	switch {
	case provider.IsTooMuch(err), errors.As(err, &missing), errors.As(err, &refused), errors.As(err, &dropped), errors.As(err, &request), errors.Is(err, errModelClosed):
		e.Kind = model.KindInvalid
	case errors.As(err, &result): // the CLI could not start
		e.Status = result.APIStatus
		e.Kind = (&report{status: result.APIStatus, reason: result.TerminalReason, text: err.Error()}).kindOf()
	}
	e.Err = &quotedError{m.quote(err.Error()), err}
	return e
}

// retryError returns why the CLI sends its request again.
func (m *Model) retryError(r *message.APIRetry) *model.Error {
	why := report{word: r.Error, status: int(r.ErrorStatus)}
	if r.ErrorStatus == 0 { // there was no response
		why.code = `"connection"`
	}
	return &model.Error{
		Origin: m.origin, Kind: why.kindOf(), Status: why.status, Text: m.quote(r.Error),
		RetryAfter: provider.Wait(float64(r.RetryDelayMS) / 1000),
	}
}

// resultError returns the failure that a result reports.
func (m *Model) resultError(r *message.Result, before trouble) *model.Error {
	why := report{kind: r.APIErrorType, status: int(r.APIErrorStatus), code: string(r.APIError), reason: r.TerminalReason, text: strings.Join(r.Errors, "; ")}
	if r.Result != nil {
		why.text = cmp.Or(why.text, *r.Result)
	}
	if p := before.message; p != nil {
		why.word, why.kind = p.Error, cmp.Or(why.kind, p.APIErrorType)
		why.text, why.status = cmp.Or(why.text, p.Text()), cmp.Or(why.status, int(p.APIErrorStatus))
	}
	e := &model.Error{Origin: m.origin, Kind: why.kindOf(), Status: why.status, Text: m.quote(cmp.Or(why.text, why.reason, r.Subtype))}
	if limit := before.limit; limit != nil && limit.Info.ResetsAt > 0 {
		e.Kind = model.KindRateLimit
		e.RetryAfter = provider.Wait(time.Until(time.Unix(limit.Info.ResetsAt, 0)).Seconds())
	}
	return e
}

// A report is what the CLI says about a failure.
type report struct {
	word   string // the CLI's word for it
	kind   string // the API's type of the error
	status int    // of HTTP; 0 if there was no response
	code   string // of a failure of the connection, in JSON
	reason string // why the CLI's turn ended
	text   string
}

// kindOf returns the kind of an error.
func (r *report) kindOf() model.ErrorKind {
	if r.reason == "prompt_too_long" || r.reason == "blocking_limit" || strings.Contains(strings.ToLower(r.text), "prompt is too long") {
		return model.KindTooLong
	}
	for _, word := range []string{r.word, r.kind} {
		switch word {
		case "authentication_failed", "oauth_org_not_allowed", "account_on_hold", "verification_required", "cloud_credential_error":
			return model.KindAuth
		case "billing_error":
			return model.KindQuota
		case "rate_limit", "rate_limit_error":
			return model.KindRateLimit
		case "overloaded", "overloaded_error":
			return model.KindOverloaded
		case "model_not_found":
			return model.KindInvalid
		}
	}
	switch {
	case r.status != 0:
		return provider.KindOfStatus(r.status)
	case r.word == "invalid_request":
		return model.KindInvalid
	case strings.HasPrefix(r.code, `"connection`), strings.Contains(r.text, "timed out"):
		return model.KindConnection
	}
	return model.KindServer
}
