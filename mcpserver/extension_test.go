package mcpserver_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolpost/toolpost"
)

// extensions are features of a server that answers any method with its name.
func extensions() *toolpost.Features {
	return &toolpost.Features{
		Proxy: toolpost.Proxy{
			Capabilities: json.RawMessage(` {"tools":{"no":1},"tasks":{ }, "extensions":{"a/b":{"n":1.0}}}`),
			Extend: func(_ context.Context, call *toolpost.Call) (*toolpost.Result, error) {
				if call.Name == "x/panics" {
					panic("on purpose")
				}
				return toolpost.RawResult(json.RawMessage(`{"method":"` + call.Name + `", "n":1.0}`)), nil
			},
		},
	}
}

// A method of an extension waits for servers that are connecting, as a first
// list does. What nobody serves is refused in the end.
func TestEarlyExtensions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &source{ready: make(chan struct{})}
		s := newServerOf(t, nil, src)
		const list = `{"jsonrpc":"2.0","id":1,"method":"skills/list"}`
		first, second := openSession(t, s), openSession(t, s)
		if w := handle(s, t.Context(), "POST", list, first); !strings.Contains(w.Body.String(), `"code":-32601`) {
			t.Errorf("got %s", w.Body)
		}
		start := time.Now()
		if w := handle(s, t.Context(), "POST", strings.Replace(list, "skills", "Tools", 1), second); !strings.Contains(w.Body.String(), `"code":-32601`) || time.Since(start) != 0 {
			t.Errorf("got %s after %v", w.Body, time.Since(start))
		}
		go func() {
			time.Sleep(2 * time.Second)
			src.SetFeatures(extensions())
			close(src.ready)
		}()
		if w := handle(s, t.Context(), "POST", list, second); !strings.Contains(w.Body.String(), `"result":{"method":"skills/list", "n":1.0}}`) {
			t.Errorf("got %s", w.Body)
		}
		if w := handle(s, t.Context(), "POST", strings.Replace(list, "skills/list", "x/panics", 1), second); !strings.Contains(w.Body.String(), "internal error") {
			t.Errorf("got %s", w.Body)
		}
		w := handle(s, t.Context(), "POST", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`, "")
		if want := `"tools":{"listChanged":true},"tasks":{ }, "extensions":{"a/b":{"n":1.0}}}`; !strings.Contains(w.Body.String(), want) {
			t.Errorf("got %s, want %s in it", w.Body, want)
		}
	})
}
