package openai

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"weak"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dialect"
	"github.com/toolpost/toolpost/internal/lazyregexp"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/offer"
)

// A cache keeps what is made of a value for as long as the value exists.
type cache[K, V any] struct {
	mu   sync.Mutex
	made map[weak.Pointer[K]]V
}

// get returns what make returned for key, which must not hold key.
func (c *cache[K, V]) get(key *K, make func() (V, error)) (V, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := weak.Make(key)
	if v, ok := c.made[at]; ok {
		return v, nil
	}
	v, err := make()
	if err != nil {
		return v, err
	}
	if c.made == nil {
		c.made = map[weak.Pointer[K]]V{}
	}
	c.made[at] = v
	runtime.AddCleanup(key, c.forget, at)
	return v, nil
}

func (c *cache[K, V]) forget(at weak.Pointer[K]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.made, at)
}

// A toolset is a set of tools as a model receives it.
type toolset struct {
	wire   json.RawMessage          // the request's member "tools"; nil for none
	names  map[string]*dialect.Tool // by the tool's own name
	losses []model.Loss
	decode func(call *toolpost.Call) (*toolpost.Call, error) // to the tool's own form
}

// newToolset returns the form of an offer. Extra are tools of other
// kinds.
func newToolset[T any](o *offer.Offer[T], extra ...T) (*toolset, error) {
	ts := &toolset{names: map[string]*dialect.Tool{}, decode: o.Decode}
	for _, t := range o.Adapted.Tools {
		ts.names[t.Original.Name] = t
	}
	for _, w := range o.Adapted.Withheld {
		ts.losses = append(ts.losses, model.Loss{Message: -1, Part: -1, Text: fmt.Sprintf("tool %q is withheld: %s", w.Name, w.Why)})
	}
	all := append(o.Tools[:len(o.Tools):len(o.Tools)], extra...)
	if len(all) == 0 {
		return ts, nil
	}
	var err error
	ts.wire, err = json.Marshal(all)
	return ts, err
}

// wireName returns the name that the model knows for a tool's own name. Tools
// that are gone keep theirs, as far as the provider accepts it.
func (ts *toolset) wireName(name string) string {
	if t := ts.names[name]; t != nil {
		return t.Name
	}
	name = badName.ReplaceAllString(name, "_")
	if name == "" {
		return "tool"
	}
	return name[:min(len(name), maxName)]
}

// ownName returns the tool's own name for the name that the model knows.
func (ts *toolset) ownName(name string) string {
	for own, t := range ts.names {
		if t.Name == name {
			return own
		}
	}
	return name
}

var (
	badName  = lazyregexp.New(`[^a-zA-Z0-9_-]`)
	goodName = lazyregexp.New(`^[a-zA-Z0-9_-]{1,64}$`)
)

const (
	maxName = 64
	maxID   = 64
)

// call returns the part for a call as the model wrote it. Cut reports that the
// response ended inside of it.
func (ts *toolset) call(id, name, arguments string, cut bool) model.Part {
	p := model.Part{Type: model.TypeCall, ID: id, Name: ts.ownName(name)}
	if strings.TrimSpace(arguments) == "" && !cut {
		arguments = "{}"
	}
	raw := json.RawMessage(arguments)
	valid := json.Valid(raw)
	if valid {
		p.Arguments = raw
	}
	switch {
	case ts.names[p.Name] == nil:
		p.Invalid = fmt.Sprintf("There is no tool %q. Call one of the tools you were given.", name)
	case cut:
		p.Invalid = fmt.Sprintf("The call of %s was cut off because the response reached its maximum length. Call it again with shorter arguments.", name)
	case !valid:
		p.Invalid = fmt.Sprintf("The arguments of %s are not valid JSON. Call it again with a JSON object.", name)
	default:
		decoded, err := ts.decode(&toolpost.Call{ID: id, Name: name, Arguments: raw})
		if err != nil {
			p.Invalid = err.Error()
		} else {
			p.Arguments = decoded.Arguments
		}
	}
	return p
}

// A callIDs chooses the ids of calls that the provider did not write itself.
type callIDs struct {
	used map[string]bool
	last map[string]string // of the last message with calls: the request's ids by those of the parts
}

// begin starts a message with calls.
func (c *callIDs) begin() { c.last = map[string]string{} }

// keep records an id that is sent as it is.
func (c *callIDs) keep(id string) {
	c.last[id] = id
	c.used[id] = true
}

// choose returns the id for a call: its own, if it is one that every server
// accepts, and new.
func (c *callIDs) choose(id string) string {
	chosen := id
	for n := 0; c.used[chosen] || !goodName.MatchString(chosen); n++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", n, id))
		chosen = "call_" + hex.EncodeToString(sum[:12])
	}
	c.last[id] = chosen
	c.used[chosen] = true
	return chosen
}

// of returns the id of the call that a result answers.
func (c *callIDs) of(id string) string {
	if chosen, ok := c.last[id]; ok {
		return chosen
	}
	return id
}

// noTools is what a request without tools has.
func noTools() *toolset {
	return &toolset{names: map[string]*dialect.Tool{}}
}

// responsesTools returns the tools of a request to the Responses API.
func (m *responsesModel) responsesTools(ctx context.Context, set *toolpost.Set) (*toolset, error) {
	if set == nil {
		return noTools(), nil
	}
	return m.tools.get(set, func() (*toolset, error) {
		o, err := Tools(ctx, set, m.toolOptions())
		if err != nil {
			return nil, err
		}
		return newToolset(o, m.deferTools(o)...)
	})
}
