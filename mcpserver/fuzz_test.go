package mcpserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/mcpserver"
)

// Whatever lines come over stdio, each line of the output is one message or
// batch, no id is answered more often than it was sent, and the session ends
// with its input.
func FuzzServeStdio(f *testing.F) {
	modern, _ := modernCall("echo", `{"a":1}`, "")
	for _, seed := range []string{
		initialize + "\n" + ping,
		strings.Replace(initialize, "2025-11-25", "2025-03-26", 1) + "\n[" + ping + `,{"jsonrpc":"2.0","id":2,"method":"tools/list"}]`,
		initialize + "\n" + `{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"echo"}}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}`,
		modern + "\n" + strings.Replace(modern, "tools/call", "server/discover", 1),
		strings.Replace(modern, `"name":"echo"`, `"notifications":{"toolsListChanged":true,"resourceSubscriptions":["x://1"]}`, 1),
		canElicit + "\n" + askCall + "\n" + `{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}`,
		initialize + "\n" + `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"x://1"}}` + "\n" + `{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"debug"}}`,
		"\x00\n[]\n{}\n[[]]\n\"\n" + ping,
	} {
		f.Add([]byte(seed))
	}
	watched := &toolpost.Features{Subscribe: func(context.Context, string, bool) error { return nil }}
	f.Fuzz(func(t *testing.T, in []byte) {
		s, err := mcpserver.New(t.Context(), toolpost.Join(toolpost.Tools{echoTool(), asker(nil)}, watched), nil)
		if err != nil {
			t.Fatal(err)
		}
		out := &syncBuffer{}
		ctx, cancel := context.WithCancel(t.Context())
		feed := &feeder{in: bytes.NewReader(in), end: cancel}
		if err := s.ServeStdio(ctx, feed, out); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		for line := range strings.Lines(out.String()) {
			if line = strings.TrimSuffix(line, "\n"); !json.Valid([]byte(line)) || strings.ContainsAny(line, "\r\n") {
				t.Errorf("%q is answered by %q", in, line)
			}
		}
		if got := strings.Count(out.String(), `"jsonrpc"`); got > 3*(bytes.Count(in, []byte{'{'})+bytes.Count(in, []byte{'\n'})+bytes.Count(in, []byte{'['})+1) {
			t.Errorf("%q is answered by %d messages: %s", in, got, out)
		}
	})
}

// A feeder is an input that ends the session when it has been read, so that
// calls that wait for their client do not hold it up.
type feeder struct {
	in  *bytes.Reader
	end func()
}

func (f *feeder) Read(b []byte) (int, error) {
	n, err := f.in.Read(b)
	if err != nil {
		f.end()
	}
	return n, err
}
