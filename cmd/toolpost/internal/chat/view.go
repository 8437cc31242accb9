package chat

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/toolpost/toolpost/agent"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/model"
)

// minWidth is how narrow a terminal is believed to be.
const minWidth = 20

// A stream is one of the two writers of a view.
type stream struct {
	w     io.Writer
	width int  // of the terminal; 0 if it is none, or shall have plain text
	safe  bool // control characters are replaced: w is a terminal
}

func newStream(w io.Writer) stream {
	s := stream{w: w, safe: terminal.Is(w)}
	if width, _ := terminal.Size(w); width > 0 && os.Getenv("NO_COLOR") == "" {
		s.w, s.width = terminal.Unsafe(w), max(width, minWidth)
	}
	return s
}

// paint gives text a style if the stream has styles.
func (s *stream) paint(style, text string) string {
	if s.width == 0 {
		return text
	}
	return paint(style, text)
}

// fit breaks lines at words, so that a terminal breaks none elsewhere.
func (s *stream) fit(text string) string {
	if s.width == 0 {
		return text
	}
	var all []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSuffix(line, "\n"); terminal.Width(line) <= s.width {
			all = append(all, line)
			continue
		}
		all = append(all, terminal.Wrap(line, s.width)...)
	}
	return strings.Join(all, "\n")
}

// block is fit for lines that are indented.
func (s *stream) block(text string) string {
	inner := *s
	if inner.width > 0 {
		inner.width -= 2
	}
	return "  " + strings.ReplaceAll(inner.fit(text), "\n", "\n  ")
}

// A view shows a conversation to a person: the model's text on one writer, and
// what happens beside it on another. On a terminal both are the same. All
// foreign text is sanitized before it is written.
type view struct {
	mu     sync.Mutex
	answer stream
	notes  stream

	markdown *markdown // of the current text; nil if the answer is plain
	open     bool      // the last line of the answer has no end
	beside   bool      // the last line was written beside the answer
	status   status
	streamed bool // a text of the current response has been shown
	part     int  // of the response, that was shown last
	calls    *callList
	began    time.Time // when the turn began

	size    func() (width, height int) // of the terminal; 0 if there is none
	window  func() int                 // how many tokens the model reads at most; 0 if unknown
	context int                        // tokens of the conversation after the last response
}

func newView(out, err io.Writer) *view {
	v := &view{
		began: time.Now(), answer: newStream(out), notes: newStream(err), part: -1, calls: newCallList(),
		size: func() (int, int) { return terminal.Size(err) }, window: func() int { return 0 },
	}
	if v.answer.width > 0 {
		v.markdown = newMarkdown(v.answer.width)
	}
	return v
}

// begin starts a turn.
func (v *view) begin() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.began = time.Now()
	v.measure()
	v.status.begin()
	v.setStatus(waiting)
}

// isSeen reports whether the notes are shown to somebody.
func (v *view) isSeen() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.notes.width > 0
}

// measure adopts the width of the terminal, which the user may have changed.
func (v *view) measure() {
	width, _ := v.size()
	for _, s := range []*stream{&v.answer, &v.notes} {
		if now := max(width, minWidth); s.width > 0 && width > 0 && s.width != now {
			s.width = now
		}
	}
	if v.markdown != nil {
		v.markdown.wrap.width = v.answer.width
	}
}

// Event shows an event of a run.
func (v *view) Event(e *agent.Event) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.measure()
	switch e.Type {
	case agent.EventDelta:
		return v.delta(e.Delta)
	case agent.EventResponse:
		return v.response(e.Response)
	case agent.EventCall:
		v.calls.start(e.Call)
		if v.notes.width == 0 {
			v.note("→ %s", describeCall(e.Call))
		}
		v.setStatus(v.calls.describeRunning())
	case agent.EventResult:
		delete(v.status.tails, e.Call.ID)
		v.result(v.calls.end(e.Call, e.Result))
	case agent.EventNotice:
		v.note("%s", v.notes.paint(dim, v.notes.fit(cleartext.Printable(e.Text))))
	case agent.EventEnd:
		return v.end(e.End)
	}
	return nil
}

