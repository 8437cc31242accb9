package provider

import (
	"net/http"
	"strconv"
	"time"
)

// newClient returns a copy of the client, or a new one that shares its connections with
// others if it is nil. It follows no redirects, unless the given one has a rule for them.
func newClient(given *http.Client) *http.Client {
	if given == nil {
		given = &http.Client{Transport: sharedTransport()}
	}
	own := *given
	if own.CheckRedirect == nil {
		own.CheckRedirect = NoRedirects
	}
	return &own
}

// NoRedirects is the CheckRedirect of a client that follows none: they would send
// the key and the conversation to another server.
func NoRedirects(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// RetryAfter returns the wait that a response requests, 0 if none.
func RetryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return Wait(ms / 1000)
	}
	after := h.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(after, 64); err == nil {
		return Wait(seconds)
	}
	if at, err := http.ParseTime(after); err == nil {
		return Wait(time.Until(at).Seconds())
	}
	return 0
}

// maxWait is the longest wait. Programs give up long before.
const maxWait = 20 * 24 * time.Hour

// Wait returns a wait that a provider requests in seconds.
func Wait(seconds float64) time.Duration {
	if seconds > 0 { // and a number
		return time.Duration(min(seconds, maxWait.Seconds()) * float64(time.Second))
	}
	return 0
}
