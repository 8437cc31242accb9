package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"

	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/internal/wire"
)

// A silentServer gets messages and answers nothing.
type silentServer struct{ *peer }

func (silentServer) call(context.Context, *exchange, []byte) error { return nil }
func (silentServer) send(context.Context, string, []byte) error    { return nil }
func (silentServer) useVersion(string)                             {}
func (silentServer) close()                                        {}

// An error without an id ends a call only if nothing else that was sent can be meant.
func TestErrorWithoutID(t *testing.T) {
	type step struct {
		call    bool   // a call begins
		own     bool   // it is one of ours, and not of a client
		leave   bool   // its caller leaves
		notify  bool   // a notification is sent
		receive string // what the server sends
	}
	call, leave, notify := step{call: true}, step{leave: true}, step{notify: true}
	ping := step{call: true, own: true}
	invalid := step{receive: `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"invalid request"}}`}
	broken := step{receive: `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"cannot parse"}}`}
	unknown := step{receive: `{"jsonrpc":"2.0","error":{"code":-32601,"message":"no such method"}}`}
	answer := func(id string) step { return step{receive: `{"jsonrpc":"2.0","id":` + id + `,"result":{}}`} }
	for name, tt := range map[string]struct {
		steps []step
		fails bool // the call that began last
	}{
		"the first request":                   {[]step{call, broken}, true},
		"the first request, unknown":          {[]step{call, unknown}, true},
		"after an answer":                     {[]step{call, answer("1"), call, broken}, true},
		"before the call":                     {[]step{notify, broken, call}, false},
		"a notification before":               {[]step{notify, call, broken}, false},
		"a notification beside":               {[]step{call, notify, broken}, false},
		"a notification that is dealt with":   {[]step{notify, call, answer("1"), call, broken}, true},
		"an unknown notification":             {[]step{notify, call, answer("1"), call, unknown}, false},
		"the server does that":                {[]step{notify, broken, call, answer("1"), call, broken}, false},
		"the server does that, after another": {[]step{notify, call, broken, answer("1"), call, broken}, false},
		"an invalid request":                  {[]step{call, answer("1"), call, invalid}, true},
		"an invalid notification":             {[]step{notify, call, answer("1"), call, invalid}, false},
		"a request of ours that was left":     {[]step{ping, leave, call, answer("2"), call, broken}, false},
		"two calls":                           {[]step{call, call, broken}, false},
		"one that was left":                   {[]step{call, leave, call, broken}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPeer(slog.New(slog.DiscardHandler), func(*wire.Message) {}, nil)
				defer p.fail(errClosed)
				p.conn = silentServer{p}
				var last chan error
				var left context.CancelFunc
				for _, s := range tt.steps {
					switch {
					case s.call:
						ended := make(chan error, 1)
						ctx, cancel := context.WithCancel(t.Context())
						defer cancel()
						last, left = ended, cancel
						r := &request{method: "tools/call", params: json.RawMessage("{}"), limit: &deadline{}, owner: &hidden.Owner{Session: "s"}}
						if s.own {
							r.owner = nil
						}
						go func() {
							_, err := p.exchange(ctx, &exchange{request: r})
							ended <- err
						}()
					case s.leave:
						left()
					case s.notify:
						p.notify(delivery{method: "notifications/x"})
					default:
						for _, m := range wire.Read([]byte(s.receive)) {
							p.receive(&m, nil)
						}
					}
					synctest.Wait()
				}
				var err error
				ended := len(last) > 0
				if ended {
					err = <-last
				}
				if rpc := (*wire.Error)(nil); ended != tt.fails || ended && !errors.As(err, &rpc) {
					t.Errorf("the call has ended: %v, %v", ended, err)
				}
			})
		})
	}
}
