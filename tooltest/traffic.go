package tooltest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

// recordVariable is the environment variable that, if set, makes Traffic send
// requests and record them instead of replaying what was recorded.
const recordVariable = "TOOLPOST_RECORD"

// maxBody is the longest body that is recorded, in bytes.
const maxBody = 64 << 20

// TrafficOptions are the optional parts of [Traffic].
type TrafficOptions struct {
	Secrets []string          // values of six or more characters that are not recorded, besides those found in requests
	Base    http.RoundTripper // sends the requests that are recorded; http.DefaultTransport if nil
}

// Traffic returns a transport that answers requests with the responses recorded in
// a file, without a connection. A request that is not in the file is an error that
// describes how to record it. Responses, also those that are streams, are recorded
// as far as the test reads them, and saved when it has passed.
//
// Credentials are never in the file: of the headers, only those that describe a
// body are recorded. The values of other headers and of the URL that are named
// like a secret, and the values in TrafficOptions, are removed wherever they occur,
// also where a server repeats them, and so is everything that looks like a secret.
func Traffic(t testing.TB, file string, opts *TrafficOptions) http.RoundTripper {
	t.Helper()
	if opts == nil {
		opts = &TrafficOptions{}
	}
	hide := newTrafficRedactor(opts.Secrets)
	if os.Getenv(recordVariable) == "" {
		p := &trafficPlayer{file: file, hide: hide}
		if err := p.read(); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("replay traffic: %v", err)
		}
		t.Cleanup(func() { p.reportUnused(t) })
		return p
	}
	r := &trafficRecorder{base: opts.Base, hide: hide}
	if r.base == nil {
		r.base = http.DefaultTransport
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the test failed; %s stays as it is", file)
		} else if err := r.save(file); err != nil {
			t.Errorf("record traffic: %v", err)
		}
	})
	return r
}

// An exchange is a request and its response: one line of the file.
type exchange struct {
	Request struct {
		Method string `json:"method"`
		URL    string `json:"url"`
		trafficBody
	} `json:"request"`
	Response struct {
		Status int               `json:"status"`
		Header map[string]string `json:"header,omitempty"`
		trafficBody
	} `json:"response"`
}

// A trafficBody is a body as text, or in base64 if it is not valid UTF-8.
type trafficBody struct {
	Text  string `json:"body,omitempty"`
	Bytes []byte `json:"body_base64,omitempty"`
}

func newTrafficBody(data []byte) trafficBody {
	if utf8.Valid(data) {
		return trafficBody{Text: string(data)}
	}
	return trafficBody{Bytes: data}
}

func (b trafficBody) data() []byte {
	if b.Bytes != nil {
		return b.Bytes
	}
	return []byte(b.Text)
}

// redact returns the exchange as it is recorded.
func (e *exchange) redact(hide *trafficRedactor) *exchange {
	c := *e
	c.Request.URL = hide.url(e.Request.URL)
	c.Request.trafficBody = newTrafficBody(hide.body(e.Request.data()))
	c.Response.trafficBody = newTrafficBody(hide.body(e.Response.data()))
	c.Response.Header = map[string]string{}
	for name, value := range e.Response.Header {
		c.Response.Header[name] = hide.text(value)
	}
	return &c
}

// begin returns an exchange for a request, and the request to send. It notes the
// secrets of the request.
func begin(r *http.Request, hide *trafficRedactor) (*exchange, *http.Request, error) {
	hide.learn(r)
	e := &exchange{}
	e.Request.Method, e.Request.URL = r.Method, r.URL.String()
	sent := r.Clone(r.Context())
	if r.Body == nil {
		return e, sent, nil
	}
	data, err := readBody(r.Body)
	if err != nil {
		return nil, nil, fmt.Errorf("read the body of the request: %w", err)
	}
	hide.learnBody(data)
	e.Request.trafficBody = newTrafficBody(data)
	sent.Body = io.NopCloser(bytes.NewReader(data))
	return e, sent, nil
}

func readBody(body io.ReadCloser) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(body, maxBody+1))
	if err := errors.Join(err, body.Close()); err != nil {
		return nil, err
	}
	if len(data) > maxBody {
		return nil, fmt.Errorf("it has more than %d bytes", maxBody)
	}
	return data, nil
}

// A trafficRecorder sends requests and records them.
type trafficRecorder struct {
	base http.RoundTripper
	hide *trafficRedactor

	mu     sync.Mutex
	bodies []*recordedBody
	err    error // why the recording cannot be saved
}

