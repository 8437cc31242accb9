package mcpserver

import (
	"context"
	"errors"
	"time"

	"github.com/toolpost/toolpost/observe"
)

// answer returns the result of a request whose client is known, and has it
// observed. A stream of subscriptions/listen is not observed: it lasts.
func (c *core) answer(ctx context.Context, r *request) (result payload, err error) {
	if c.opts.Observe == nil || r.Method == listenMethod {
		return c.dispatch(ctx, r)
	}
	ctx, seen := observe.Begin(ctx)
	c.describe(seen, r)
	ctx, end := c.opts.Observe(ctx, seen)
	if end == nil {
		return c.dispatch(ctx, r)
	}
	err = errPanicked // unless dispatch returns
	defer func() {
		response := &observe.Response{Result: seen.Result(), Bytes: result.size(), Duration: time.Since(seen.Start)}
		if response.Outcome = outcomeOf(ctx, r, seen, err); err != nil {
			response.Err, response.Code = err, faultOf(r, err).Code
		}
		end(response)
	}()
	result, err = c.dispatch(ctx, r)
	return result, err
}

// errPanicked is what observers see of a handler that panicked; the client gets an
// id by which the log explains it.
var errPanicked = errors.New("a handler panicked")

// describe fills in what is known about a request when it begins.
func (c *core) describe(seen *observe.Request, r *request) {
	by := r.sender
	seen.Method, seen.Name, seen.ID, seen.Params, seen.Arguments = r.Method, subject(r.Message), r.ID, r.Params, r.Arguments
	seen.Client, seen.Session, seen.InSession, seen.Protocol, seen.Transport = r.client, r.owner.Session, r.session != nil, r.version, by.transport
	seen.Start = time.Now()
	v := r.view
	if v == nil && r.session != nil {
		v = r.session.listener.currentView()
	}
	if v == nil {
		review := c.changes.reviews.Load()
		v = c.views.viewOf(r.client)
		r.found = shownView{v, review}
	}
	if v != nil {
		seen.Profile = v.profile
	}
}

// outcomeOf returns how a request ended.
func outcomeOf(ctx context.Context, r *request, seen *observe.Request, err error) observe.Outcome {
	if r.asks {
		return observe.InputRequired
	}
	return seen.OutcomeOf(ctx, err)
}
