package historytest

import (
	"context"
	"errors"
	"iter"
	"os"

	"github.com/toolpost/toolpost/model"
)

// A lookout is a model that only checks what it would send.
type lookout struct {
	model.Model
	checked int
	err     error
}

func (l *lookout) Stream(_ context.Context, r *model.Request) iter.Seq2[*model.Delta, error] {
	return func(yield func(*model.Delta, error) bool) {
		l.checked++
		if l.err = l.Check(r); l.err != nil {
			yield(nil, l.err)
			return
		}
		m := &model.Message{Role: model.RoleAssistant, Parts: []model.Part{{Type: model.TypeText, Text: "Fine."}}}
		yield(&model.Delta{Response: &model.Response{Message: m, Stop: model.StopEnd}}, nil)
	}
}

// A tape is a model whose responses are kept, each with the session before its
// request.
type tape struct {
	model.Model
	path  string // of the session
	takes []take
}

type take struct {
	session []byte
	deltas  []*model.Delta
}

func (m *tape) Stream(ctx context.Context, r *model.Request) iter.Seq2[*model.Delta, error] {
	return func(yield func(*model.Delta, error) bool) {
		text, err := os.ReadFile(m.path)
		if err != nil {
			yield(nil, err)
			return
		}
		t := take{session: text}
		for d, err := range m.Model.Stream(ctx, r) {
			if t.deltas = append(t.deltas, d); err == nil && d.Response != nil {
				m.takes = append(m.takes, t) // the consumer needs no more
			}
			if !yield(d, err) || err != nil {
				return
			}
		}
	}
}

// A player is a model that gives one response of a tape, and no other.
type player struct {
	model.Model
	deltas []*model.Delta
}

var errPlayed = errors.New("the response was given")

func (m *player) Stream(ctx context.Context, _ *model.Request) iter.Seq2[*model.Delta, error] {
	return func(yield func(*model.Delta, error) bool) {
		deltas := m.deltas
		m.deltas = nil
		for _, d := range deltas {
			if ctx.Err() != nil {
				yield(nil, context.Cause(ctx))
				return
			}
			if !yield(d, nil) {
				return
			}
		}
		if deltas == nil {
			yield(nil, errPlayed)
		}
	}
}
