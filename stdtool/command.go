package stdtool

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolpost/toolpost"
)

// A command is one run of bash, with its output.
type command struct {
	id       string        // empty unless in the background
	session  string        // that started it
	limit    time.Duration // of its run; 0 for none
	began    time.Time
	process  *process
	record   Recorder
	recorded chan struct{} // closed when the output is complete
	timedOut atomic.Bool

	mu      sync.Mutex
	unread  *headTail // what nobody asked for yet; nil unless in the background
	cut     bool      // a part of the output was never shown
	waiters []*waiter
}

// Write takes output.
func (c *command) Write(p []byte) (int, error) {
	c.mu.Lock()
	if c.unread != nil {
		c.unread.write(p)
	}
	for _, w := range c.waiters {
		w.feed(p)
	}
	c.mu.Unlock()
	return c.record.Write(p)
}

// follow ends a command that runs for too long, and returns when it is gone.
func (c *command) follow() {
	if c.limit > 0 {
		timer := time.AfterFunc(c.limit, func() {
			c.timedOut.Store(true)
			c.process.end()
		})
		defer timer.Stop()
	}
	<-c.process.gone
	_ = c.record.Close() // its text reports what it could not keep
	close(c.recorded)
}

// ending describes how the command ended; it is empty if all went well.
func (c *command) ending() string {
	var notes []string
	switch {
	case c.timedOut.Load():
		notes = append(notes, fmt.Sprintf("timed out after %d ms: the command and every process that it started were ended; "+
			"give a longer timeout_ms, or start it in the background", c.limit.Milliseconds()))
	default:
		if s := c.process.status(); s != "" {
			notes = append(notes, s)
		}
		if c.process.left && c.id == "" {
			notes = append(notes, "processes that the command left running were ended; to keep one running, start it with background true")
		}
	}
	if len(notes) == 0 {
		return ""
	}
	return "[" + strings.Join(notes, "; ") + "]\n"
}

// report returns what a command in the background wrote since the last report,
// and whether it still runs.
func (c *command) report(ctx context.Context) *toolpost.Result {
	gone := c.process.isGone() // asked first: all output is there then
	c.mu.Lock()
	unread := c.unread
	c.unread = &headTail{}
	if !gone { // the end of a character may follow
		c.unread.write(unread.dropUnfinished())
	}
	text, left := unread.text()
	c.cut = c.cut || left > 0
	cut := c.cut
	c.mu.Unlock()
	if !gone {
		return commandResult(text, fmt.Sprintf("[still running after %v]\n", time.Since(c.began).Round(time.Millisecond)), "")
	}
	state, ref := cmp.Or(c.ending(), "[exit code 0]\n"), ""
	if cut {
		_, ref = c.record.Text(ctx)
	}
	if ref != "" {
		state += fmt.Sprintf("[the whole output is kept: read it with tool_output_cache, ref_id %q]\n", ref)
	}
	return commandResult(text, state, ref)
}

// wait returns when the command has ended, when its output matches pattern,
// which may be nil, or after patience.
func (c *command) wait(ctx context.Context, pattern *regexp.Regexp, patience time.Duration) error {
	w := &waiter{found: make(chan struct{})}
	var tick <-chan time.Time // never without a pattern
	if pattern != nil {
		w.match = pattern.Match
		c.mu.Lock()
		text, _ := c.unread.text()
		w.feed([]byte(text))
		c.waiters = append(c.waiters, w)
		c.mu.Unlock()
		defer c.forget(w)
		ticker := time.NewTicker(lookEvery)
		defer ticker.Stop()
		tick = ticker.C
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		select {
		case <-tick:
			c.mu.Lock()
			w.look()
			c.mu.Unlock()
			continue
		case <-c.process.gone:
		case <-w.found:
		case <-timer.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		return nil
	}
}

func (c *command) forget(w *waiter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiters = slices.DeleteFunc(c.waiters, func(o *waiter) bool { return o == w })
}

// A waiter waits for a line that matches. A line may match before it ends.
type waiter struct {
	match  func(line []byte) bool
	line   []byte        // the end of the output: at most maxWatched bytes of the last line, and what was not looked at
	unseen int           // bytes of line that were not looked at
	found  chan struct{} // closed when a line has matched
	done   bool
}

const (
	maxWatched = 4 << 10               // how much of a line that has not ended is looked at
	lookEvery  = 20 * time.Millisecond // for output that is less than what feed looks at
)

// feed takes more output. It looks at it when a line ends, or when enough has come:
// a command that writes single bytes must not have its whole line searched for each.
func (w *waiter) feed(p []byte) {
	if w.done {
		return
	}
	w.line = append(w.line, p...)
	w.unseen += len(p)
	if w.unseen >= maxWatched/4 || bytes.IndexByte(p, '\n') >= 0 {
		w.look()
	}
}

// look searches what has come.
func (w *waiter) look() {
	if w.done || w.unseen == 0 {
		return
	}
	if w.unseen = 0; w.match(w.line) {
		w.done, w.line = true, nil
		close(w.found)
		return
	}
	w.line = bytes.Clone(w.line[max(bytes.LastIndexByte(w.line, '\n')+1, len(w.line)-maxWatched):])
}

// commandResult returns the output of a command, followed by its state.
func commandResult(text, state, ref string) *toolpost.Result {
	switch {
	case text == "" && state == "":
		text = "[no output]"
	case text != "" && state != "" && !strings.HasSuffix(text, "\n"):
		text += "\n"
	}
	r := toolpost.TextResult(text + state)
	if ref != "" {
		r = r.WithOutputRef(ref)
	}
	return r
}
