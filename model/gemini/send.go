package gemini

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
)

// send sends the body and returns the stream of the response.
func (g *generator) send(ctx context.Context, body []byte) (io.ReadCloser, *model.Error) {
	header, failed := g.header(ctx)
	if failed != nil {
		return nil, failed
	}
	res, err := g.sender.Post(ctx, g.endpoint.path, header, body)
	if err == nil {
		return g.open(ctx, res)
	}
	if refused, ok := errors.AsType[*provider.StatusError](err); ok {
		return nil, g.statusError(refused.Status, refused.Header, refused.Body)
	}
	return nil, g.sendError(ctx, err)
}

// header returns the header that authenticates a request.
func (g *generator) header(ctx context.Context) (http.Header, *model.Error) {
	switch {
	case g.endpoint.key != "":
		return http.Header{"X-Goog-Api-Key": {g.endpoint.key}}, nil
	case g.credentials == nil: // the client authenticates
		return nil, nil
	}
	header, err := g.credentials.header(ctx)
	switch {
	case err == nil:
		return header, nil
	case ctx.Err() != nil:
		return nil, g.sendError(ctx, err)
	}
	return nil, &model.Error{Origin: g.origin, Kind: kindOfCredentials(err), Text: provider.ErrorText(err.Error(), g.sender.Hide)}
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
	return nil, g.sendError(ctx, err)
}

// sendError is the error of a request that was not sent, of a response that is not one of
// the API, of a connection that failed, or of a context that ended. The cause is kept
// unless its text contains a credential.
func (g *generator) sendError(ctx context.Context, err error) *model.Error {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if provider.IsPermanent(err) {
		return &model.Error{Origin: g.origin, Kind: model.KindInvalid, Text: provider.ErrorText(err.Error(), g.sender.Hide)}
	}
	if text := err.Error(); g.sender.Hide(text) != text {
		err = errors.New(g.sender.Hide(text))
	}
	return &model.Error{Origin: g.origin, Kind: model.KindConnection, Err: err}
}
