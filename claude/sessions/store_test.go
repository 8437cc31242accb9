package sessions_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	newids "github.com/toolpost/toolpost/claude/internal/ids"
	"github.com/toolpost/toolpost/claude/sessions"
)

// load returns the lines of a transcript.
func load(t *testing.T, store sessions.Store, key sessions.Key) (all []string) {
	t.Helper()
	for line, err := range store.Load(t.Context(), key) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(line))
	}
	return all
}

func raw(lines ...string) (all []json.RawMessage) {
	for _, line := range lines {
		all = append(all, json.RawMessage(line))
	}
	return all
}

// keys are the places of the transcripts that a store lists.
func keys(t *testing.T, store sessions.Store, of sessions.Key) (all []string) {
	t.Helper()
	found, err := store.List(t.Context(), of)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		if f.Modified.IsZero() || f.Size == 0 {
			t.Errorf("the store knows only %+v", f)
		}
		all = append(all, strings.TrimSuffix(f.Project+" "+f.SessionID[:1]+" "+f.Agent, " "))
	}
	return all
}

// TestStores has what every Store must do.
func TestStores(t *testing.T) {
	one := sessions.Key{Project: "-a", SessionID: "10000000-0000-4000-8000-000000000000"}
	two := sessions.Key{Project: "-b", SessionID: "20000000-0000-4000-8000-000000000000"}
	agent, worker := one, one
	agent.Agent, worker.Agent = "subagents/agent-x", "subagents/workflows/w1/agent-y"
	described := `{"type":"agent_metadata","agentType":"adder","toolUseId":"t"}`
	for name, store := range map[string]sessions.Store{"memory": &sessions.Memory{}, "disk": &sessions.Disk{ConfigDir: t.TempDir()}} {
		t.Run(name, func(t *testing.T) {
			if got := keys(t, store, sessions.Key{}); got != nil {
				t.Errorf("an empty store lists %q", got)
			}
			if got := load(t, store, one); got != nil {
				t.Errorf("an empty store has %q", got)
			}
			if err := store.Delete(t.Context(), one); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the end of nothing: %v", err)
			}
			for key, lines := range map[sessions.Key][]json.RawMessage{one: raw(`{"n":1}`, `{"n":2}`), two: raw(`{"n":3}`), agent: raw(described, `{"n":4}`), worker: raw(`{"n":5}`)} {
				if err := store.Append(t.Context(), key, lines); err != nil {
					t.Fatal(err)
				}
			}
			if err := store.Append(t.Context(), one, raw(`{"n":6}`)); err != nil {
				t.Fatal(err)
			}
			if got, want := load(t, store, one), []string{`{"n":1}`, `{"n":2}`, `{"n":6}`}; !slices.Equal(got, want) {
				t.Errorf("the session has %q, want %q", got, want)
			}
			if got := load(t, store, agent); len(got) != 2 || !strings.Contains(got[0], `"agentType":"adder"`) || got[1] != `{"n":4}` {
				t.Errorf("the sub-agent has %q", got)
			}
			for of, want := range map[sessions.Key][]string{
				{}:              {"-a 1", "-b 2"},
				{Project: "-a"}: {"-a 1"},
				{Project: "-c"}: nil,
				one:             {"-a 1 subagents/agent-x", "-a 1 subagents/workflows/w1/agent-y"},
				two:             nil,
			} {
				if got := keys(t, store, of); !slices.Equal(got, want) {
					t.Errorf("of %+v the store lists %q, want %q", of, got, want)
				}
			}
			if err := store.Delete(t.Context(), agent); err != nil || len(keys(t, store, one)) != 1 {
				t.Errorf("a sub-agent is not deleted: %v", err)
			}
			if err := store.Delete(t.Context(), one); err != nil || !slices.Equal(keys(t, store, sessions.Key{}), []string{"-b 2"}) || load(t, store, worker) != nil {
				t.Errorf("a session is not deleted: %v", err)
			}
		})
	}
}

