package redminetest

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

// A Recorder is a transport to a real Redmine that writes down what it answers,
// or that answers as it did. Keys are not written down.
type Recorder struct {
	file string
	real http.RoundTripper // nil to replay

	mu        sync.Mutex
	exchanges []exchange
	used      []bool // by exchange
	now       int    // the exchange of the latest change that was made
	astray    error  // the first request that was not recorded
}

// An exchange is a request, as far as it matters, and its answer.
type exchange struct {
	As      string `json:"as,omitempty"`
	Request string `json:"request"` // method, path and query
	Body    string `json:"body,omitempty"`
	Status  int    `json:"status"`
	Type    string `json:"type,omitempty"`
	ETag    string `json:"etag,omitempty"`
	To      string `json:"to,omitempty"` // of a redirect, without the host
	Answer  string `json:"answer,omitempty"`
	Bytes   []byte `json:"bytes,omitempty"` // instead of Answer if that is no text
}

// longestBody is that of a request which is recorded as it is.
const longestBody = 10_000

// recorded is a body as it is recorded: of long ones and those that are no text
// only enough to tell them apart.
func recorded(body []byte) string {
	if len(body) <= longestBody && utf8.Valid(body) {
		return string(body)
	}
	return fmt.Sprintf("%d bytes, sha256 %x", len(body), sha256.Sum256(body))
}

// Record returns a transport that writes to file at the end of the test.
func Record(t *testing.T, file string) *Recorder {
	r := &Recorder{file: file, real: http.DefaultTransport}
	t.Cleanup(func() {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		for _, x := range r.exchanges {
			if err := e.Encode(x); err != nil {
				t.Error(err)
			}
		}
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Error(err)
		}
	})
	return r
}

// Replay returns a transport that gives the answers in file. A change must be one
// that was recorded and not made yet, and each must be made. A read gets the answer
// that was recorded after the same changes, or the nearest one before or after:
// the order of reads, and how often one is made, does not matter.
func Replay(t *testing.T, file string) *Recorder {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r := &Recorder{file: file}
	for d := json.NewDecoder(bytes.NewReader(data)); d.More(); {
		var x exchange
		if err := d.Decode(&x); err != nil {
			t.Fatal(err)
		}
		r.exchanges = append(r.exchanges, x)
	}
	r.used, r.now = make([]bool, len(r.exchanges)), -1
	t.Cleanup(func() {
		for i, x := range r.exchanges {
			if x.changes() && !r.used[i] && !t.Failed() {
				t.Errorf("%s:%d: the change was not made: %q %s %s", file, i+1, x.As, x.Request, x.Body)
			}
		}
	})
	return r
}

// As is the transport for the calls of one user.
func (r *Recorder) As(login string) http.RoundTripper { return &user{r, login} }

type user struct {
	*Recorder
	login string
}

var key = regexp.MustCompile(`"api_key":"[^"]*"`)

// RoundTrip implements [http.RoundTripper].
func (u *user) RoundTrip(req *http.Request) (*http.Response, error) {
	r := u.Recorder
	r.mu.Lock()
	defer r.mu.Unlock()
	var body []byte
	if req.Body != nil {
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
	}
	x := exchange{As: u.login, Request: req.Method + " " + req.URL.RequestURI(), Body: recorded(body)}
	if r.real == nil {
		return r.replay(req, x)
	}
	resp, err := r.real.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	x.Status, x.Type, x.ETag = resp.StatusCode, resp.Header.Get("Content-Type"), resp.Header.Get("ETag")
	if to, err := resp.Location(); err == nil {
		x.To = to.RequestURI()
	}
	if utf8.Valid(answer) {
		x.Answer = key.ReplaceAllString(string(answer), `"api_key":"scrubbed"`)
	} else {
		x.Bytes = answer
	}
	r.exchanges = append(r.exchanges, x)
	return x.response(req), nil
}

// changes reports whether the request may change something in Redmine.
func (x exchange) changes() bool { return !strings.HasPrefix(x.Request, "GET ") }

func (r *Recorder) replay(req *http.Request, asked exchange) (*http.Response, error) {
	if r.astray != nil {
		return nil, r.astray
	}
	i := r.match(asked)
	if i < 0 {
		r.astray = fmt.Errorf("%s: no answer is recorded to %q %s %s", r.file, asked.As, asked.Request, asked.Body)
		return nil, r.astray
	}
	r.used[i] = true
	if asked.changes() {
		r.now = max(r.now, i)
	}
	return r.exchanges[i].response(req), nil
}

// match returns the index of the exchange that answers a request, -1 if there is
// none.
func (r *Recorder) match(asked exchange) int {
	next := r.now + 1
	for next < len(r.exchanges) && !r.exchanges[next].changes() {
		next++
	}
	known, best := -1, 0
	for i, x := range r.exchanges {
		if x.As != asked.As || x.Request != asked.Request || x.Body != asked.Body {
			continue
		}
		if rank := r.rank(i, next); rank > best || rank == best && (rank == 2 || rank == 3) {
			known, best = i, rank
		}
	}
	return known
}

// rank is how well an exchange with the same request answers it, 0 for not at all.
// Next is the next change that was recorded. Of exchanges with the same rank the
// first is the best with rank 1 and 4, and the last with 2 and 3.
func (r *Recorder) rank(i, next int) int {
	switch {
	case r.exchanges[i].changes():
		if r.used[i] {
			return 0
		}
		return 1
	case i > next:
		return 1
	case i <= r.now:
		return 2
	case r.used[i]:
		return 3
	}
	return 4
}

// lost is why no answer is right any more, nil as long as they are.
func (r *Recorder) lost() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.astray
}

func (x exchange) response(req *http.Request) *http.Response {
	h := http.Header{}
	if x.Type != "" {
		h.Set("Content-Type", x.Type)
	}
	if x.ETag != "" {
		h.Set("ETag", x.ETag)
	}
	if x.To != "" {
		h.Set("Location", x.To)
	}
	body := x.Bytes
	if body == nil {
		body = []byte(x.Answer)
	}
	return &http.Response{
		StatusCode: x.Status, Status: http.StatusText(x.Status), Header: h, Request: req,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		ContentLength: int64(len(body)), Body: io.NopCloser(bytes.NewReader(body)),
	}
}