// RoundTrip implements [http.RoundTripper].
func (t *trafficRecorder) RoundTrip(r *http.Request) (*http.Response, error) {
	e, sent, err := begin(r, t.hide)
	if err != nil {
		return nil, err
	}
	sent.Header.Del("Accept-Encoding") // a secret in a compressed body would not be found
	response, err := t.base.RoundTrip(sent)
	if err != nil {
		return nil, err
	}
	e.Response.Status, e.Response.Header = response.StatusCode, map[string]string{}
	for _, name := range []string{"Content-Type", "Retry-After", "Retry-After-Ms"} {
		if value := response.Header.Get(name); value != "" {
			e.Response.Header[name] = value
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if encoding := response.Header.Get("Content-Encoding"); encoding != "" {
		t.err = fmt.Errorf("the response of %s has the encoding %q, in which secrets cannot be found", t.hide.url(e.Request.URL), encoding)
	}
	body := &recordedBody{ReadCloser: response.Body, recorder: t, exchange: e}
	t.bodies = append(t.bodies, body)
	response.Body = body
	return response, nil
}

// A recordedBody is the body of a response and what has been read of it.
type recordedBody struct {
	io.ReadCloser
	recorder *trafficRecorder
	exchange *exchange
	data     []byte
}

func (b *recordedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.recorder.mu.Lock()
	defer b.recorder.mu.Unlock()
	if b.data = append(b.data, p[:n]...); len(b.data) > maxBody {
		b.recorder.err, b.data = fmt.Errorf("a response has more than %d bytes", maxBody), nil
	}
	return n, err
}

// save writes the file.
func (t *trafficRecorder) save(file string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return t.err
	}
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	encoder.SetEscapeHTML(false)
	for _, b := range t.bodies {
		b.exchange.Response.trafficBody = newTrafficBody(b.data)
		if err := encoder.Encode(b.exchange.redact(t.hide)); err != nil {
			return err
		}
	}
	if value := t.hide.findSecret(lines.String()); value != "" {
		return fmt.Errorf("a secret of %d characters is still in the recording, which is not written; pass it in TrafficOptions.Secrets", len(value))
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, lines.Bytes(), 0o644)
}

// A trafficPlayer answers requests with recorded responses.
type trafficPlayer struct {
	file string
	hide *trafficRedactor

	mu     sync.Mutex
	unused []*exchange
}

func (p *trafficPlayer) read() error {
	data, err := os.ReadFile(p.file)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	for {
		e := &exchange{}
		switch err := decoder.Decode(e); {
		case err == io.EOF:
			return nil
		case err != nil:
			return fmt.Errorf("%s, exchange %d: %w", p.file, len(p.unused)+1, err)
		}
		p.unused = append(p.unused, e)
	}
}

// RoundTrip implements [http.RoundTripper].
func (p *trafficPlayer) RoundTrip(r *http.Request) (*http.Response, error) {
	e, _, err := begin(r, p.hide)
	if err != nil {
		return nil, err
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	found, err := p.take(e.redact(p.hide))
	if err != nil {
		return nil, err
	}
	header := http.Header{}
	for name, value := range found.Response.Header {
		header.Set(name, value)
	}
	data := found.Response.data()
	return &http.Response{
		Status:     fmt.Sprintf("%d %s", found.Response.Status, http.StatusText(found.Response.Status)),
		StatusCode: found.Response.Status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: io.NopCloser(bytes.NewReader(data)), ContentLength: int64(len(data)), Request: r,
	}, nil
}

// take returns the first recorded exchange with the same request, each once.
func (p *trafficPlayer) take(e *exchange) (*exchange, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	hint := ""
	for i, recorded := range p.unused {
		switch {
		case recorded.Request.Method != e.Request.Method || recorded.Request.URL != e.Request.URL:
		case !bytes.Equal(recorded.Request.data(), e.Request.data()):
			hint = fmt.Sprintf("; a recorded request differs in its body:\nsent:     %s\nrecorded: %s", bodyText(e.Request.trafficBody), bodyText(recorded.Request.trafficBody))
		default:
			p.unused = append(p.unused[:i:i], p.unused[i+1:]...)
			return recorded, nil
		}
	}
	return nil, fmt.Errorf("no recording of %s %s in %s; set %s=1 and run the test again to send the request and record it%s",
		e.Request.Method, e.Request.URL, p.file, recordVariable, hint)
}

func bodyText(b trafficBody) string {
	if b.Bytes != nil {
		return base64.StdEncoding.EncodeToString(b.Bytes)
	}
	return strings.TrimSpace(b.Text)
}

// reportUnused fails a test that has passed without all of its recording.
func (p *trafficPlayer) reportUnused(t testing.TB) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.unused) > 0 && !t.Failed() {
		t.Errorf("%d recorded requests in %s were not sent; set %s=1 and run the test again to record what it sends now", len(p.unused), p.file, recordVariable)
	}
}