func (v *view) delta(d *model.Delta) error {
	v.status.count(d)
	switch {
	case d.Restart != nil:
		v.note("%s", v.notes.paint(yellow, v.notes.fit(cleartext.Printable(fmt.Sprintf("the request is sent again: %v", d.Restart)))))
		v.streamed, v.part = false, -1
	case d.Type == model.TypeText && d.Text != "":
		if !v.answer.safe && v.answer.width == 0 {
			return nil // a program reads the answer: it gets that of a complete response
		}
		if v.part != d.Part {
			v.closeAnswer()
		}
		v.part, v.streamed = d.Part, true
		return v.text(d.Text)
	case d.Type == model.TypeThinking:
		v.closeAnswer()
		v.setStatus("thinking")
	case d.Type == model.TypeCall && d.Name != "":
		v.closeAnswer()
		v.setStatus("the model calls " + d.Name)
	}
	return nil
}

// response ends a response, and shows its text if it did not arrive in pieces.
func (v *view) response(r *model.Response) error {
	var err error
	for i := range r.Message.Parts {
		if p := &r.Message.Parts[i]; !v.streamed && p.Type == model.TypeText && p.Text != "" && err == nil {
			v.closeAnswer()
			err = v.text(p.Text)
		}
	}
	v.closeAnswer()
	v.streamed, v.part = false, -1
	v.status.response(&r.Usage)
	v.context = r.Usage.Context()
	return err
}

// text shows a piece of what the model writes.
func (v *view) text(text string) error {
	if v.markdown != nil {
		text = v.markdown.Add(text)
	} else if v.answer.safe {
		text = cleartext.Sanitize(text)
	}
	if text == "" {
		return nil
	}
	v.clearStatus()
	if v.beside && v.answer.width > 0 {
		text = "\n" + text
	}
	v.beside = false
	v.open = !strings.HasSuffix(text, "\n")
	_, err := io.WriteString(v.answer.w, text)
	if err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return nil
}

// closeAnswer ends the text that is being shown.
func (v *view) closeAnswer() {
	end := ""
	if v.markdown != nil {
		end = v.markdown.End()
	}
	if v.open && !strings.HasSuffix(end, "\n") {
		end += "\n"
	}
	v.open = false
	if end != "" {
		v.clearStatus()
	}
	_, _ = io.WriteString(v.answer.w, end) // the next text returns the same error
}

// note writes a line beside the answer. Its foreign parts are sanitized.
func (v *view) note(format string, args ...any) {
	v.clearStatus()
	v.closeAnswer()
	v.beside = true
	_, _ = fmt.Fprintf(v.notes.w, format+"\n", args...) // there is no other place to report the error
}

// result shows a call that has ended.
func (v *view) result(c *shownCall) {
	v.note("%s", c.line(&v.notes))
	for _, line := range c.preview(&v.notes) {
		v.note("%s", line)
	}
	v.setStatus(v.calls.describeRunning())
}

// end shows how a turn ended and what it used.
func (v *view) end(r *agent.Result) error {
	var err error
	if r.Stop == agent.StopDone {
		err = v.text(r.Text)
	}
	v.closeAnswer()
	if text := stopText(r); text != "" {
		v.note("%s", v.notes.paint(yellow, v.notes.fit(cleartext.Printable(text))))
	}
	space := ""
	if v.notes.width > 0 {
		space = "\n"
	}
	v.note("%s%s", space, v.notes.paint(dim, v.notes.fit(footer(r, time.Since(v.began))+v.meter())))
	return err
}

// meter describes how much of the model's window the conversation takes, "" if that is
// unknown.
func (v *view) meter() string {
	window := v.window()
	if window <= 0 || v.context <= 0 {
		return ""
	}
	return fmt.Sprintf(" · %d%% of the context", 100*v.context/window)
}

// endTurn shows the end of a turn that has no result.
func (v *view) endTurn() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.clearStatus()
	v.closeAnswer()
	v.streamed, v.part = false, -1
	v.calls.stop()
	v.status.tails = nil
}

// fail shows an error.
func (v *view) fail(err error) {
	v.say("%s", v.notes.paint(red, v.notes.fit(cleartext.Sanitize(err.Error()))))
}

// say writes lines for a person. Their foreign parts are sanitized.
func (v *view) say(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.measure()
	v.note(format, args...)
}
