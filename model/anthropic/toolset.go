package anthropic

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
	"github.com/toolpost/toolpost/schema/dialect"
)

// strictDialect is the dialect of schemas that the provider enforces.
const strictDialect = "anthropic-strict"

// A tool is a tool in the provider's form.
type tool struct {
	InputSchema  json.RawMessage `json:"input_schema"`
	Name         string          `json:"name"`
	DeferLoading bool            `json:"defer_loading,omitempty"` // the model finds it by a search
	Description  string          `json:"description,omitempty"`
	Strict       bool            `json:"strict,omitempty"`
}

// searchTool is the provider's search for tools.
const searchTool = `{"type":"tool_search_tool_bm25_20251119","name":"tool_search_tool_bm25"}`

func addTool(o *model.Offer[*tool], t *dialect.Tool) error {
	o.Tools = append(o.Tools, &tool{InputSchema: t.InputSchema(), Name: t.Name, Description: t.Description, Strict: t.Strict})
	return nil
}

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
	offered, err := model.NewOffer(context.Background(), set, strictDialect, &model.OfferOptions{Dialect: m.opts.Dialect}, addTool)
	if err != nil {
		return nil, err
	}
	ts := &toolset{Toolset: provider.NewToolset(offered)}
	tools := offered.Tools
	if m.opts.SearchAbove > 0 && len(tools) > m.opts.SearchAbove {
		for _, t := range tools {
			t.DeferLoading = true
		}
		ts.tools = append(ts.tools, json.RawMessage(searchTool))
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
	if m.opts.Dialect != nil {
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
