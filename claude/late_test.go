package claude

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolpost/toolpost"
)

// TestToolAfterResult: a tool that works is not silence.
func TestToolAfterResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const idle, work = time.Minute, 10 * time.Minute
		wait := toolpost.New("wait", "Waits.", func(ctx context.Context, _ struct{}) (string, error) {
			select {
			case <-time.After(work):
				return "rested", nil
			case <-ctx.Done():
				return "", context.Cause(ctx)
			}
		}, nil)
		p := &tape{ended: make(chan struct{}), lines: [][]byte{
			[]byte(`{"type":"system","subtype":"session_state_changed","state":"running","session_id":"s","uuid":"t"}`),
			[]byte(`{"type":"result","subtype":"success","is_error":false,"result":"begun","session_id":"s","uuid":"u"}`),
			[]byte(`{"type":"control_request","request_id":"r","request":{"subtype":"mcp_message","server_name":"tools","message":` +
				`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait","arguments":{}}}}}`),
		}}
		start := time.Now()
		s := onTape(t, p, &Options{
			Toolset: toolpost.Tools{wait}, AllowDropped: true, IdleTimeout: idle, Logger: slog.New(slog.DiscardHandler),
		}, true)
		if _, err := s.Send(t.Context(), "go"); err != nil {
			t.Fatal(err)
		}
		var last error
		for _, err := range s.Messages(t.Context()) {
			last = err
		}
		if took := time.Since(start); !errors.Is(last, ErrUnfinished) || took < work+idle {
			t.Errorf("it ends with %v after %v, want %v after %v", last, took, ErrUnfinished, work+idle)
		}
		if !bytes.Contains(bytes.Join(p.wrote, nil), []byte("rested")) {
			t.Errorf("the tool was not answered: %s", p.wrote)
		}
	})
}
