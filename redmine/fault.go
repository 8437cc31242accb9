package redmine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/toolpost/toolpost"
)

// A fault is a failure that Redmine tells. Most have no words.
type fault struct {
	method, path string
	status       int
	errors       []string      // in the language of the key's owner
	after        time.Duration // until it may go better
}

func newFault(method, path string, resp *http.Response, body []byte) *fault {
	f := &fault{method: method, path: path, status: resp.StatusCode}
	var said struct {
		Errors []string `json:"errors"`
	}
	if json.Unmarshal(body, &said) == nil {
		f.errors = said.Errors
	}
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && seconds > 0 {
		f.after = time.Duration(seconds) * time.Second
	}
	return f
}

func (f *fault) Error() string {
	return fmt.Sprintf("%s %s: %d %s %s", f.method, f.path, f.status, http.StatusText(f.status), strings.Join(f.errors, "; "))
}

// A lost is a request without an answer.
type lost struct {
	err  error
	base string
}

func (l *lost) Error() string { return fmt.Sprintf("ask %s: %v", l.base, l.err) }

func (l *lost) Unwrap() error { return l.err }

// worth says whether a request that changes nothing may go better, and when.
func worth(err error) (pause time.Duration, again bool) {
	var f *fault
	if errors.As(err, &f) {
		switch f.status {
		case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
			return f.after, true
		}
		return 0, false
	}
	var l *lost
	return 0, errors.As(err, &l)
}

// status returns that of a fault, 0 if err is none.
func status(err error) int {
	var f *fault
	if errors.As(err, &f) {
		return f.status
	}
	return 0
}

// explain words why a request about what failed, for the model that made the
// call: what it can do next.
func explain(err error, what string) error {
	var f *fault
	var l *lost
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &l):
		return toolpost.Failed("Redmine did not answer about %s: %v. If this was a change, look whether it was made before you try again.", what, l)
	case !errors.As(err, &f):
		return err
	}
	return f.words(what)
}

// words say why Redmine refused what.
func (f *fault) words(what string) error {
	said := strings.Join(f.errors, "; ")
	switch f.status {
	case http.StatusUnauthorized:
		return toolpost.Failed("Redmine does not accept the credentials: the key is wrong, or its account is locked, or the REST API is switched off. A person has to correct them, such as REDMINE_API_KEY.")
	case http.StatusForbidden:
		return toolpost.Failed("Redmine refuses %s: this account may not do that there, or the project is closed or archived, or its module is switched off.", what)
	case http.StatusNotFound:
		return toolpost.Retry("%s was not found, or this account may not see it. List or search to find the right one.", upper(what))
	case http.StatusConflict:
		return toolpost.Retry("%s was changed by somebody meanwhile. Read it again, and make your change to what it is now.", upper(what))
	case http.StatusNotAcceptable:
		return toolpost.Retry("Redmine refuses %s, and tells why to people only: something that it needs was not given, or does not fit.", what)
	case http.StatusPreconditionFailed:
		return toolpost.Failed("Redmine does not know the login to act as, or it is locked.")
	case http.StatusUnprocessableEntity:
		if said == "" {
			return toolpost.Failed("Redmine refuses %s without a reason; something else may still use it, or it was changed meanwhile.", what)
		}
		return toolpost.Retry("Redmine refuses %s: %s.", what, strings.TrimSuffix(said, "."))
	}
	return toolpost.Failed("Redmine failed on %s with status %d %s. %s", what, f.status, http.StatusText(f.status), said)
}

// upper begins a sentence.
func upper(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
