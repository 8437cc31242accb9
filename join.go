package toolpost

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/toolpost/toolpost/internal/extension"
)

// Join returns a Toolset with the tools, prompts and resources of all sets, in
// order. Two tools of one name are an error of [NewSet]; of two prompts of one
// name, or two resources of one URI, the first is served and the other is one of
// [Set.Findings]. An extension that several sets declare belongs to the first.
// The result is ready when all sets are; its error joins theirs.
func Join(sets ...Toolset) Toolset {
	return &join{sources: slices.Clone(sets)}
}

type join struct {
	sources []Toolset

	mu   sync.Mutex
	from []*Features // what own was joined of
	own  *Features
}

func (j *join) Tools(ctx context.Context) ([]*Tool, error) {
	var all []*Tool
	for _, s := range j.sources {
		tools, err := s.Tools(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, tools...)
	}
	return all, nil
}

func (j *join) Watch(f func(Event)) (stop func()) {
	var stops []func()
	for _, s := range j.sources {
		stops = append(stops, s.Watch(f))
	}
	return func() {
		for _, stop := range stops {
			stop()
		}
	}
}

func (j *join) Ready(ctx context.Context) error {
	var errs []error
	for _, s := range j.sources {
		errs = append(errs, s.Ready(ctx))
	}
	return errors.Join(errs...)
}

func (j *join) Features() *Features {
	var from []*Features
	for _, s := range j.sources {
		if f := s.Features(); f != nil {
			from = append(from, f)
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if !slices.Equal(from, j.from) {
		j.from, j.own = from, joinFeatures(from)
	}
	return j.own
}

func joinFeatures(all []*Features) *Features {
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	j := &Features{}
	for _, f := range all {
		if j.Instructions != "" && f.Instructions != "" {
			j.Instructions += "\n\n"
		}
		j.Instructions += f.Instructions
		j.Prompts, j.Resources = append(j.Prompts, f.Prompts...), append(j.Resources, f.Resources...)
		j.Capabilities = extension.Merge(j.Capabilities, f.Capabilities)
		j.Incomplete = j.Incomplete || f.Incomplete
		if f.ReadUnlisted != nil {
			j.ReadUnlisted = firstFound(j.ReadUnlisted, f.ReadUnlisted)
		}
		if f.Subscribe != nil {
			j.Subscribe = subscribeFirst(all)
		}
	}
	if j.Capabilities != nil {
		j.extend(all)
	}
	return j
}

// extend sends what belongs to an extension to the first of all that declares it.
func (f *Features) extend(all []*Features) {
	declaring := func(method string) *Features {
		for _, f := range all {
			if extension.Of(method, f.Capabilities) {
				return f
			}
		}
		return &Features{}
	}
	f.Extend = func(ctx context.Context, call *Call) (*Result, error) {
		if extend := declaring(call.Name).Extend; extend != nil {
			return extend(ctx, call)
		}
		return nil, fmt.Errorf("method %s: %w", call.Name, ErrNotFound)
	}
	f.Notified = func(call *Call) {
		if notified := declaring(call.Name).Notified; notified != nil {
			notified(call)
		}
	}
}

// firstFound asks the second handler for what the first, which may be nil, does
// not have.
func firstFound(first, second Handler) Handler {
	if first == nil {
		return second
	}
	return func(ctx context.Context, call *Call) (*Result, error) {
		r, err := first(ctx, call)
		if err == nil || ctx.Err() != nil {
			return r, err
		}
		if r, other := second(ctx, call); other == nil || errors.Is(err, ErrNotFound) {
			return r, other
		}
		return nil, err
	}
}

// subscribeFirst asks the first that lists the resource.
func subscribeFirst(all []*Features) func(context.Context, string, bool) error {
	return func(ctx context.Context, uri string, on bool) error {
		for _, f := range all {
			if f.Subscribe != nil && slices.ContainsFunc(f.Resources, func(r *Resource) bool { return r.Matches(uri) }) {
				return f.Subscribe(ctx, uri, on)
			}
		}
		return fmt.Errorf("watch resource %s: %w", uri, ErrNotFound)
	}
}
