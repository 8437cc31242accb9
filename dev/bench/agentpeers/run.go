package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A report is what the tasks showed about a library.
type report struct {
	library *library

	code   map[string]code // by task
	atOnce bool            // parallel calls ran at the same time
	shown  *shown
	used   int    // tokens, as the server counted them
	schema string // where the API received the schema of the answer
	before *crash
	after  *crash
}

// ended is how a process of the third task ended.
type ended struct{ Text, Err string }

// A crash is what was there after a process was killed and started again.
type crash struct {
	lines    []string
	requests int // to the model, by both processes
	ended    ended
}

// twice returns the lines that were written more than once.
func (c *crash) twice() []string {
	return slices.DeleteFunc([]string{"1", "2", "3", "4"}, func(line string) bool { return c.times(line) < 2 })
}

// lost returns the lines that were never written.
func (c *crash) lost() []string {
	return slices.DeleteFunc([]string{"1", "2", "3", "4"}, func(line string) bool { return c.times(line) > 0 })
}

func (c *crash) times(line string) int {
	return len(c.lines) - len(slices.DeleteFunc(slices.Clone(c.lines), func(l string) bool { return l == line }))
}

// patience is how long a task may take.
const patience = time.Minute

func run(ctx context.Context, l *library) (*report, error) {
	ctx, cancel := context.WithTimeout(ctx, 4*patience)
	defer cancel()
	r := &report{library: l}
	return r, errors.Join(r.parallel(ctx), r.structured(ctx), r.crashes(ctx))
}

func (r *report) parallel(ctx context.Context) error {
	a, w := newAPI(), newWorld()
	defer a.Close()
	var err error
	if r.shown, err = r.library.parallel(ctx, a.url(), w); err != nil {
		return fmt.Errorf("parallel calls: %w", err)
	}
	if r.shown.Text != parallelAnswer {
		return fmt.Errorf("parallel calls: the answer is %q", r.shown.Text)
	}
	requests, _ := a.seen()
	r.atOnce, r.used = w.atOnce == 2, requests*(promptTokens+answerTokens)
	return nil
}

func (r *report) structured(ctx context.Context) error {
	a := newAPI()
	defer a.Close()
	answer, err := r.library.structured(ctx, a.url(), newWorld())
	if err != nil {
		return fmt.Errorf("structured answer: %w", err)
	}
	if answer != structuredAnswer {
		return fmt.Errorf("structured answer: it is %s", answer)
	}
	_, r.schema = a.seen()
	return nil
}

func (r *report) crashes(ctx context.Context) error {
	var err error
	if r.before, err = r.crash(ctx, beforeWrite); err == nil {
		r.after, err = r.crash(ctx, afterWrite)
	}
	return err
}

// crash starts a process that is killed, and another one that goes on.
func (r *report) crash(ctx context.Context, moment string) (*crash, error) {
	dir, err := os.MkdirTemp("", "agentpeers-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	a := newAPI()
	defer a.Close()
	err = r.start(ctx, a.url(), dir, moment)
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.Exited() { // not by a signal
		return nil, fmt.Errorf("the process was not killed: %v", err)
	}
	if err := r.start(ctx, a.url(), dir, never); err != nil {
		return nil, fmt.Errorf("the process that goes on: %w", err)
	}
	c := new(crash)
	c.requests, _ = a.seen()
	data, err := os.ReadFile(filepath.Join(dir, "answer.json"))
	if err == nil {
		err = json.Unmarshal(data, &c.ended)
	}
	if err != nil {
		return nil, err
	}
	c.lines, err = (&file{path: filepath.Join(dir, "file")}).readLines()
	return c, err
}

func (r *report) start(ctx context.Context, url, dir, moment string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, self, "crash", r.library.name, url, dir, moment).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}
