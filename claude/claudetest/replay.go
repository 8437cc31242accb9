package claudetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolpost/toolpost/claude"
	"github.com/toolpost/toolpost/claude/internal/stdio"
)

// Replay returns an Options.Start that plays the CLI of a recording. Where the
// program wrote something, the replay waits until it is written again: a prompt or
// a control request with all that the recording has of it, or an answer, whatever
// it is. So handlers, hooks and permissions are called as they were. If the program
// does something else, the test fails and the run ends with an error.
func Replay(t testing.TB, fsys fs.FS, name string) func(context.Context, *claude.Command) (claude.Transport, error) {
	return func(context.Context, *claude.Command) (claude.Transport, error) {
		entries, err := stdio.Read(fsys, name)
		p := &player{t: t, rest: entries, lines: make(chan []byte)}
		p.running, p.end = context.WithCancel(context.Background())
		t.Cleanup(p.end) // a session that was not closed
		return p, err
	}
}

// A player plays the CLI's side of a recording.
type player struct {
	t       testing.TB
	rest    []stdio.Entry // not played yet
	ids     []string      // pairs, quoted: an id in the recording, and in this run
	lines   chan []byte   // of the program
	running context.Context
	end     context.CancelFunc
}

func (p *player) Close() error {
	p.end()
	return nil
}

func (p *player) WriteLine(text []byte) error {
	select {
	case p.lines <- slices.Clone(text):
		return nil
	case <-p.running.Done():
		return io.ErrClosedPipe
	}
}

func (p *player) ReadLine() ([]byte, error) {
	const patience = 30 * time.Second
	late := time.After(patience)
	for len(p.rest) == 0 || p.rest[0].Dir == "stdin" {
		select {
		case text := <-p.lines:
			if answer, err := p.take(text); answer != nil || err != nil {
				return answer, err
			}
		case <-p.running.Done():
			return nil, io.EOF
		case <-late:
			if len(p.rest) > 0 {
				return nil, p.fail("the program did not write within %v: %.500s", patience, p.rest[0].Line)
			}
		}
	}
	next := p.rest[0]
	if p.rest = p.rest[1:]; next.Dir == "exit" {
		code, err := strconv.Atoi(string(next.Line))
		return nil, errors.Join(&claude.ExitError{Code: code}, err)
	}
	return p.translate(next.Line), nil
}

// take finds the recorded line in the place of one of the program. An interrupt, as when
// a run is left, and a message of a server are answered without one.
func (p *player) take(text []byte) (answer []byte, err error) {
	is := parse(text)
	i := slices.IndexFunc(p.rest, func(e stdio.Entry) bool { return e.Dir == "stdin" && parse(e.Line).kind() == is.kind() })
	switch subtype := is.Request["subtype"]; {
	case i >= 0:
		recorded := p.rest[i].Line
		p.rest = slices.Delete(p.rest, i, i+1)
		return nil, p.compare(recorded, is)
	case subtype == "interrupt", subtype == "mcp_message":
		return fmt.Appendf(nil, `{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":{}}}`, is.RequestID), nil
	case is.Type == "user", is.Type == "control_request":
		return nil, p.fail("it does not have what the program wrote: %.500s", text)
	}
	return nil, nil
}

// compare reports an error if a line lacks what the recorded one had.
func (p *player) compare(recorded []byte, is *line) error {
	was := parse(recorded)
	for _, id := range [][2]string{{was.UUID, is.UUID}, {was.RequestID, is.RequestID}} {
		if id[0] != "" {
			p.ids = append(p.ids, strconv.Quote(id[0]), strconv.Quote(id[1]))
		}
	}
	was = parse(p.translate(recorded))
	for _, parts := range [][2]map[string]any{{was.Request, is.Request}, {was.Message, is.Message}} {
		for name, want := range parts[0] {
			if got := parts[1][name]; !reflect.DeepEqual(got, want) {
				return p.fail("the %s of %s is %.500v, not %.500v", name, is.kind(), got, want)
			}
		}
	}
	return nil
}

// translate returns a recorded line with the ids of this run.
func (p *player) translate(text []byte) []byte {
	return []byte(strings.NewReplacer(p.ids...).Replace(string(text)))
}

func (p *player) fail(format string, args ...any) error {
	err := fmt.Errorf("replay the recording: "+format, args...)
	p.t.Error(err)
	return err
}

// A line is what a program and the CLI write to each other, as far as it matters here.
type line struct {
	Type      string         `json:"type"`
	UUID      string         `json:"uuid"`
	RequestID string         `json:"request_id"`
	Request   map[string]any `json:"request"`
	Response  struct {
		RequestID string `json:"request_id"`
	} `json:"response"`
	Message map[string]any `json:"message"`
}

func parse(text []byte) *line {
	l := &line{}
	_ = json.Unmarshal(text, l) // what is malformed has no place in a recording
	return l
}

// kind returns what a line has in common with the recorded one in its place.
func (l *line) kind() string { return fmt.Sprint(l.Type, l.Request["subtype"], l.Response.RequestID) }
