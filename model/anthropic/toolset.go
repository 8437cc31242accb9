package anthropic

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model/internal/provider"
)

// A toolset is a set of tools in the provider's form.
type toolset struct {
	*provider.Toolset
	tools  []json.RawMessage
	stable int // the index of the last tool that is in the prompt; the others are found by a search
}

// toolset returns the tools of a request.
func (m *messagesModel) toolset(set *toolpost.Set) (*toolset, error) {
	if set == nil {
		return &toolset{}, nil
	}
	return m.toolsets.Get(set, func() (*toolset, error) { return m.newToolset(set) })
}

func (m *messagesModel) newToolset(set *toolpost.Set) (*toolset, error) {
	adapted, err := Tools(context.Background(), set, m.opts.Tools)
	if err != nil {
		return nil, err
	}
	ts := &toolset{Toolset: provider.NewToolset(adapted)}
	tools := adapted.Tools
	if m.opts.SearchAbove > 0 && len(tools) > m.opts.SearchAbove {
		for _, t := range tools {
			t.OfTool.DeferLoading = param.NewOpt(true)
		}
		tools = append([]sdk.ToolUnionParam{{OfToolSearchToolBm25_20251119: &sdk.ToolSearchToolBm25_20251119Param{
			Type: sdk.ToolSearchToolBm25_20251119TypeToolSearchToolBm25_20251119}}}, tools...)
	} else {
		ts.stable = max(0, len(tools)-1)
	}
	for i, t := range tools {
		raw, err := json.Marshal(t)
		if err != nil {
			return nil, fmt.Errorf("encode tool %d: %w", i, err)
		}
		ts.tools = append(ts.tools, raw)
	}
	if m.opts.Tools != nil && m.opts.Tools.Dialect != nil {
		return ts, nil // another server's rules
	}
	return ts, checkTools(ts.list(nil))
}

// list returns the tools as JSON. The last one that is always in the prompt has
// the mark of the cache.
func (ts *toolset) list(mark json.RawMessage) json.RawMessage {
	tools := slices.Clone(ts.tools)
	if len(tools) > 0 {
		tools[ts.stable] = withMark(tools[ts.stable], mark)
	}
	return provider.Array(tools)
}

// withMark returns an object with the mark of the cache, if there is one.
func withMark(object, mark json.RawMessage) json.RawMessage {
	marked := provider.Extend(object)
	marked.Add("cache_control", mark)
	return marked.JSON()
}

// The longest names of tools and ids of calls, in bytes.
const (
	maxName = 128
	maxID   = 256
)

// idPrefix begins the ids of calls.
const idPrefix = "toolu_"
