package agents

import (
	"context"
	"errors"
	"iter"
	"testing"

	"github.com/toolpost/toolpost/model"
)

// A failing is a model that fails.
type failing struct {
	model.Model
	err error
}

func (m failing) Stream(context.Context, *model.Request) iter.Seq2[*model.Delta, error] {
	return func(yield func(*model.Delta, error) bool) { yield(nil, m.err) }
}

// TestFlagHint: an error about the key or the address says what was given.
func TestFlagHint(t *testing.T) {
	for _, c := range []struct {
		err            error
		variable, want string
	}{
		{&model.Error{Kind: model.KindAuth, Text: "Incorrect API key"}, "MY_KEY", "auth: Incorrect API key: the key is that of the variable MY_KEY"},
		{&model.Error{Kind: model.KindAuth, Text: "Incorrect API key"}, "", "auth: Incorrect API key: no key was sent; name the variable that has it with --api-key-env"},
		{&model.Error{Kind: model.KindQuota, Text: "empty"}, "MY_KEY", "quota: empty"},
		{&model.Error{Kind: model.KindInvalid, Status: 404, Text: "nothing"}, "", "nothing: check the name of the model, and --base-url, which often ends with /v1"},
		{errors.New("odd"), "MY_KEY", "odd"},
	} {
		for _, err := range (&flagHint{failing{err: c.err}, c.variable, "http://127.0.0.1:1/"}).Stream(t.Context(), nil) {
			if got := err.Error(); len(got) < len(c.want) || got[len(got)-len(c.want):] != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		}
	}
}
