package claude_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/claude"
	"github.com/toolpost/toolpost/claude/message"
	"github.com/toolpost/toolpost/claude/sessions"
)

// mirrored plays a CLI that writes a session with a sub-agent, and mirrors it.
func mirrored(f *fake) {
	if !slices.Contains(os.Args, "--session-mirror") {
		complain("the arguments are %q", os.Args)
	}
	f.begin()
	uuid := f.prompt()
	file := "/home-of-the-cli/projects/-project/" + session
	f.write(state("running"), initLine(nil),
		object{"type": "transcript_mirror", "filePath": file + ".jsonl", "entries": []any{object{"type": "user", "uuid": uuid, "message": object{"content": "go"}}}},
		object{"type": "transcript_mirror", "filePath": file + "/subagents/agent-1.jsonl", "entries": []any{object{"type": "agent_metadata", "agentType": "adder"}}},
		object{"type": "transcript_mirror", "filePath": "/elsewhere.jsonl", "entries": []any{}},
		assistant("done"), result("done", object{"user_message_uuids": []any{uuid}}),
		object{"type": "transcript_mirror", "filePath": file + ".jsonl", "entries": []any{object{"type": "last-prompt", "lastPrompt": "go"}}},
		state("idle"))
}

// TestSessionStore has what a result needs in the store when it is read, and the rest
// at the end.
func TestSessionStore(t *testing.T) {
	store := &sessions.Memory{}
	o := options(t, "mirrored")
	o.SessionStore = store
	key := sessions.Key{Project: "-project", SessionID: session}
	var lost []message.Message
	for m, err := range claude.Run(t.Context(), "go", o) {
		if err != nil {
			t.Fatal(err)
		}
		switch m := m.(type) {
		case *message.System:
			if m.Type == "transcript_mirror" {
				t.Errorf("the reader gets %s", m.Raw)
			}
			lost = append(lost, m)
		case *message.Result:
			for line, err := range store.Load(t.Context(), key) {
				if err != nil || !strings.Contains(string(line), `"go"`) {
					t.Errorf("the store has %s (%v)", line, err)
				}
			}
			if agents, err := store.List(t.Context(), key); err != nil || len(agents) != 1 {
				t.Errorf("the store has the sub-agents %v (%v)", agents, err)
			}
		}
	}
	if len(lost) != 1 || lost[0].Head().Subtype != "mirror_error" || !strings.Contains(string(lost[0].Head().Raw), "elsewhere") {
		t.Errorf("the reader hears of %v", lost)
	}
	n := 0
	for range store.Load(t.Context(), key) {
		n++
	}
	if n != 2 {
		t.Errorf("at the end the store has %d lines, want 2", n)
	}
}

// continued plays a CLI that continues a session: its answer is the transcript that
// it finds.
func continued(f *fake) {
	var id string
	for _, arg := range os.Args {
		if value, ok := strings.CutPrefix(arg, "--resume="); ok {
			id = value
		}
	}
	f.begin()
	uuid := f.prompt()
	text := "nothing of " + id
	if files, _ := filepath.Glob(filepath.Join(os.Getenv("CLAUDE_CONFIG_DIR"), "projects", "*", id+".jsonl")); len(files) == 1 && id != "" {
		found, err := os.ReadFile(files[0])
		if err != nil {
			complain("%v", err)
		}
		text = string(found)
	}
	f.write(state("running"), initLine(nil), assistant(text), result(text, object{"user_message_uuids": []any{uuid}}), state("idle"))
}

// TestRestore continues sessions of a store, which the CLI finds where it looks.
func TestRestore(t *testing.T) {
	const line = `{"type":"user","uuid":"u","message":{"content":"hello"}}`
	dir, refused := t.TempDir(), errors.New("refused")
	project, err := sessions.Project(dir)
	if err != nil {
		t.Fatal(err)
	}
	store := &sessions.Memory{}
	if err := store.Append(t.Context(), sessions.Key{Project: project, SessionID: session}, []json.RawMessage{json.RawMessage(line)}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		store  sessions.Store
		resume string
		want   string
		err    error
	}{
		"resume":   {store, session, line + "\n", nil},
		"continue": {store, "", line + "\n", nil},
		"unknown":  {store, "00000000-0000-4000-8000-000000000000", "nothing of 00000000-0000-4000-8000-000000000000", nil},
		"empty":    {&sessions.Memory{}, "", "nothing of ", nil},
		"refused":  {refusing{err: refused}, session, "", refused},
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t, "continued")
			o.Dir, o.SessionStore, o.Resume, o.Continue = dir, c.store, c.resume, c.resume == ""
			o.Env = append(o.Env, "CLAUDE_CONFIG_DIR="+t.TempDir())
			response, err := claude.Collect(claude.Run(t.Context(), "go", o))
			if !errors.Is(err, c.err) || err == nil && response.Result != c.want {
				t.Errorf("the response is %+v (%v), want %q (%v)", response, err, c.want, c.err)
			}
			if o.Resume != c.resume {
				t.Error("the caller's options are changed")
			}
		})
	}
}

// A refusing store has an error in place of a list.
type refusing struct {
	sessions.Store
	err error
}

func (r refusing) List(context.Context, sessions.Key) ([]sessions.Transcript, error) {
	return nil, r.err
}

// TestSessionStoreOptions refuses what would store nothing, or everything twice.
func TestSessionStoreOptions(t *testing.T) {
	dir := t.TempDir()
	for name, change := range map[string]func(o *claude.Options){
		"not persistent": func(o *claude.Options) { o.SessionStore, o.NoPersistence = &sessions.Memory{}, true },
		"the CLI's own":  func(o *claude.Options) { o.SessionStore = &sessions.Disk{} },
		"its folder": func(o *claude.Options) {
			o.SessionStore = &sessions.Disk{ConfigDir: dir + "/"}
			o.Env = append(o.Env, "CLAUDE_CONFIG_DIR="+dir)
		},
		"its home": func(o *claude.Options) {
			o.SessionStore = &sessions.Disk{ConfigDir: dir + "/.claude"}
			o.Env = append(o.Env, "CLAUDE_CONFIG_DIR", "HOME="+dir)
		},
	} {
		o := options(t, "echo")
		change(o)
		if _, err := claude.Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), "SessionStore") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRestoreGap continues the CLI's own files if they lack a line in the middle, which
// the CLI has removed: the store does not bring it back, nor stop the session.
func TestRestoreGap(t *testing.T) {
	line := func(uuid string) string {
		return `{"type":"user","uuid":"` + uuid + `","message":{"content":"hello"}}`
	}
	dir, config, store := t.TempDir(), t.TempDir(), &sessions.Memory{}
	project, err := sessions.Project(dir)
	if err != nil {
		t.Fatal(err)
	}
	key := sessions.Key{Project: project, SessionID: session}
	for to, uuids := range map[sessions.Store][]string{store: {"a", "b", "c"}, &sessions.Disk{ConfigDir: config}: {"a", "c"}} {
		for _, uuid := range uuids {
			if err := to.Append(t.Context(), key, []json.RawMessage{json.RawMessage(line(uuid))}); err != nil {
				t.Fatal(err)
			}
		}
	}
	o := options(t, "continued")
	o.Dir, o.SessionStore, o.Resume = dir, store, session
	o.Env = append(o.Env, "CLAUDE_CONFIG_DIR="+config)
	response, err := claude.Collect(claude.Run(t.Context(), "go", o))
	if want := line("a") + "\n" + line("c") + "\n"; err != nil || response.Result != want {
		t.Errorf("the response is %+v (%v), want %q", response, err, want)
	}
}
