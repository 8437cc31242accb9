package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
)

const hostileID = "7e7abb58-2e42-4bbf-aa1c-896318c40e4a"

var hostileKey = Key{Project: "-p", SessionID: hostileID}

func rawLines(lines ...string) (all []json.RawMessage) {
	for _, line := range lines {
		all = append(all, json.RawMessage(line))
	}
	return all
}

func userLine(id, parent string) string {
	return fmt.Sprintf(`{"type":"user","uuid":%q,"parentUuid":%q,"sessionId":%q,"message":{"content":%q}}`, id, parent, hostileID, "text "+id)
}

// stored returns a session with lines in a store.
func stored(t *testing.T, store Store, key Key, lines ...string) *Session {
	t.Helper()
	if err := store.Append(t.Context(), key, rawLines(lines...)); err != nil {
		t.Fatal(err)
	}
	s, err := Get(t.Context(), key.SessionID, &Options{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestCopyGap: a copy without lines in the middle stays as it is.
func TestCopyGap(t *testing.T) {
	var from, to Memory
	s := stored(t, &from, hostileKey, userLine("1", ""), userLine("2", "1"), userLine("3", "2"), userLine("4", "3"))
	stored(t, &to, hostileKey, userLine("1", ""), userLine("2", "1"), userLine("4", "3"))
	if err := s.CopyTo(t.Context(), &to); !errors.Is(err, ErrGap) {
		t.Errorf("the error is %v", err)
	}
	n := 0
	for range to.Load(t.Context(), hostileKey) {
		n++
	}
	if n != 3 {
		t.Errorf("the copy has %d lines", n)
	}
}

// TestCopyNotes: a title that comes back is the latest in the copy too.
func TestCopyNotes(t *testing.T) {
	var from, to Memory
	s := stored(t, &from, hostileKey, userLine("1", ""))
	for _, title := range []string{"A", "B", "A"} {
		if err := errors.Join(s.Rename(t.Context(), title), s.CopyTo(t.Context(), &to)); err != nil {
			t.Fatal(err)
		}
		copied, err := Get(t.Context(), hostileID, &Options{Store: &to})
		if err != nil || copied.Title != title {
			t.Errorf("the copy is %+v (%v), want the title %s", copied, err, title)
		}
	}
}

// A liar lists what it was not asked for.
type liar struct {
	*Memory
	other Transcript
}

func (l *liar) List(context.Context, Key) ([]Transcript, error) { return []Transcript{l.other}, nil }

// TestForeignKeys: a store that lists transcripts of other sessions does not have them
// written to, nor continued.
func TestForeignKeys(t *testing.T) {
	for _, other := range []Key{{"-victim", hostileID, ""}, {"-p", "00000000-0000-4000-8000-000000000000", "subagents/agent-a"}, {"-victim", hostileID, "subagents/agent-a"}} {
		from := &liar{Memory: &Memory{}, other: Transcript{Key: other}}
		s := &Session{Transcript: Transcript{Key: hostileKey}, store: from}
		if err := errors.Join(from.Append(t.Context(), hostileKey, rawLines(userLine("1", ""))), from.Append(t.Context(), other, rawLines(userLine("2", "")))); err != nil {
			t.Fatal(err)
		}
		to := &Memory{}
		if err := s.CopyTo(t.Context(), to); err != nil {
			t.Fatal(err)
		}
		for range to.Load(t.Context(), other) {
			t.Errorf("%+v was written to", other)
		}
		for s := range List(t.Context(), &Options{Store: from, Dir: t.TempDir()}) {
			t.Errorf("%+v is listed", s.Key)
		}
	}
	for _, key := range []Key{{"*", "*", ""}, {"-p", "[a-z0-9]*", ""}, {"..", hostileID, ""}, {"", hostileID, ""}} {
		if found, err := (&Disk{ConfigDir: t.TempDir()}).List(t.Context(), key); err == nil {
			t.Errorf("%+v lists %v", key, found)
		}
	}
}

// TestLongFirstPrompt: a session that begins with a large image is listed.
func TestLongFirstPrompt(t *testing.T) {
	d := &Disk{ConfigDir: t.TempDir()}
	stored(t, d, hostileKey,
		`{"type":"user","uuid":"1","cwd":"/x","message":{"content":[{"type":"text","text":"what is on \u001b[2J the image"},{"type":"image","source":{"data":"`+strings.Repeat("A", 4*sampled)+`"}}]}}`,
		`{"type":"assistant","uuid":"2","parentUuid":"1","message":{"id":"m","content":[]}}`)
	for s, err := range List(t.Context(), &Options{Store: d}) {
		if err != nil || s.Title != "what is on  [2J the image" || s.Dir != "/x" {
			t.Errorf("it is %+v (%v)", s, err)
		}
		return
	}
	t.Error("no session is listed")
}

// TestConcurrentRecords: descriptions of a sub-agent may be written at the same time.
func TestConcurrentRecords(t *testing.T) {
	d, key := &Disk{ConfigDir: t.TempDir()}, Key{"-p", hostileID, "subagents/agent-a"}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if err := d.Append(t.Context(), key, rawLines(`{"type":"agent_metadata","agentType":"x"}`, userLine("1", ""))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	n := 0
	for range d.Load(t.Context(), key) {
		n++
	}
	if n != 401 {
		t.Errorf("there are %d lines, want 400 and the description", n)
	}
}

// TestUnreadableLines: what could not be loaded is not written, and the rest is.
func TestUnreadableLines(t *testing.T) {
	d := &Disk{ConfigDir: t.TempDir()}
	if err := d.Append(t.Context(), hostileKey, rawLines(`7`, userLine("1", ""))); err == nil {
		t.Error("a number is taken")
	}
	for line, err := range d.Load(t.Context(), hostileKey) {
		if err != nil || string(line) != userLine("1", "") {
			t.Errorf("%s (%v)", line, err)
		}
	}
}
