package login

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"sync/atomic"
	"time"
)

// watchTime is how often the stored login is looked at while streams are open.
const watchTime = 5 * time.Second

// errLoggedOut ends the streams of a login that was ended, or replaced by another one.
var errLoggedOut = errors.New("the login that the stream was opened with has ended")

// A response is the body of a response that came with a login.
type response struct {
	io.ReadCloser
	source *source
	login  string          // that it was opened with
	done   <-chan struct{} // of its request
	cancel context.CancelCauseFunc
	ended  atomic.Bool // by the end of the login
}

// Read reads the body until the login ends.
func (r *response) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if err != nil && r.ended.Load() {
		err = errLoggedOut
	}
	return n, err
}

// Close ends the response.
func (r *response) Close() error {
	r.source.leave(r)
	err := r.ReadCloser.Close()
	r.cancel(nil)
	return err
}

func (r *response) end() {
	r.ended.Store(true)
	r.cancel(errLoggedOut)
}

// send sends a request with the token of a login. A stream that comes back ends with
// the login. Held is nil if there is none.
func (s *source) send(base http.RoundTripper, req *http.Request, held *record) (*http.Response, error) {
	if held == nil {
		return base.RoundTrip(req)
	}
	ctx, cancel := context.WithCancelCause(req.Context())
	resp, err := base.RoundTrip(withToken(req.WithContext(ctx), held))
	if err != nil {
		cancel(nil)
		return nil, err
	}
	r := &response{ReadCloser: resp.Body, source: s, login: held.Login, done: ctx.Done(), cancel: cancel}
	resp.Body = r
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind == "text/event-stream" {
		s.follow(r)
	}
	return resp, nil
}

// follow ends a stream when its login ends.
func (s *source) follow(r *response) {
	s.load(r.done)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held == nil || s.held.Login != r.login {
		r.end()
		return
	}
	if s.streams == nil {
		s.streams = map[*response]bool{}
	}
	if s.streams[r] = true; len(s.streams) == 1 {
		s.left = make(chan struct{})
		go s.watch(s.left)
	}
}

// leave forgets a stream.
func (s *source) leave(r *response) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(r)
}

// drop forgets a stream. The caller holds mu.
func (s *source) drop(r *response) {
	if !s.streams[r] {
		return
	}
	if delete(s.streams, r); len(s.streams) == 0 {
		close(s.left)
	}
}

// watch looks at the stored login until no stream is left: a process that only listens
// sends no requests that would notice a change.
func (s *source) watch(left <-chan struct{}) {
	t := time.NewTicker(s.watchTime)
	defer t.Stop()
	for {
		select {
		case <-left:
			return
		case <-t.C:
			s.load(left)
		}
	}
}

// endStreams ends the streams of other logins than the one that is held. The caller
// holds mu.
func (s *source) endStreams() {
	for r := range s.streams {
		if s.held == nil || s.held.Login != r.login {
			r.end()
			s.drop(r)
		}
	}
}
