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

// shellRun is what the CLI writes when the model leaves a shell running.
func shellRun(more ...string) [][]byte {
	all := append([]string{
		`{"type":"system","subtype":"session_state_changed","state":"running","session_id":"s","uuid":"t"}`,
		`{"type":"system","subtype":"background_tasks_changed","tasks":[{"task_id":"b1","task_type":"local_bash","description":"waits"}],"session_id":"s","uuid":"u"}`,
		`{"type":"result","subtype":"success","is_error":false,"result":"begun","session_id":"s","uuid":"v"}`,
		`{"type":"system","subtype":"session_state_changed","state":"idle","session_id":"s","uuid":"w"}`,
	}, more...)
	var lines [][]byte
	for _, line := range all {
		lines = append(lines, []byte(line))
	}
	return lines
}

// TestShellAfterResult: a run waits for a shell that the model left running, and
// does not interrupt the CLI, which would kill the shell.
func TestShellAfterResult(t *testing.T) {
	const noTasks = `{"type":"system","subtype":"background_tasks_changed","tasks":[],"session_id":"s","uuid":"x"}`
	for _, test := range []struct {
		name      string
		lines     [][]byte
		wait      time.Duration
		want      error
		interrupt bool
	}{
		{"that does not end", shellRun(), time.Minute, ErrUnfinished, true},
		{"whose end causes no turn", shellRun(noTasks), 2 * time.Second, nil, false},
		{"whose end causes a turn that lasts", shellRun(noTasks,
			`{"type":"system","subtype":"session_state_changed","state":"running","session_id":"s","uuid":"y"}`), time.Minute, ErrUnfinished, true},
		{"whose end causes a turn", shellRun(noTasks,
			`{"type":"system","subtype":"session_state_changed","state":"running","session_id":"s","uuid":"y"}`,
			`{"type":"result","subtype":"success","is_error":false,"result":"done","session_id":"s","uuid":"z","origin":{"kind":"task-notification"}}`,
			`{"type":"system","subtype":"session_state_changed","state":"idle","session_id":"s","uuid":"w"}`), 0, nil, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &tape{ended: make(chan struct{}), lines: test.lines}
				start := time.Now()
				s := onTape(t, p, &Options{IdleTimeout: time.Minute, Grace: 2 * time.Second, Logger: slog.New(slog.DiscardHandler)}, true)
				var last error
				for _, err := range s.Messages(t.Context()) {
					last = err
				}
				if took := time.Since(start); !errors.Is(last, test.want) || took < test.wait || took > test.wait+10*time.Second {
					t.Errorf("it ends with %v after %v, want %v after %v", last, took, test.want, test.wait)
				}
				if interrupted := bytes.Contains(bytes.Join(p.wrote, nil), []byte(`"interrupt"`)); interrupted != test.interrupt {
					t.Errorf("interrupted: %v, want %v", interrupted, test.interrupt)
				}
			})
		})
	}
}
