package anthropic

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
)

var errNoCredentials = errors.New("there are no credentials; set the environment variable ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN, or Options.APIKey (profiles and federation are not read)")

// A streamError is a stream that ended before the response did.
type streamError struct{ err error }

func (e *streamError) Error() string {
	if e.err == nil {
		return "the stream ended before the response did"
	}
	return "the stream broke off: " + e.err.Error()
}

func (e *streamError) Unwrap() error { return e.err }

// An eventError is an error that the provider reported in the stream.
type eventError struct{ kind, text string }

func (e *eventError) Error() string { return e.kind + ": " + e.text }

// A malformedError is a stream that does not follow the API.
type malformedError string

func (e malformedError) Error() string { return string(e) }

// failure returns the error of a request. Texts do not contain credentials.
func (m *messagesModel) failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	e := &model.Error{Origin: m.origin, Kind: model.KindConnection, Text: err.Error()}
	var (
		status    *provider.StatusError
		event     *eventError
		malformed malformedError
	)
	switch {
	case errors.As(err, &status):
		kind, text := errorBody(string(status.Body))
		e.Status, e.Kind, e.Text = status.Status, kindOf(status.Status, kind, text), text
		e.RetryAfter = provider.RetryAfter(status.Header)
		if id := status.Header.Get("Request-Id"); id != "" {
			e.Text += " (request " + id + ")" // what the provider's support asks for
		}
	case errors.As(err, &event):
		e.Kind, e.Text = kindOf(0, event.kind, event.text), event.text
	case errors.Is(err, errNoCredentials):
		e.Kind, e.Text = model.KindAuth, errNoCredentials.Error()
	case errors.As(err, &malformed):
		e.Kind = model.KindServer
	case provider.IsPermanent(err):
		e.Kind = model.KindInvalid
	}
	e.Text = provider.ErrorText(e.Text, m.sender.Hide)
	return e
}

// errorBody returns the type and the text of an error that is the body of a
// response or an event.
func errorBody(body string) (kind, text string) {
	tree, err := jsontree.ParseLenient([]byte(body), maxLevels)
	if err != nil || tree.Get("error") == nil {
		return "", strings.TrimSpace(body)
	}
	found := tree.Get("error")
	return textOf(found.Get("type")), cmp.Or(textOf(found.Get("message")), textOf(found))
}

// kindOf classifies an error by its status, type and text. Errors within a
// stream have no status.
func kindOf(status int, kind, text string) model.ErrorKind {
	text = strings.ToLower(text)
	switch {
	case kind == "billing_error", status == http.StatusPaymentRequired,
		strings.Contains(text, "credit balance is too low"), strings.Contains(text, "specified api usage limits"):
		return model.KindQuota
	case kind == "request_too_large", status == http.StatusRequestEntityTooLarge,
		strings.Contains(text, "prompt is too long"), strings.Contains(text, "exceed context limit"):
		return model.KindTooLong
	case status == http.StatusUnauthorized: // compatible servers have other types
		return model.KindAuth
	}
	byType := map[string]model.ErrorKind{
		"overloaded_error":      model.KindOverloaded,
		"rate_limit_error":      model.KindRateLimit,
		"authentication_error":  model.KindAuth,
		"permission_error":      model.KindAuth,
		"invalid_request_error": model.KindInvalid,
		"not_found_error":       model.KindInvalid,
		"timeout_error":         model.KindServer,
		"api_error":             model.KindServer,
	}
	if found := byType[kind]; found != "" {
		return found
	}
	return provider.KindOfStatus(status)
}
