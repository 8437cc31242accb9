package provider

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolpost/toolpost/internal/httpconn"
	"github.com/toolpost/toolpost/internal/lazyregexp"
	"github.com/toolpost/toolpost/internal/ownversion"
	"github.com/toolpost/toolpost/internal/secret"
)

// maxSilence is how long a server may send nothing: before the response, if the program
// gave no client, and between two bytes of it. Models think for minutes.
const maxSilence = 10 * time.Minute

// maxFailure is the number of bytes that are read of the body of an error.
const maxFailure = 1 << 20

// ErrSilent reports a response that stopped without an end.
var ErrSilent = errors.New("the server sent nothing for 10 minutes")

// A Sender posts requests to one server, each of them once. It learns the secrets in
// them, so that [Sender.Hide] can keep them out of errors. It is safe for concurrent use.
type Sender struct {
	base    string
	client  *http.Client
	secrets *secret.Values
}

// NewSender returns a sender for the server of a base URL, which [Sender.Post] checks.
// The client may be nil.
func NewSender(base string, client *http.Client) *Sender {
	return &Sender{base, newClient(client), secret.NewValues(secret.Mark, secret.InURL(base)...)}
}

// Post sends a JSON body to a path below the base URL, whose query it keeps; the path
// may have a query too. It returns the response of a status 2xx, whose body is limited
// in size and in silence. Other statuses are a [StatusError]. A [RequestError] means that
// nothing was sent. The header needs no Content-Type and no User-Agent.
func (s *Sender) Post(ctx context.Context, path string, header http.Header, body []byte) (*http.Response, error) {
	address, err := joinURL(s.base, path)
	if err != nil {
		return nil, err
	}
	if err := s.learn(header); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body)) // with GetBody
	if err != nil {
		cancel(nil)
		return nil, RequestError("the base URL is not valid")
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", userAgent())
	for name, values := range header {
		r.Header[http.CanonicalHeaderKey(name)] = slices.Clone(values)
	}
	res, err := s.client.Do(r)
	if err != nil {
		cancel(nil)
		return nil, fmt.Errorf("post to %s: %w", r.URL.Host, httpconn.WithoutURL(err))
	}
	res.Body = newImpatientBody(ctx, cancel, res.Body)
	if res.StatusCode/100 == 2 {
		res.Body = &limitedBody{res.Body, MaxResponse}
		return res, nil
	}
	defer res.Body.Close()
	failed := &StatusError{Status: res.StatusCode, Header: res.Header}
	failed.Body, _ = io.ReadAll(io.LimitReader(res.Body, maxFailure)) // what arrived of it
	if to := redirect(res); to != "" {
		failed.Body = []byte(to)
	} else if res.StatusCode < http.StatusBadRequest {
		failed.Body = fmt.Appendf(nil, "the server answered with HTTP status %d; check the base URL", res.StatusCode)
	}
	return nil, failed
}

// learn adds the secrets in a header to those that Hide knows. It returns an error if the
// header cannot be sent, such as a key that was read with the end of its line.
func (s *Sender) learn(header http.Header) error {
	for name, values := range header {
		if !headerName.MatchString(name) {
			return RequestError(fmt.Sprintf("%q is not the name of a header", name))
		}
		for _, value := range values {
			if secret.Is(name, value) {
				s.secrets.Add("", value)
				if _, credential, found := strings.Cut(value, " "); found {
					s.secrets.Add("", credential)
				}
			}
			if strings.ContainsFunc(value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
				return RequestError(fmt.Sprintf("the value of the header %q has a line end or another control character; check the key", name))
			}
		}
	}
	return nil
}

// headerName matches a token of RFC 9110, 5.6.2.
var headerName = lazyregexp.New("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// AddSecrets adds secrets that no header has to those that Hide knows, such as those of
// which tokens are made.
func (s *Sender) AddSecrets(values ...string) { s.secrets.Add("", values...) }

// Hide returns a text without the secrets in the requests that were sent, and without
// texts that look like secrets.
func (s *Sender) Hide(text string) string { return secret.RedactText(s.secrets.Replace(text)) }

// A StatusError is a response with another status than 2xx.
type StatusError struct {
	Status int
	Header http.Header
	Body   []byte // at most 1 MiB; of a redirect, a text that says where it leads instead
}

func (e *StatusError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("HTTP status %d: %s", e.Status, e.Body))
}

// A RequestError is a request that cannot be sent, now or later.
type RequestError string

func (e RequestError) Error() string { return string(e) }

// IsPermanent reports whether the same request would only fail the same way: err is a
// [RequestError], a [LimitError] or a [ForeignAnswerError].
func IsPermanent(err error) bool {
	_, request := errors.AsType[RequestError](err)
	_, foreign := errors.AsType[*ForeignAnswerError](err)
	return request || foreign || IsTooMuch(err)
}

// joinURL returns the address of a path below a base URL.
func joinURL(base, path string) (string, error) {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", RequestError("the base URL is not one of the form https://host/path")
	}
	path, query, _ := strings.Cut(path, "?")
	u = u.JoinPath(path)
	u.RawQuery = strings.Trim(u.RawQuery+"&"+query, "&")
	u.Fragment, u.RawFragment = "", ""
	return u.String(), nil
}

// userAgent returns the name of the program in requests.
func userAgent() string {
	version := ownversion.Read()
	if strings.HasPrefix(version, "v") {
		return "toolpost/" + strings.TrimPrefix(version, "v")
	}
	return "toolpost"
}

// sharedTransport sends the requests of all models whose program gave no client.
var sharedTransport = sync.OnceValue(func() http.RoundTripper {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok { // the program replaced it
		return http.DefaultTransport
	}
	t = t.Clone()
	t.ResponseHeaderTimeout = maxSilence
	return t
})

// An impatientBody ends the request when a Read waits too long. Time that passes between
// reads does not count.
type impatientBody struct {
	io.ReadCloser
	ctx    context.Context // of the request
	cancel context.CancelCauseFunc
	alarm  *time.Timer
}

func newImpatientBody(ctx context.Context, cancel context.CancelCauseFunc, body io.ReadCloser) *impatientBody {
	alarm := time.AfterFunc(maxSilence, func() { cancel(ErrSilent) })
	alarm.Stop()
	return &impatientBody{body, ctx, cancel, alarm}
}

func (b *impatientBody) Read(p []byte) (int, error) {
	b.alarm.Reset(maxSilence)
	n, err := b.ReadCloser.Read(p)
	b.alarm.Stop()
	if err != nil && err != io.EOF && context.Cause(b.ctx) == ErrSilent {
		err = ErrSilent
	}
	return n, err
}

// Close ends the request.
func (b *impatientBody) Close() error {
	defer b.cancel(nil)
	b.alarm.Stop()
	return b.ReadCloser.Close()
}
