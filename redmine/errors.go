package redmine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/toolpost/toolpost"
)

// A responseError is an answer of Redmine with the status of a failure. Most have no
// text.
type responseError struct {
	method, path string
	status       int
	errors       []string      // in the language of the key's owner
	after        time.Duration // until it may go better
	client       *client
}

func newResponseError(c *client, method, path string, resp *http.Response, body []byte) *responseError {
	f := &responseError{client: c, method: method, path: path, status: resp.StatusCode}
	var said struct {
		Errors []string `json:"errors"`
	}
	if json.Unmarshal(body, &said) == nil {
		for _, text := range said.Errors {
			f.errors = append(f.errors, oneLine(text)) // they may quote what a user wrote
		}
	}
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && seconds > 0 {
		f.after = time.Duration(seconds) * time.Second
	}
	return f
}

func (f *responseError) Error() string {
	return fmt.Sprintf("%s %s: %d %s %s", f.method, f.path, f.status, http.StatusText(f.status), strings.Join(f.errors, "; "))
}

// A transportError means that a request got no answer.
type transportError struct {
	err          error
	base, method string
}

func (l *transportError) Error() string {
	cause := l.err
	var u *url.Error
	if errors.As(cause, &u) { // it has the address once more
		cause = u.Err
	}
	return fmt.Sprintf("ask %s: %v", l.base, cause)
}

func (l *transportError) Unwrap() error { return l.err }

// next returns what the model can do after the error.
func (l *transportError) next() string {
	var o *net.OpError
	switch {
	case errors.As(l.err, &o) && o.Op == "dial":
		return "It cannot be reached, and nothing was changed. Ask the user to check that Redmine is running and that its address is right"
	case l.method == http.MethodGet:
		return "It was asked several times; read again later"
	}
	return "The change may have been made: look before you make it again"
}

// An htmlResponseError is a web page instead of an answer: another program sent it,
// or one between us and Redmine that wants a login.
type htmlResponseError struct{ base, method string }

// perhaps is for a change whose answer cannot be read.
const perhaps = "Whether the change was made is not known: look before you make it again."

func (f *htmlResponseError) explain(what string) error {
	text := ""
	if f.method != http.MethodGet {
		text = " " + perhaps
	}
	return toolpost.Failed.Errorf("%s answered the request for %s with a web page instead of data.%s Ask the user to check that this is the address of Redmine itself, and that nothing in front of it asks for another login.", f.base, what, text)
}

func (f *htmlResponseError) Error() string { return f.base + " answers with a web page" }

// An unreachableError means that Redmine did not answer; further requests would
// fail too.
type unreachableError struct{ *toolpost.ToolError }

func (a *unreachableError) Unwrap() error { return a.ToolError }

// retryPause reports whether a request that changes nothing is to be sent again, and after which pause.
func retryPause(err error) (pause time.Duration, again bool) {
	var f *responseError
	if errors.As(err, &f) {
		switch f.status {
		case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return f.after, true
		}
		return 0, false
	}
	var l *transportError
	return 0, errors.As(err, &l)
}

// status returns the HTTP status of a responseError, 0 for other errors.
func status(err error) int {
	var f *responseError
	if errors.As(err, &f) {
		return f.status
	}
	return 0
}

// explain describes for the model why a request for what failed and what to do next.
func explain(err error, what string) error {
	var f *responseError
	var l *transportError
	var page *htmlResponseError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &l):
		return &unreachableError{&toolpost.ToolError{Outcome: toolpost.Failed, Text: fmt.Sprintf("Redmine did not answer the request for %s: %v. %s.", what, l, l.next())}}
	case errors.As(err, &page):
		return page.explain(what)
	case !errors.As(err, &f):
		return err
	}
	return f.words(what)
}

// words explains why Redmine refused what.
func (f *responseError) words(what string) error {
	said := strings.Join(f.errors, "; ")
	switch f.status {
	case http.StatusUnauthorized:
		switch {
		case f.client.anonymous:
			return toolpost.Failed.Errorf("Redmine does not show %s without credentials. Ask the user to set them, for example REDMINE_API_KEY.", what)
		case f.client.credentials.uses().token:
			return toolpost.Failed.Errorf("Redmine does not accept the token: it is wrong or expired, its scopes are too narrow, or its account is locked. Ask the user for a new token.")
		}
		return toolpost.Failed.Errorf("Redmine does not accept the credentials: the key is wrong, its account is locked, or the REST API is switched off. Ask the user to correct them, for example REDMINE_API_KEY.")
	case http.StatusForbidden:
		return toolpost.Failed.Errorf("Redmine refuses %s: this account may not do that there, or the project is closed or archived, or its module is switched off.", what)
	case http.StatusNotFound:
		if f.method == http.MethodPost {
			return toolpost.Retry.Errorf("Redmine refuses %s: what it would belong to does not exist, this account may not see it, or its module is switched off. List or search to find the right one.", what)
		}
		return toolpost.Retry.Errorf("Redmine did not find %s: it does not exist, or this account may not see it. List or search to find the right one.", what)
	case http.StatusConflict:
		return toolpost.Retry.Errorf("%s was changed by another user in the meantime. Read it again and redo your change.", upper(what))
	case http.StatusNotAcceptable:
		return toolpost.Retry.Errorf("Redmine refuses %s and does not give the reason: a value is missing or does not fit.", what)
	case http.StatusPreconditionFailed:
		return toolpost.Failed.Errorf("The login to act as does not exist or is locked. Ask the user to correct it.")
	case http.StatusUnprocessableEntity:
		if said == "" {
			return toolpost.Failed.Errorf("Redmine refuses %s without a reason; something else may still use it, or it was changed in the meantime.", what)
		}
		return toolpost.Retry.Errorf("Redmine refuses %s: %s.", what, strings.TrimSuffix(said, "."))
	}
	return toolpost.Failed.Errorf("Redmine failed on %s with status %d %s. %s", what, f.status, http.StatusText(f.status), said)
}

// upper begins a sentence.
func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
