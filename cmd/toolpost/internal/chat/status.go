package chat

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/usage"
)

// waiting is what is going on before the model answers.
const waiting = "waiting for the model"

// A status is what is going on: a line that moves, and below it the last lines of
// output of a call. It stands at the bottom of the terminal, and only there.
type status struct {
	shown bool
	doing string
	since time.Time // when it began
	live  terminal.Live
	frame int
	timer *time.Timer

	tokens  int // that the model has written in this turn, as its provider counted them
	written int // bytes that it has written since

	tails map[string]*tail // the output of calls, by their ids
}

// begin starts a turn.
func (s *status) begin() { s.tokens, s.written = 0, 0 }

// count counts what the model writes.
func (s *status) count(d *model.Delta) {
	s.written += len(d.Text)
	if d.Restart != nil {
		s.written = 0
	}
}

// response replaces the estimate of a response by what its provider counted.
func (s *status) response(t *usage.Tokens) {
	s.tokens, s.written = s.tokens+t.Output, 0
}

const (
	frames     = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
	frameEvery = 100 * time.Millisecond

	bytesPerToken = 4 // of text and JSON, about
	maxTail       = 5 // lines of output
	minHeight     = 3 // of a terminal that shows the status
)

// lines returns the status. Running are the ids of the calls that run.
func (s *status) lines(width, height int, running []string) []string {
	took := time.Since(s.since).Truncate(time.Second)
	end := ""
	if took >= time.Second {
		end = fmt.Sprintf(" · %v", took)
	}
	if n := s.tokens + s.written/bytesPerToken; n > 0 {
		end += fmt.Sprintf(" · %s tokens out", terminal.Thousands(n))
	}
	text := terminal.Cut(cleartext.Printable(s.doing), max(width-3-terminal.Width(end), 10)) + end
	frame := []rune(frames)[s.frame%len([]rune(frames))]
	lines := []string{paint(dim, terminal.Cut(string(frame)+" "+text, width-1))}
	for _, id := range running {
		if t := s.tails[id]; t != nil {
			for _, line := range t.lines(min(maxTail, height-2)) {
				lines = append(lines, paint(dim, terminal.Cut("  "+line, width-1)))
			}
			break
		}
	}
	return lines
}

// setStatus shows what is going on, until something else is shown.
func (v *view) setStatus(text string) {
	if v.notes.width == 0 || v.open || text == "" {
		return
	}
	s := &v.status
	if !s.shown || s.doing != text {
		s.doing, s.since = text, time.Now()
	}
	s.shown = true
	v.drawStatus()
	if s.timer == nil {
		s.timer = time.AfterFunc(frameEvery, v.moveStatus)
	} else {
		s.timer.Reset(frameEvery)
	}
}

func (v *view) drawStatus() {
	width, height := v.size()
	if height < minHeight {
		return // the terminal is too low to change lines in place
	}
	lines := v.status.lines(max(width, minWidth), height, v.calls.running())
	_, _ = io.WriteString(v.notes.w, v.status.live.Draw(lines, width, height))
}

// moveStatus draws the next frame of the status.
func (v *view) moveStatus() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.status.shown {
		return
	}
	v.status.frame++
	v.drawStatus()
	v.status.timer.Reset(frameEvery)
}

func (v *view) clearStatus() {
	if v.status.shown {
		v.status.shown = false
		_, _ = io.WriteString(v.notes.w, v.status.live.Erase(v.size()))
	}
}

// pause ends the status, and with it all that the view does by itself.
func (v *view) pause() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.measure()
	v.clearStatus()
}

// resume shows the calls that run, if there are any.
func (v *view) resume() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.calls.open) > 0 {
		v.setStatus(v.calls.describeRunning())
	}
}

// watch returns what takes the output of a call, whose last lines are shown while it runs.
func (v *view) watch(id string) io.Writer {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.status.tails == nil {
		v.status.tails = map[string]*tail{}
	}
	t := v.status.tails[id]
	if t == nil {
		t = &tail{}
		v.status.tails[id] = t
	}
	return t
}

// A tail keeps the end of what is written.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// maxTailBytes is how much of it is kept.
const maxTailBytes = 4 << 10

// Write implements [io.Writer].
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p[max(0, len(p)-maxTailBytes):]...)
	if extra := len(t.text) - maxTailBytes; extra > 0 {
		t.text = bytes.Clone(t.text[extra:])
	}
	return len(p), nil
}

// lines returns the last n lines. Of a line that was written again and again, such as a
// progress bar, it has the last state.
func (t *tail) lines(n int) []string {
	t.mu.Lock()
	text := strings.ToValidUTF8(string(t.text), "")
	t.mu.Unlock()
	if text = strings.TrimRight(text, "\r\n"); text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	lines = lines[max(0, len(lines)-n):]
	for i, line := range lines {
		line = strings.TrimRight(line, "\r")
		lines[i] = cleartext.Printable(line[strings.LastIndexByte(line, '\r')+1:])
	}
	return lines
}
