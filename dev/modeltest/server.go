// Package modeltest speaks the wire formats of model providers on loopback, so
// that models can be tested without an account.
package modeltest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/usage"
)

// A Turn is what a fake model does with one request: it answers, fails, or
// breaks off.
type Turn struct {
	Parts  []model.Part     // text, thinking, calls; Name and Arguments are those for the model
	Stop   model.StopReason // model.StopEnd, …; chosen by the parts if empty
	Tokens usage.Tokens

	Fail *Failure // instead of an answer
	Cut  int      // the connection breaks after so many bytes of the stream; 0 for never

	// Check, if set, is called with the body of the request. Its error fails the
	// test.
	Check func(body []byte) error
}

// A Failure is an error that a provider answers with.
type Failure struct {
	Kind       model.ErrorKind // model.KindOverloaded, …
	RetryAfter time.Duration
	Late       bool // the stream has begun: the error is an event in it
}

// checkOf returns how a provider's model checks the body of a request before it is sent.
func checkOf(m model.Model) func(body []byte) error {
	return m.(interface{ CheckBody(body []byte) error }).CheckBody
}

// A Wire is the wire format of one provider's API.
type Wire struct {
	// Check returns the reason why the provider would refuse the body of a
	// request; the server then answers as Refuse does, and the test fails.
	Check func(body []byte) error

	Answer func(w io.Writer, header http.Header, t *Turn) // writes the headers, then the stream
	Fail   func(w http.ResponseWriter, f *Failure, text string)
}

// A Server is a fake provider on loopback.
type Server struct {
	URL string

	mu       sync.Mutex
	turns    []Turn
	requests [][]byte
}

// Requests returns the bodies of the requests so far.
func (s *Server) Requests() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([][]byte(nil), s.requests...)
}

// Serve starts a server that answers the requests with the turns, in order. A
// request too many fails the test.
func Serve(t testing.TB, wire Wire, turns ...Turn) *Server {
	t.Helper()
	s := &Server{turns: turns}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(io.LimitReader(r.Body, 64<<20))
		if err != nil {
			return
		}
		compareSent(t, r, body)
		if err := wire.Check(body); err != nil {
			t.Errorf("the provider would refuse the request: %v\n%s", err, body)
			wire.Fail(w, &Failure{Kind: model.KindInvalid}, err.Error())
			return
		}
		turn, err := s.next(body)
		if err == nil && turn.Check != nil {
			err = turn.Check(body)
		}
		switch {
		case err != nil:
			t.Errorf("%v\n%s", err, body)
			wire.Fail(w, &Failure{Kind: model.KindInvalid}, err.Error())
		case turn.Fail != nil:
			wire.Fail(w, turn.Fail, "this is a test")
		default:
			wire.Answer(&cutter{w: w, left: turn.Cut}, w.Header(), turn)
		}
	}))
	t.Cleanup(web.Close)
	s.URL = web.URL
	return s
}

func (s *Server) next(body []byte) (*Turn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, body)
	if len(s.turns) == 0 {
		return nil, fmt.Errorf("request %d has no turn in the test", len(s.requests))
	}
	turn := s.turns[0]
	s.turns = s.turns[1:]
	return &turn, nil
}

// A cutter breaks the connection after some bytes, and flushes every write.
type cutter struct {
	w    http.ResponseWriter
	left int // 0 for no limit
}

func (c *cutter) Write(p []byte) (int, error) {
	if c.left > 0 && len(p) >= c.left {
		_, _ = c.w.Write(p[:c.left])
		_ = http.NewResponseController(c.w).Flush()
		panic(http.ErrAbortHandler)
	}
	if c.left > 0 {
		c.left -= len(p)
	}
	n, err := c.w.Write(p)
	_ = http.NewResponseController(c.w).Flush()
	return n, err
}
