package agents

import (
	"context"
	"errors"
	"iter"
	"net/http"

	"github.com/toolpost/toolpost/model"
)

// A flagHint is a model whose errors say which flag or variable to look at.
type flagHint struct {
	model.Model
	variable string // that the key came from; "" if no key was sent
	address  string // of --base-url; "" for that of the provider
}

// Stream implements [model.Model].
func (m *flagHint) Stream(ctx context.Context, r *model.Request) iter.Seq2[*model.Delta, error] {
	return func(yield func(*model.Delta, error) bool) {
		for d, err := range m.Model.Stream(ctx, r) {
			if !yield(d, m.explain(err)) {
				return
			}
		}
	}
}

func (m *flagHint) explain(err error) error {
	failed, ok := errors.AsType[*model.Error](err)
	if !ok || failed.Err != nil {
		return err
	}
	hint := ""
	switch {
	case failed.Kind == model.KindAuth && m.variable == "":
		hint = "no key was sent; name the variable that has it with --api-key-env"
	case failed.Kind == model.KindAuth:
		hint = "the key is that of the variable " + m.variable
	case failed.Status == http.StatusNotFound && m.address != "":
		hint = "check the name of the model, and --base-url, which often ends with /v1"
	default:
		return err
	}
	explained := *failed
	explained.Err = errors.New(hint)
	return &explained
}
