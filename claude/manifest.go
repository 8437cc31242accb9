package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// A manifest is what a server answers to initialize and tools/list. The CLI
// takes it in place of asking.
type manifest struct {
	Initialize json.RawMessage `json:"initializeResult"`
	List       struct {
		Tools []json.RawMessage `json:"tools"`
	} `json:"toolsListResult"`
}

// protocolVersion is the one that the CLI speaks to servers in this process.
const protocolVersion = "2025-11-25"

// readManifest begins a session as the CLI would.
func readManifest(ctx context.Context, l *link) (*manifest, error) {
	m := &manifest{}
	m.List.Tools = []json.RawMessage{}
	var err error
	if m.Initialize, err = l.call(ctx, 0, "initialize", map[string]any{
		"protocolVersion": protocolVersion, "capabilities": map[string]any{},
		"clientInfo": map[string]string{"name": "claude-code", "version": "0"},
	}); err != nil {
		return nil, err
	}
	l.tell(json.RawMessage(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
	params := map[string]any{}
	for id := 1; ; id++ {
		result, err := l.call(ctx, id, listTools, params)
		if err != nil {
			return nil, err
		}
		page, err := readPage(result)
		if err != nil {
			return nil, err
		}
		m.List.Tools = append(m.List.Tools, page.Tools...)
		if page.Next == "" {
			return m, nil
		}
		params["cursor"] = page.Next
	}
}

const listTools = "tools/list"

// A page is one of a list of tools.
type page struct {
	Tools []json.RawMessage `json:"tools"`
	Next  string            `json:"nextCursor"`
}

func readPage(result json.RawMessage) (*page, error) {
	p := &page{}
	if err := json.Unmarshal(result, p); err != nil {
		return nil, fmt.Errorf("read the list of tools: %w", err)
	}
	return p, nil
}

func toolNames(definitions []json.RawMessage) ([]string, error) {
	names := make([]string, len(definitions))
	for i, d := range definitions {
		var t struct {
			Name string `json:"name"`
		}
		if err := json.Unmarshal(d, &t); err != nil {
			return nil, fmt.Errorf("read the list of tools: %w", err)
		}
		names[i] = t.Name
	}
	return names, nil
}

// call asks the server and waits for the result.
func (l *link) call(ctx context.Context, id int, method string, params any) (json.RawMessage, error) {
	message, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	wait, err := l.ask(float64(id), message)
	if err != nil {
		return nil, err
	}
	answer, err := wait(ctx)
	if err != nil {
		return nil, err
	}
	return resultOf(answer)
}

// resultOf returns the result that an answer carries, or its error.
func resultOf(answer json.RawMessage) (json.RawMessage, error) {
	var a struct {
		Result json.RawMessage `json:"result"`
		Error  *struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return nil, err
	}
	if a.Error != nil {
		return nil, errors.New(a.Error.Message)
	}
	return a.Result, nil
}
