//go:build unix

package stdtool

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/toolpost/toolpost"
)

// A stuckRecorder is a Recorder whose Close waits until it is released.
type stuckRecorder struct {
	memory
	release chan struct{}
}

func (r *stuckRecorder) Close() error { <-r.release; return nil }

// bashTools returns the tools of s by name.
func bashTools(t *testing.T, s *Shell) *toolpost.Set {
	t.Helper()
	set, err := toolpost.NewSet(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// callText returns the text of a call, or the error.
func callText(ctx context.Context, set *toolpost.Set, tool, arguments string) string {
	r, err := set.Call(ctx, &toolpost.Call{Name: tool, Arguments: []byte(arguments)})
	if err != nil {
		return err.Error()
	}
	text, _ := r.FirstText()
	return text
}

// TestRecordMayUseTheShell checks that ShellOptions.Record runs without the
// lock of the Shell: it is not our code, so it may be slow and may call the Shell.
func TestRecordMayUseTheShell(t *testing.T) {
	var (
		set    *toolpost.Set
		inside string
	)
	s := NewShell(t.TempDir(), &ShellOptions{Record: func(ctx context.Context) Recorder {
		inside = callText(ctx, set, "bash_output", `{"id":"bash-none"}`)
		return &memory{}
	}})
	set = bashTools(t, s)
	done := make(chan string, 1)
	go func() { done <- callText(t.Context(), set, "bash", `{"command":"echo out"}`) }()
	select {
	case text := <-done:
		if text != "out\n" || !strings.Contains(inside, "bash-none") {
			t.Errorf("bash returned %q; inside Record bash_output returned %q", text, inside)
		}
	case <-time.After(time.Minute):
		t.Fatal("Record runs under the lock of the Shell: its call of bash_output never returns")
	}
	_ = s.Close()
}

// TestCloseWithStuckRecorder checks that Close does not wait forever for a
// Recorder that cannot write what it has.
func TestCloseWithStuckRecorder(t *testing.T) {
	r := &stuckRecorder{release: make(chan struct{})}
	s := NewShell(t.TempDir(), &ShellOptions{Grace: 10 * time.Millisecond, Record: func(context.Context) Recorder { return r }})
	s.recording = 20 * time.Millisecond
	set := bashTools(t, s)
	if text := callText(t.Context(), set, "bash", `{"command":"sleep 1000","background":true}`); !strings.Contains(text, "bash-") {
		t.Fatal(text)
	}
	var c *command
	for c = range s.running {
	}
	done := make(chan error, 1)
	go func() { done <- s.Close() }()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("Close waits for a Recorder that does not return")
	}
	close(r.release)
	<-c.recorded
}
