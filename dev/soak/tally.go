//go:build linux

package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// A tally counts outcomes and keeps what is wrong.
type tally struct {
	mu     sync.Mutex
	counts map[string]int
	wrong  []error
}

func newTally() *tally { return &tally{counts: map[string]int{}} }

// add counts an outcome and returns how often it has been.
func (t *tally) add(outcome string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.counts[outcome]++
	return t.counts[outcome]
}

// fail records what is wrong; the first ten are reported in full.
func (t *tally) fail(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.counts["wrong"]++
	if len(t.wrong) < 10 {
		t.wrong = append(t.wrong, fmt.Errorf(format, args...))
	}
}

// problems returns what was wrong.
func (t *tally) problems() []error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.wrong
}

// mark begins every text that belongs to a call.
const mark = "nonce-"

// prefixOf returns how all texts of one connection of a client begin. It always has
// the same length.
func prefixOf(client, round int) string { return fmt.Sprintf("%s%04d-%06d-", mark, client, round) }

// A wireCheck looks for texts of other connections in all that a connection gets,
// wherever in a message they are.
type wireCheck struct {
	prefix string
	t      *tally
	tail   []byte // of what was read, which may be the beginning of a text
}

// Write implements [io.Writer]: it checks the next bytes.
func (w *wireCheck) Write(p []byte) (int, error) {
	data := append(w.tail, p...)
	for rest := data; ; {
		at := bytes.Index(rest, []byte(mark))
		if at < 0 || at+len(w.prefix) > len(rest) {
			break
		}
		rest = rest[at:]
		if found := string(rest[:len(w.prefix)]); found != w.prefix {
			w.t.fail("%q was delivered to %q", found, w.prefix)
		}
		rest = rest[len(mark):]
	}
	w.tail = bytes.Clone(data[max(0, len(data)-len(w.prefix)+1):])
	return len(p), nil
}

// A checkedTransport checks the bodies of all responses.
type checkedTransport struct {
	http.Transport
	prefix string
	t      *tally
}

// RoundTrip implements [http.RoundTripper].
func (c *checkedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := c.Transport.RoundTrip(r)
	if err == nil {
		response.Body = checkBody(response.Body, c.prefix, c.t)
	}
	return response, err
}

// checkBody returns a body that is checked while it is read.
func checkBody(body io.ReadCloser, prefix string, t *tally) io.ReadCloser {
	w := &wireCheck{prefix: prefix, t: t}
	return struct {
		io.Reader
		io.Closer
	}{io.TeeReader(body, w), body}
}
