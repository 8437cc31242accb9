package provider

import (
	"net/http"
	"strconv"
	"time"
)

// Client returns the client, or one that follows no redirects if it is nil.
func Client(c *http.Client) *http.Client {
	if c == nil {
		return &http.Client{CheckRedirect: NoRedirects}
	}
	return c
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
