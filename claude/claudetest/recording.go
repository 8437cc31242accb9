// Package claudetest tests code that runs Claude without the CLI and its costs: it
// replays what a program and the CLI once wrote to each other.
//
//	opts.Start = claudetest.Record(t, "testdata/sum.jsonl")              // once, with the CLI
//	opts.Start = claudetest.Replay(t, os.DirFS("testdata"), "sum.jsonl") // from then on
package claudetest

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/toolpost/toolpost/claude"
	"github.com/toolpost/toolpost/claude/internal/stdio"
	"github.com/toolpost/toolpost/internal/secret"
)

// Recordings has recordings of the CLI 2.1.329, in the directory recordings:
// text.jsonl and partial.jsonl (an answer, and one with Options.PartialMessages),
// tool.jsonl (a call of the tool add of a server calc), turns.jsonl (the same, and
// Options.MaxTurns is reached), and of failures of the API retry.jsonl (429 and 529,
// then an answer), overloaded.jsonl (529 to the end), unauthorized.jsonl (401).
// They take any prompt without @ and without a slash at its start: before such a
// prompt the program waits for an answer that they have after it. Options with other
// tools need AllowDropped.
//
//go:embed recordings
var Recordings embed.FS

// Record returns an Options.Start that runs the CLI, and writes a recording of the
// run into a file if the test passes. Of the options in the first request nothing
// is recorded. What is named like a secret or looks like one, the account, and the
// names of the home and the working directory are replaced. Read the file before
// you publish it.
func Record(t testing.TB, file string) func(context.Context, *claude.Command) (claude.Transport, error) {
	return func(ctx context.Context, how *claude.Command) (claude.Transport, error) {
		process, err := how.Start(ctx)
		if err != nil {
			return nil, err
		}
		here, _ := os.Getwd() // empty if there is none
		home, _ := os.UserHomeDir()
		hide := strings.NewReplacer(cmp.Or(strings.TrimSuffix(how.Dir, "/"), here, "\x00"), "/project", cmp.Or(home, "\x00"), "/home")
		r := &recorder{Transport: process, hide: hide}
		t.Cleanup(func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			if t.Failed() {
				return
			}
			if err := os.WriteFile(file, r.entries.Bytes(), 0o600); err != nil {
				t.Errorf("save the recording: %v", err)
			}
		})
		return r, nil
	}
}

// A recorder notes the lines that pass a transport.
type recorder struct {
	claude.Transport
	hide    *strings.Replacer
	mu      sync.Mutex
	entries bytes.Buffer
}

func (r *recorder) ReadLine() ([]byte, error) {
	text, err := r.Transport.ReadLine()
	exit := (*claude.ExitError)(nil)
	switch {
	case err == nil:
		r.note("stdout", text)
	case errors.As(err, &exit):
		r.note("exit", strconv.AppendInt(nil, int64(exit.Code), 10))
	}
	return text, err
}

func (r *recorder) WriteLine(text []byte) error {
	switch l := parse(text); {
	case l.Request["subtype"] == "initialize":
		r.note("stdin", fmt.Appendf(nil, `{"type":%q,"request_id":%q,"request":{"subtype":"initialize"}}`, l.Type, l.RequestID))
	case l.Type != "control_cancel_request": // for that the CLI does not wait
		r.note("stdin", text)
	}
	return r.Transport.WriteLine(text)
}

func (r *recorder) note(dir string, text []byte) {
	clear, _ := secret.RedactJSON(text, nil)
	entry, err := json.Marshal(stdio.Entry{Dir: dir, Line: []byte(r.hide.Replace(string(clear)))})
	if err != nil { // it is not JSON, which the program will report
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.entries.Write(append(entry, '\n'))
}
