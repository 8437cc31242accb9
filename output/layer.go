package output

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync/atomic"
	"unicode/utf8"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/hidden"
)

// Layer returns ts with large results replaced by views, and with the tools
// that read the rest. It does not add these tools if ts has them or if all its
// tools limit their output themselves. Tools of ts keep their names: if ours
// have the same names, ours are renamed. For a tool that ts lists again
// unchanged, Layer returns the same tool again.
func (c *Cache) Layer(ts toolpost.Toolset) toolpost.Toolset {
	l := &layer{cache: c}
	l.names.Store(&pair{pageName, findName})
	return toolpost.Layer(ts, l.tools, nil)
}

type layer struct {
	cache  *Cache
	names  atomic.Pointer[pair]
	before map[*toolpost.Tool]*toolpost.Tool // what was listed last, by what it is of
}

func (l *layer) tools(tools []*toolpost.Tool) ([]*toolpost.Tool, error) {
	large := func(t *toolpost.Tool) bool { return t.Policy.MaxOutput >= 0 }
	if !slices.ContainsFunc(tools, large) {
		return tools, nil
	}
	now, taken := make(map[*toolpost.Tool]*toolpost.Tool, len(tools)+2), map[string]bool{}
	all := make([]*toolpost.Tool, 0, len(tools)+2)
	own := l.cache.Tools()
	names := make([]string, len(own))
	for _, t := range tools {
		m := t
		if i := slices.IndexFunc(own, func(o *toolpost.Tool) bool { return o.Input == t.Input }); i >= 0 {
			names[i] = t.Name
		} else if large(t) {
			if m = l.before[t]; m == nil {
				m = l.wrap(t)
			}
		}
		now[t], taken[t.Name] = m, true
		all = append(all, m)
	}
	for i, t := range own {
		if names[i] == "" {
			m := l.own(t, taken)
			now[t], names[i] = m, m.Name
			all = append(all, m)
		}
	}
	l.names.Store(&pair{names[0], names[1]})
	l.before = now
	return all, nil
}

// own returns one of our tools under a name that is free.
func (l *layer) own(t *toolpost.Tool, taken map[string]bool) *toolpost.Tool {
	name := t.Name
	for n := 2; taken[name]; n++ {
		name = t.Name + "_" + strconv.Itoa(n)
	}
	if last := l.before[t]; last != nil && last.Name == name {
		return last
	}
	return t.Rename(name)
}

func (l *layer) wrap(t *toolpost.Tool) *toolpost.Tool {
	c := *t
	c.Handler = func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		v := &viewing{cache: l.cache, tool: t, holder: call.Session, names: *l.names.Load()}
		r, err := t.Handler(hidden.WithKeep(ctx, keep(v)), call)
		if err != nil {
			return r, v.failure(ctx, err)
		}
		switch {
		case r == nil:
			return r, nil
		case r.OutputRef() != "": // a view already
			return fitting(v, r)
		}
		return v.result(ctx, r)
	}
	return &c
}

// fitting returns a view of its tool's or server's own, in which a text of the
// structured content may have been replaced: as an error, if the content does not
// match the output schema.
func fitting(v *viewing, r *toolpost.Result) (*toolpost.Result, error) {
	structured := r.Structured()
	switch e := hidden.EncodedOf(r); {
	case structured != nil && (e.Raw == nil && e.Long == nil || v.fits(structured)):
		return r, nil
	case structured == nil && (e.Raw != nil || e.Long != nil): // the server sent none
		return r, nil
	case promises(v.tool, r):
		return withoutPromise(r, r.Parts())
	case structured == nil:
		return r, nil
	}
	return r.WithContent(r.Parts(), nil)
}

// failure returns err with a text within the limit of errors. The data of one
// that is too long is kept with its text.
func (v *viewing) failure(ctx context.Context, err error) error {
	var (
		protocol *toolpost.ProtocolError
		outcome  *toolpost.ToolError
		args     *toolpost.ArgumentsError
	)
	text := err.Error()
	failed := !errors.As(err, &outcome) || outcome.Outcome != toolpost.Done
	v.limit = v.cache.limit(v.tool, failed)
	switch {
	case errors.As(err, &protocol):
		if text = protocol.Message; len(protocol.Data) > 0 {
			text += "\n" + string(protocol.Data)
		}
	case errors.As(err, &args):
		text = args.Err.Error()
	}
	if len(text) <= v.limit.chars {
		return err
	}
	if text = valid(text); utf8.RuneCountInString(text) <= v.limit.chars {
		return err
	}
	view := v.text(context.WithoutCancel(ctx), text) // may be the error of its end
	switch {
	case protocol != nil:
		return &toolpost.ProtocolError{Code: protocol.Code, Message: view}
	case args != nil:
		return &toolpost.ArgumentsError{Tool: args.Tool, Err: errors.New(view)}
	}
	return &longError{err, view}
}

// A longError is an error with another text.
type longError struct {
	error
	view string
}

func (e *longError) Error() string { return e.view }

func (e *longError) Unwrap() error { return e.error }
