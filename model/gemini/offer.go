package gemini

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"google.golang.org/genai"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/codec"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/offer"
)

// A toolset is what the model receives of a set of tools. A nil one has no tools.
type toolset struct {
	*offer.Offer[*genai.Tool]
	json   json.RawMessage   // the tools as they are sent
	names  map[string]string // the names for the model, by the tools' own
	losses []model.Loss
}

// newOffer adapts the tools of set.
func (g *generator) newOffer(set *toolpost.Set) (*toolset, error) {
	adapted, err := Tools(context.Background(), set, &offer.Options{Dialect: g.dialect, Fit: true})
	if err != nil {
		return nil, err
	}
	o := &toolset{Offer: adapted, names: map[string]string{}}
	for _, w := range adapted.Adapted.Withheld {
		o.losses = append(o.losses, model.Loss{Message: -1, Part: -1, Text: fmt.Sprintf("tool %q is withheld: %s", w.Name, w.Why)})
	}
	for _, t := range adapted.Adapted.Tools {
		o.names[t.Original.Name] = t.Name
	}
	if len(adapted.Tools) == 0 {
		return o, nil
	}
	if o.json, err = codec.Encode(adapted.Tools); err != nil {
		return nil, fmt.Errorf("encode tools: %w", err)
	}
	return o, checkTools(o.json, g.dialect)
}

// nameFor returns the name that the model knows a tool by. A tool that is no
// longer offered keeps its own name, in characters that the model accepts.
func (o *toolset) nameFor(name string) string {
	if o != nil {
		if adapted, known := o.names[name]; known {
			return adapted
		}
	}
	return functionName(name)
}

// decode returns a call of the model as a part: with the tool's own name and
// arguments, or with the reason why it cannot run.
func (o *toolset) decode(call *toolpost.Call) model.Part {
	p := model.Part{Type: model.TypeCall, ID: call.ID, Name: call.Name, Arguments: call.Arguments}
	if o == nil || o.Set.Lookup(call.Name) == nil {
		p.Invalid = fmt.Sprintf("There is no tool %q. Call one of the tools you were given.", call.Name)
		return p
	}
	p.Name = o.ownName(call.Name)
	decoded, err := o.Decode(call)
	if err != nil {
		p.Invalid = err.Error()
		return p
	}
	p.Arguments = decoded.Arguments
	return p
}

// ownName returns the tool's own name.
func (o *toolset) ownName(adapted string) string {
	for _, t := range o.Adapted.Tools {
		if t.Name == adapted {
			return t.Original.Name
		}
	}
	return adapted
}

// maxOffers limits the toolsets that a model remembers.
const maxOffers = 64

// offers remembers the offer of each set, because adapting is slow.
type offers struct {
	mu    sync.Mutex
	bySet map[*toolpost.Set]*toolset
}

// of returns the offer of set, nil if there are no tools.
func (os *offers) of(g *generator, set *toolpost.Set) (*toolset, error) {
	if set == nil {
		return nil, nil
	}
	os.mu.Lock()
	defer os.mu.Unlock()
	if o := os.bySet[set]; o != nil {
		return o, nil
	}
	o, err := g.newOffer(set)
	if err != nil {
		return nil, err
	}
	if os.bySet == nil || len(os.bySet) >= maxOffers {
		os.bySet = map[*toolpost.Set]*toolset{}
	}
	os.bySet[set] = o
	return o, nil
}
