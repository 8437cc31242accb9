package claude

import (
	"context"
	"encoding/json"

	"github.com/toolpost/toolpost/internal/wire"
)

// A manifest is what a server answers to initialize and tools/list. The CLI
// takes it in place of asking.
type manifest struct {
	Initialize json.RawMessage `json:"initializeResult"`
	List       page            `json:"toolsListResult"`
}

// hello is how the CLI begins a session with a server of this process.
const hello = `{"protocolVersion":"` + wire.LastSession + `","capabilities":{},"clientInfo":{"name":"claude-code","version":"0"}}`

// readManifest begins a session as the CLI would.
func readManifest(ctx context.Context, l *link) (*manifest, error) {
	m := &manifest{List: page{Tools: []json.RawMessage{}}}
	var err error
	if m.Initialize, err = l.call(ctx, "initialize", []byte(hello)); err != nil {
		return nil, err
	}
	l.tell(wire.AppendRequest(nil, nil, "notifications/initialized", nil))
	for params := json.RawMessage("{}"); ; {
		result, err := l.call(ctx, listTools, params)
		if err != nil {
			return nil, err
		}
		p := readPage(result)
		m.List.Tools, m.List.names = append(m.List.Tools, p.Tools...), append(m.List.names, p.names...)
		if p.next == "" {
			return m, nil
		}
		params = wire.Append(nil, `"cursor":`+string(wire.Quote(p.next)))
	}
}

const listTools = "tools/list"

// A page is one of a list of tools.
type page struct {
	Tools []json.RawMessage `json:"tools"`
	names []string
	next  string // its cursor, "" for none
}

func readPage(result json.RawMessage) (p page) {
	for tool := range wire.Elements(wire.Get(result, "tools")) {
		p.Tools, p.names = append(p.Tools, tool), append(p.names, wire.Unquote(wire.Get(tool, "name")))
	}
	p.next = wire.Unquote(wire.Get(result, "nextCursor"))
	return p
}
