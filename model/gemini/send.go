package gemini

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"

	"google.golang.org/genai"

	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
)

// The SDK sends the request: it knows the addresses, the credentials and the
// headers of both of Google's services. It neither writes the body nor reads the
// response. Its types have no field for a member of tomorrow, they round
// integers, and they write other bytes than they read, so a part would not go
// back as it came. Its reader of streams also panics if a list contains an
// unexpected value. So an interceptor below the SDK replaces the body, keeps the
// response, and gives an empty one to the SDK. The placeholder that the SDK
// converts never leaves the process.
type interceptor struct{ next http.RoundTripper }

// intercept puts an interceptor into client.
func intercept(client *http.Client) {
	next := client.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	client.Transport = interceptor{next}
	client.Timeout = 0 // it would end when the SDK closes its empty response
	client.CheckRedirect = provider.NoRedirects
}

// An exchange is one request and its response.
type exchange struct {
	body     []byte
	response *http.Response
	err      error
}

type exchangeKey struct{}

// RoundTrip implements [http.RoundTripper].
func (i interceptor) RoundTrip(r *http.Request) (*http.Response, error) {
	x, _ := r.Context().Value(exchangeKey{}).(*exchange)
	if x == nil {
		return i.next.RoundTrip(r)
	}
	if r.Body != nil {
		_ = r.Body.Close()
	}
	own := r.Clone(r.Context())
	own.ContentLength = int64(len(x.body))
	own.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(x.body)), nil }
	own.Body, _ = own.GetBody()
	if x.response, x.err = i.next.RoundTrip(own); x.err != nil {
		return nil, x.err
	}
	return &http.Response{Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: http.NoBody, Request: r}, nil
}

// send sends the body and returns the stream of the response.
func (g *generator) send(ctx context.Context, body []byte) (io.ReadCloser, *model.Error) {
	x := &exchange{body: body}
	config := &genai.GenerateContentConfig{AutomaticContinuation: genai.Ptr(false)}
	var err error
	for _, e := range g.client.Models.GenerateContentStream(context.WithValue(ctx, exchangeKey{}, x), g.origin.Model, genai.Text("placeholder"), config) {
		if e != nil {
			err = e
		}
	}
	switch {
	case x.response == nil && x.err != nil:
		return nil, g.connectionError(ctx, x.err)
	case x.response == nil && err != nil: // the SDK sent nothing
		return nil, g.connectionError(ctx, err)
	case x.response == nil:
		return nil, g.connectionError(ctx, errors.New("the SDK sent no request"))
	}
	provider.LimitResponse(x.response)
	if x.response.StatusCode/100 != 2 {
		defer x.response.Body.Close()
		text, _ := io.ReadAll(x.response.Body)
		if to := provider.Redirect(x.response); to != "" {
			text = []byte(to)
		}
		return nil, g.statusError(x.response.StatusCode, x.response.Header, text)
	}
	return g.open(ctx, x.response)
}

// open returns the body of a response that is one of the API.
func (g *generator) open(ctx context.Context, res *http.Response) (io.ReadCloser, *model.Error) {
	body := res.Body
	start, _, err := provider.ReadStart(res)
	if err == nil {
		return struct {
			io.Reader
			io.Closer
		}{start, body}, nil
	}
	_ = body.Close()
	if foreign, ok := errors.AsType[*provider.ForeignAnswerError](err); ok {
		return nil, &model.Error{Origin: g.origin, Kind: model.KindInvalid, Text: provider.ErrorText(foreign.Error(), g.hide)}
	}
	if provider.IsTooMuch(err) {
		return nil, &model.Error{Origin: g.origin, Kind: model.KindInvalid, Text: err.Error()}
	}
	return nil, g.connectionError(ctx, err)
}

// connectionError is the error of a connection that failed, or of a context that
// ended. The cause is kept unless its text contains a credential.
func (g *generator) connectionError(ctx context.Context, err error) *model.Error {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	var at *url.Error
	if errors.As(err, &at) {
		err = at.Err // without the address
	}
	if text := err.Error(); g.hide(text) != text {
		err = errors.New(g.hide(text))
	}
	return &model.Error{Origin: g.origin, Kind: model.KindConnection, Err: err}
}
