package claude_test

import (
	"bytes"
	"os"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/toolpost/toolpost/claude"
	"github.com/toolpost/toolpost/claude/message"
)

const hugeText = 63 << 20 // with the rest of its line just below the limit

// huge plays an answer as long as a line may be.
func huge(f *fake) {
	f.begin()
	f.prompt()
	f.write(initLine(nil))
	text := bytes.Repeat([]byte("0123456789abcdef"), hugeText/16)
	for _, part := range [][]byte{
		[]byte(`{"type":"assistant","session_id":"s","uuid":"u","parent_tool_use_id":null,"message":{"id":"m","type":"message","role":"assistant","model":"fake","content":[{"type":"text","text":"`),
		text,
		[]byte(`"}],"stop_reason":null,"usage":{"input_tokens":1,"output_tokens":1}}}` + "\n"),
	} {
		_, _ = os.Stdout.Write(part) // the host sees what is missing
	}
	f.write(result("done", nil), state("idle"))
}

// TestHugeLine holds a line of 64 MB against the memory that it takes: itself,
// and its text.
func TestHugeLine(t *testing.T) {
	if testing.Short() || raced {
		t.Skip("takes seconds and 200 MB, under the race detector more")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // so that all that is allocated counts
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var text int
	for m, err := range claude.Run(t.Context(), "go", options(t, "huge")) {
		if err != nil {
			t.Fatal(err)
		}
		if a, ok := m.(*message.Assistant); ok {
			text += len(a.Text())
		}
	}
	runtime.ReadMemStats(&after)
	if text != hugeText {
		t.Errorf("the text has %d bytes, want %d", text, hugeText)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 4*hugeText {
		t.Errorf("%d MB were allocated for a line of %d MB, at most %d are meant", used>>20, hugeText>>20, 4*hugeText>>20)
	} else {
		t.Logf("%.1f times the line", float64(used)/hugeText)
	}
}
