package agents

import (
	"context"
	"errors"
	"iter"

	"github.com/toolpost/toolpost/model"
)

// A keyHint is a model whose errors about the key say where the key came from.
type keyHint struct {
	model.Model
	variable string // of the environment; "" if no key was sent
}

// Stream implements [model.Model].
func (m *keyHint) Stream(ctx context.Context, r *model.Request) iter.Seq2[*model.Delta, error] {
	return func(yield func(*model.Delta, error) bool) {
		for d, err := range m.Model.Stream(ctx, r) {
			if !yield(d, m.explain(err)) {
				return
			}
		}
	}
}

func (m *keyHint) explain(err error) error {
	failed, ok := errors.AsType[*model.Error](err)
	if !ok || failed.Kind != model.KindAuth || failed.Err != nil {
		return err
	}
	explained := *failed
	explained.Err = errors.New("no key was sent; name the variable that has it with --api-key-env")
	if m.variable != "" {
		explained.Err = errors.New("the key is that of the variable " + m.variable)
	}
	return &explained
}