// TestCopyTo takes a session to a store and back, and only what is missing there.
func TestCopyTo(t *testing.T) {
	d, store, empty := disk(t), &sessions.Memory{}, &sessions.Disk{ConfigDir: t.TempDir()}
	s := get(t, d, recorded)
	for range 2 {
		if err := s.CopyTo(t.Context(), store); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := load(t, store, s.Key), load(t, d, s.Key); !slices.Equal(got, want) {
		t.Errorf("the copy has %d lines, want %d", len(got), len(want))
	}
	copied := get(t, store, recorded)
	if copied.Title != s.Title || copied.Dir != s.Dir || !copied.Created.Equal(s.Created) {
		t.Errorf("the copy is %+v, want %+v", copied, s)
	}
	sorted := &sorting{}
	if err := errors.Join(s.CopyTo(t.Context(), sorted), s.CopyTo(t.Context(), sorted)); err != nil {
		t.Fatal(err)
	}
	if got, want := len(load(t, sorted, s.Key)), len(load(t, d, s.Key)); got != want {
		t.Errorf("a store that sorts members has %d lines, want %d", got, want)
	}
	if err := errors.Join(copied.Rename(t.Context(), "Renamed"), copied.CopyTo(t.Context(), d), copied.CopyTo(t.Context(), empty)); err != nil {
		t.Fatal(err)
	}
	for _, there := range []sessions.Store{d, empty} {
		s := get(t, there, recorded)
		if got := texts(t, s.Messages(t.Context())); got != conversation || s.Title != "Renamed" {
			t.Errorf("%q is\n%s", s.Title, got)
		}
		agents, err := s.Subagents(t.Context())
		if err != nil || len(agents) != 1 || agents[0].Type != "adder" {
			t.Errorf("the sub-agents are %+v (%v)", agents, err)
		}
	}
	if err := copied.SetArchived(t.Context(), true); err == nil {
		t.Error("a session in memory is archived")
	}
	f, err := copied.Fork(t.Context(), nil)
	if err != nil || texts(t, f.Messages(t.Context())) != conversation {
		t.Errorf("the fork in memory is %+v (%v)", f, err)
	}
}

// A sorting store returns the members of lines in another order, as some databases do.
type sorting struct{ sessions.Memory }

func (s *sorting) Append(ctx context.Context, key sessions.Key, lines []json.RawMessage) error {
	for i, line := range lines {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(line, &members); err != nil {
			return err
		}
		lines[i], _ = json.Marshal(members)
	}
	return s.Memory.Append(ctx, key, lines)
}

// A full store takes a few times lines.
type full struct {
	sessions.Memory
	takes int
}

var errFull = errors.New("the store is full")

func (f *full) Append(ctx context.Context, key sessions.Key, lines []json.RawMessage) error {
	if f.takes--; f.takes < 0 {
		return errFull
	}
	return f.Memory.Append(ctx, key, lines)
}

// TestForkFails leaves nothing of a copy that does not fit.
func TestForkFails(t *testing.T) {
	store := &full{takes: 2}
	key := sessions.Key{Project: "-a", SessionID: recorded}
	var many []json.RawMessage
	for range 3 {
		many = append(many, json.RawMessage(`{"type":"user","uuid":"`+newids.NewUUID()+`","message":{"content":"`+strings.Repeat("x", 1<<20)+`"}}`))
	}
	if err := store.Append(t.Context(), key, many); err != nil {
		t.Fatal(err)
	}
	if _, err := get(t, store, recorded).Fork(t.Context(), nil); !errors.Is(err, errFull) {
		t.Errorf("the fork ends with %v", err)
	}
	if got := keys(t, store, sessions.Key{}); len(got) != 1 {
		t.Errorf("the store has %q", got)
	}
}

// TestDiskKey has paths of the CLI on several systems, and others.
func TestDiskKey(t *testing.T) {
	for file, want := range map[string]sessions.Key{
		"/var/x/.claude/projects/-tmp-p/" + recorded + ".jsonl":                      {Project: "-tmp-p", SessionID: recorded},
		`C:\Users\x\.claude\projects\C--p\` + recorded + `\subagents\agent-1.jsonl`:  {Project: "C--p", SessionID: recorded, Agent: "subagents/agent-1"},
		"/x/projects/-p/" + recorded + "/subagents/workflows/w/agent-a@team.b.jsonl": {Project: "-p", SessionID: recorded, Agent: "subagents/workflows/w/agent-a@team.b"},
		"/x/projects/-p/" + recorded + "/subagents/../agent-1.jsonl":                 {},
		"/x/projects/-p/" + recorded + "/tool-results/x.jsonl":                       {},
		"/x/projects/-p/memory.jsonl":                                                {},
		"":                                                                           {},
	} {
		if got, err := new(sessions.Disk).Key(file); got != want || (err == nil) != (want != sessions.Key{}) {
			t.Errorf("%s has the key %+v (%v), want %+v", file, got, err, want)
		}
	}
}
