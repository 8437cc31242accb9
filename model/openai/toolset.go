package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
)

// A toolset is a set of tools as a model receives it.
type toolset struct {
	*provider.Toolset
	wire json.RawMessage // the request's member "tools"; nil for none
}

// newToolset returns the form of an offer. Extra are tools of other
// kinds.
func newToolset[T any](o *model.Offer[T], extra ...T) (*toolset, error) {
	ts := &toolset{Toolset: provider.NewToolset(o)}
	all := append(o.Tools[:len(o.Tools):len(o.Tools)], extra...)
	if len(all) == 0 {
		return ts, nil
	}
	var err error
	ts.wire, err = json.Marshal(all)
	return ts, err
}

// The longest names of tools and ids of calls, in bytes.
const (
	maxName = 64
	maxID   = 64
)

// idPrefix begins the ids of calls.
const idPrefix = "call_"

// call returns the part for a call as the model wrote it. Cut reports that the
// response ended inside of it.
func (ts *toolset) call(id, name, arguments string, cut bool) model.Part {
	p := model.Part{Type: model.TypeCall, ID: id, Name: ts.OwnName(name)}
	if strings.TrimSpace(arguments) == "" && !cut {
		arguments = "{}"
	}
	raw := json.RawMessage(arguments)
	valid := json.Valid(raw)
	if valid {
		p.Arguments = raw
	}
	switch {
	case cut && ts.Has(name):
		p.Invalid = provider.CutOff
	case !valid && ts.Has(name):
		p.Invalid = fmt.Sprintf("The arguments of %s are not valid JSON. Call it again with a JSON object.", name)
	default:
		ts.DecodeCall(&p, name)
	}
	return p
}
