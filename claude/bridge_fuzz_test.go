package claude

import (
	"context"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/toolpost/toolpost"
)

// Whatever the CLI sends is answered or refused, and the session goes on.
func FuzzReceive(f *testing.F) {
	for _, message := range []string{
		helloLine, readyLine, listLine, callLine(2, "add", `{"A":1,"B":1}`), callLine(2, "add", `{"A":"\ud83d"}`), callLine(9, "no", `null`),
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`, `{"jsonrpc":"2.0","id":null,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":"x","result":{}}`, `{"jsonrpc":"2.0","id":{},"method":"tools/list"}`, `[]`, `{}`, `{"id":1e400,"method":"ping"}`,
	} {
		f.Add([]byte(`{"server_name":"tools","message":` + message + `}`))
	}
	f.Add([]byte(`{"server_name":"other"}`))
	ts, err := openTools(f.Context(), f.Context(), &Options{Toolset: toolpost.Tools{addTool()}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		f.Fatal(err)
	}
	ts.send = func(string, json.RawMessage) {}
	f.Cleanup(ts.close)
	f.Fuzz(func(t *testing.T, request []byte) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		answer, err := ts.receive(ctx, request)()
		if ctx.Err() != nil {
			t.Fatalf("%s is not answered", request)
		}
		if _, is := answer.(bridgedAnswer); !is && err == nil {
			t.Fatalf("%s is answered by %v", request, answer)
		}
		again := `{"server_name":"tools","message":` + helloLine + `}`
		if _, err := ts.receive(ctx, json.RawMessage(again))(); err != nil {
			t.Fatalf("after %s: %v", request, err)
		}
	})
}
