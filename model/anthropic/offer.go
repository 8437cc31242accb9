package anthropic

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"weak"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/lazyregexp"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/offer"
)

// A toolset is a set of tools in the provider's form.
type toolset struct {
	*offer.Offer[sdk.ToolUnionParam]
	tools  []json.RawMessage
	stable int               // the index of the last tool that is in the prompt; the others are found by a search
	names  map[string]string // from the tools' own names to the adapted ones
	own    map[string]string // the other direction
	losses []model.Loss
}

// An offerCache keeps the offers of sets that are in use.
type offerCache struct {
	mu    sync.Mutex
	bySet map[weak.Pointer[toolpost.Set]]*toolset
}

// get returns the offer of set, made by create if it is not known.
func (c *offerCache) get(set *toolpost.Set, create func() (*toolset, error)) (*toolset, error) {
	key := weak.Make(set)
	c.mu.Lock()
	found := c.bySet[key]
	c.mu.Unlock()
	if found != nil {
		return found, nil
	}
	created, err := create()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bySet == nil {
		c.bySet = map[weak.Pointer[toolpost.Set]]*toolset{}
	}
	c.bySet[key] = created
	runtime.AddCleanup(set, c.remove, key)
	return created, nil
}

// remove forgets the offer of a set that no longer exists.
func (c *offerCache) remove(key weak.Pointer[toolpost.Set]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.bySet, key)
}

// offer returns the tools of a request, nil if it has none.
func (m *messagesModel) offer(set *toolpost.Set) (*toolset, error) {
	if set == nil {
		return nil, nil
	}
	return m.offers.get(set, func() (*toolset, error) { return m.newOffer(set) })
}

func (m *messagesModel) newOffer(set *toolpost.Set) (*toolset, error) {
	adapted, err := Tools(context.Background(), set, m.opts.Tools)
	if err != nil {
		return nil, err
	}
	o := &toolset{Offer: adapted, names: map[string]string{}, own: map[string]string{}}
	tools := adapted.Tools
	if m.opts.SearchAbove > 0 && len(tools) > m.opts.SearchAbove {
		for _, t := range tools {
			t.OfTool.DeferLoading = param.NewOpt(true)
		}
		tools = append([]sdk.ToolUnionParam{{OfToolSearchToolBm25_20251119: &sdk.ToolSearchToolBm25_20251119Param{
			Type: sdk.ToolSearchToolBm25_20251119TypeToolSearchToolBm25_20251119}}}, tools...)
	} else {
		o.stable = max(0, len(tools)-1)
	}
	for i, t := range tools {
		raw, err := json.Marshal(t)
		if err != nil {
			return nil, fmt.Errorf("encode tool %d: %w", i, err)
		}
		o.tools = append(o.tools, raw)
	}
	for _, t := range adapted.Adapted.Tools {
		o.names[t.Original.Name], o.own[t.Name] = t.Name, t.Original.Name
	}
	for _, w := range adapted.Adapted.Withheld {
		o.losses = append(o.losses, model.Loss{Message: -1, Part: -1, Text: fmt.Sprintf("tool %q is withheld: %s", w.Name, w.Why)})
	}
	if m.opts.Tools != nil && m.opts.Tools.Dialect != nil {
		return o, nil // another server's rules
	}
	return o, checkTools(o.list(""))
}

// list returns the tools as JSON. The last one that is always in the prompt has
// the mark of the cache.
func (o *toolset) list(mark string) json.RawMessage {
	tools := slices.Clone(o.tools)
	if len(tools) > 0 {
		tools[o.stable] = withMember(tools[o.stable], mark)
	}
	return array(tools)
}

// withMember appends a member to an object that has others.
func withMember(object json.RawMessage, member string) json.RawMessage {
	if member == "" {
		return object
	}
	return append(append(object[:len(object)-1:len(object)-1], ","+member...), '}')
}

const maxName = 128 // of a tool

// notInName matches the characters that names of tools cannot contain.
var notInName = lazyregexp.New(`[^a-zA-Z0-9_-]`)

// wireName returns the name by which the model knows a tool. It also works for
// tools that the request does not have.
func (o *toolset) wireName(name string) string {
	if o != nil && o.names[name] != "" {
		return o.names[name]
	}
	name = notInName.ReplaceAllString(name, "_")
	return name[:min(len(name), maxName)]
}

// ownName returns the tool's own name.
func (o *toolset) ownName(name string) string {
	if o != nil && o.own[name] != "" {
		return o.own[name]
	}
	return name
}
