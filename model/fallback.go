package model

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
)

// Fallback returns first with others that answer when it cannot. Every request
// goes to the first model. If that fails because of its provider (overloaded,
// rate limit, server, connection) or of the account there (quota, auth), the next
// one gets the same request, after a Delta with Restart set. Models whose Check
// refuses the request are left out.
//
// An invalid request is not sent to other models, and neither is one that is too
// long: a conversation that continued on a model with a larger context would
// never fit the first one again. Shorten the conversation instead.
//
// Origin and Check are those of the first model; Origin of the deltas and of a
// response and its parts is that of the model that answered. To retry before the next model is
// asked, pass models of [Retry].
func Fallback(first Model, others ...Model) Model {
	return &fallback{first, others}
}

// A fallback is a model and others that answer when it cannot.
type fallback struct {
	Model
	others []Model
}

// Retries implements what [Retries] asks: whether one of the models does.
func (m *fallback) Retries() bool { return Retries(m.Model) || slices.ContainsFunc(m.others, Retries) }

// Stream implements [Model].
func (m *fallback) Stream(ctx context.Context, r *Request) iter.Seq2[*Delta, error] {
	return func(yield func(*Delta, error) bool) {
		var earlier *Error
		for i, next := range append([]Model{m.Model}, m.others...) {
			if i > 0 && next.Check(r) != nil {
				continue
			}
			if earlier != nil && !yield(&Delta{Restart: earlier}, nil) {
				return
			}
			err, ended := forward(ctx, next, r, func(d *Delta, err error) bool { return yield(d.from(next.Origin()), err) })
			if ended {
				return
			}
			failure, _ := errors.AsType[*Error](err)
			if failure != nil && earlier != nil {
				failure = failure.explain("before that, " + earlier.Error())
				err = failure
			}
			if failure == nil || ctx.Err() != nil || !failure.ofProvider() {
				yield(nil, err)
				return
			}
			earlier = failure
		}
		yield(nil, earlier)
	}
}

// from returns d with the origin of the model that writes.
func (d *Delta) from(o Origin) *Delta {
	c := *d
	c.Origin = cmp.Or(c.Origin, o)
	if c.Response != nil {
		response := *c.Response
		response.Origin = cmp.Or(response.Origin, o)
		c.Response = &response
	}
	return &c
}

// ofProvider reports whether another provider may accept the request.
func (e *Error) ofProvider() bool {
	return e.Temporary() || e.Kind == KindQuota || e.Kind == KindAuth
}
