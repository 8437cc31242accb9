package sessions_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolpost/toolpost/claude/message"
	"github.com/toolpost/toolpost/claude/sessions"
)

// recorded is a session that CLI 2.1.329 wrote: two prompts, two calls at once, and a
// sub-agent. Texts of the CLI itself were removed from it.
const recorded = "7e7abb58-2e42-4bbf-aa1c-896318c40e4a"

// disk is a configuration folder with the recorded session.
func disk(t *testing.T) *sessions.Disk {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata")); err != nil {
		t.Fatal(err)
	}
	return &sessions.Disk{ConfigDir: dir}
}

func get(t *testing.T, store sessions.Store, id string) *sessions.Session {
	t.Helper()
	s, err := sessions.Get(t.Context(), id, &sessions.Options{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// write makes a session of lines, and returns its id.
func write(t *testing.T, d *sessions.Disk, n int, lines ...string) string {
	t.Helper()
	id := fmt.Sprintf("00000000-0000-4000-8000-%012d", n)
	file := filepath.Join(d.ConfigDir, "projects", "-tmp-project", id+".jsonl")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	at := time.Unix(int64(n), 0)
	if err := os.Chtimes(file, at, at); err != nil {
		t.Fatal(err)
	}
	return id
}

// texts are the messages, one a line, with calls and results.
func texts(t *testing.T, all func(func(message.Message, error) bool)) string {
	t.Helper()
	var said []string
	for m, err := range all {
		if err != nil {
			t.Fatal(err)
		}
		var blocks []message.Block
		switch m := m.(type) {
		case *message.User:
			blocks = m.Content
		case *message.Assistant:
			blocks = m.Content
		}
		text := m.Head().Type
		for _, b := range blocks {
			switch b := b.(type) {
			case *message.Text:
				text += " " + b.Text
			case *message.ToolUse:
				text += " calls " + b.ID
			case *message.ToolResult:
				text += " result " + b.ToolUseID
			}
		}
		said = append(said, text)
	}
	return strings.Join(said, "\n")
}

const conversation = `user Use the tool twice
assistant calls toolu_a
assistant calls toolu_b
user result toolu_a
user result toolu_b
assistant 5 and 9
user Ask an agent
assistant calls toolu_c
user result toolu_c
assistant The agent says 5.`

func TestRecorded(t *testing.T) {
	d := disk(t)
	s := get(t, d, recorded)
	if s.Title != "Ask an agent" || s.FirstPrompt != "Use the tool twice" || s.CustomTitle != "" || s.Project != "-tmp-project" ||
		s.Dir != "/tmp/project" || s.Branch != "HEAD" || s.Archived || s.Size == 0 || s.Created.Format(time.RFC3339) != "2026-11-23T18:12:09Z" {
		t.Errorf("the session is %+v", s)
	}
	if got := texts(t, s.Messages(t.Context())); got != conversation {
		t.Errorf("the conversation is\n%s\nwant\n%s", got, conversation)
	}
	for m := range s.Messages(t.Context()) {
		if m.Head().SessionID != recorded || m.Head().UUID == "" {
			t.Errorf("the message is %+v", m.Head())
		}
		if u, ok := m.(*message.User); ok && strings.Contains(string(u.Raw), "tool_result") && u.ToolUseResult == nil {
			t.Errorf("the result lacks the CLI's form: %s", u.Raw)
		}
	}
	types := map[string]int{}
	for line, err := range s.Lines(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		var l struct{ Type string }
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatal(err)
		}
		types[l.Type]++
	}
	if types["queue-operation"] != 4 || types["cost-state"] != 1 || types["attachment"] == 0 {
		t.Errorf("the lines are %v", types)
	}
	agents, err := s.Subagents(t.Context())
	if err != nil || len(agents) != 1 {
		t.Fatalf("the sub-agents are %v (%v)", agents, err)
	}
	a := agents[0]
	if a.ID != "a03664fb196e3f8db" || a.Type != "adder" || a.Description != "adds" || a.ParentToolUseID != "toolu_c" {
		t.Errorf("the sub-agent is %+v", a)
	}
	if got, want := texts(t, a.Messages(t.Context())), "user Please add 2 and 3\nassistant It is 5."; got != want {
		t.Errorf("the sub-agent's conversation is %q, want %q", got, want)
	}
	for m := range a.Messages(t.Context()) {
		if u, ok := m.(*message.User); ok && (u.ParentToolUseID != "toolu_c" || u.AgentID != a.ID) {
			t.Errorf("the prompt is from %+v", u.Agent)
		}
	}
}

// ids lists the ids of sessions, the latest first.
func ids(t *testing.T, opts *sessions.Options) (all []string) {
	t.Helper()
	for s, err := range sessions.List(t.Context(), opts) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s.SessionID)
	}
	return all
}

const hello = `{"type":"user","uuid":"u1","timestamp":"2026-01-01T00:00:00Z","message":{"content":"hello"}}`

func TestList(t *testing.T) {
	d := &sessions.Disk{ConfigDir: t.TempDir()}
	if got := ids(t, &sessions.Options{Store: d}); got != nil {
		t.Errorf("an empty folder has %q", got)
	}
	first := write(t, d, 1, hello)
	write(t, d, 2, `{"type":"mode","mode":"normal"}`)                                                   // neither prompt nor title
	write(t, d, 3, `{"type":"user","isSidechain":true,"uuid":"u","message":{"content":"of an agent"}}`) // of a sub-agent
	write(t, d, 4)
	write(t, d, 6, `{"type":"queue-operation"}`, `{"type":"user","isSidechain":true,"uuid":"u","message":{"content":"of an agent"}}`)
	archived := filepath.Join(d.ConfigDir, "projects", "-tmp-project", "00000000-0000-4000-8000-000000000006", "archived.json")
	if err := errors.Join(os.Mkdir(filepath.Dir(archived), 0o700), os.WriteFile(archived, []byte(`{"archived":true,"at":"2026-01-01T00:00:00Z"}`), 0o600)); err != nil {
		t.Fatal(err)
	}
	fifth := write(t, d, 5, `{"type":"ai-title","aiTitle":"Greeting"}`)
	if got, want := ids(t, &sessions.Options{Store: d}), []string{fifth, first}; !slices.Equal(got, want) {
		t.Errorf("the sessions are %q, want %q", got, want)
	}
	if got := ids(t, &sessions.Options{Store: d, Dir: t.TempDir()}); got != nil {
		t.Errorf("another folder has %q", got)
	}
	for _, id := range []string{"00000000-0000-4000-8000-000000000000", "../x", ""} {
		if _, err := sessions.Get(t.Context(), id, &sessions.Options{Store: d}); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the session %q: %v", id, err)
		}
	}
}

// TestTitles has what a session is shown as.
func TestTitles(t *testing.T) {
	d := &sessions.Disk{ConfigDir: t.TempDir()}
	long := strings.Repeat("ä", 300)
	for i, c := range []struct {
		lines []string
		title string
	}{
		{[]string{hello, `{"type":"custom-title","customTitle":"A"}`, `{"type":"custom-title","customTitle":"B"}`, `{"type":"ai-title","aiTitle":"C"}`}, "B"},
		{[]string{hello, `{"type":"last-prompt","lastPrompt":"P"}`, `{"type":"ai-title","aiTitle":"C"}`}, "C"},
		{[]string{hello, `{"type":"last-prompt","lastPrompt":"P"}`}, "P"},
		{[]string{hello, `{"type":"summary","summary":"S"}`}, "S"},
		{[]string{`{"type":"user","isMeta":true,"message":{"content":"caveat"}}`, `{"type":"user","message":{"content":"<command-name>/clear</command-name>"}}`, hello}, "hello"},
		{[]string{`{"type":"user","message":{"content":"<command-name>/cost</command-name>"}}`}, "/cost"},
		{[]string{`{"type":"user","message":{"content":[{"type":"tool_result"}]}}`, `{"type":"user","message":{"content":[{"type":"image"},{"type":"text","text":"two\nlines"}]}}`}, "two lines"},
		{[]string{`{"type":"user","message":{"content":"` + long + `"}}`}, long[:400] + "…"},
		{[]string{`{"type":"user","message":7,"uuid":[],"timestamp":{}}`, hello}, "hello"},
		{[]string{hello, `{"type":"assistant","message":{"content":[{"type":"text","text":"x"}]},"customTitle":"not a title"}`}, "hello"},
	} {
		if s := get(t, d, write(t, d, i, c.lines...)); s.Title != c.title {
			t.Errorf("%q is shown as %q, want %q", c.lines, s.Title, c.title)
		}
	}
}

// TestLarge describes a transcript from its ends only.
func TestLarge(t *testing.T) {
	d := &sessions.Disk{ConfigDir: t.TempDir()}
	filler := `{"type":"assistant","message":{"content":"` + strings.Repeat("x", 60_000) + `"}}`
	id := write(t, d, 1, hello, filler, filler, `{"type":"custom-title","customTitle":"unseen"}`, filler, filler, filler, `{"type":"tag","tag":"t"}`, `{"type":"custom-ti`)
	s := get(t, d, id)
	if s.Title != "hello" || s.Tag != "t" {
		t.Errorf("the session is %+v", s)
	}
}

// TestBranch leaves out a branch that was left, and stops at rings.
func TestBranch(t *testing.T) {
	d := &sessions.Disk{ConfigDir: t.TempDir()}
	say := func(kind, id, parent, text string) string {
		return fmt.Sprintf(`{"type":%q,"uuid":%q,"parentUuid":%q,"message":{"content":%q}}`, kind, id, parent, text)
	}
	for i, c := range []struct {
		lines []string
		want  string
	}{
		{[]string{say("user", "a", "", "one"), say("assistant", "b", "a", "two"), say("user", "c", "b", "left"), say("user", "d", "b", "three"), say("system", "e", "d", "x")}, "user one\nassistant two\nuser three"},
		{[]string{say("user", "a", "b", "one"), say("assistant", "b", "a", "two")}, "user one\nassistant two"},
		{[]string{say("user", "a", "", "one"), "{broken", "", "[]", say("user", "a", "", "again"), say("assistant", "b", "a", "two")}, "user one\nassistant two"},
		{[]string{say("user", "a", "", "one"), `{"type":"assistant","uuid":"b","parentUuid":"a"}`}, "user one\nassistant"},
		{[]string{say("user", "a", "", "one"), `{"type":"attachment","uuid":"q","parentUuid":"a","attachment":{"type":"queued_command","prompt":"queued"}}`, say("assistant", "b", "q", "two")}, "user one\nuser queued\nassistant two"},
		{[]string{say("progress", "a", "", "x")}, ""},
		{[]string{say("user", "a", "", "one"), say("assistant", strings.Repeat("b", 257), "a", "two")}, "user one"},
	} {
		if got := texts(t, get(t, d, write(t, d, i, c.lines...)).Messages(t.Context())); got != c.want {
			t.Errorf("%q is\n%s\nwant\n%s", c.lines, got, c.want)
		}
	}
}

func TestRename(t *testing.T) {
	d := disk(t)
	file := filepath.Join(d.ConfigDir, "projects", "-tmp-project", recorded+".jsonl")
	if err := os.WriteFile(file, []byte(hello+"\n"+`{"type":"cut`), 0o600); err != nil {
		t.Fatal(err)
	}
	s := get(t, d, recorded)
	if err := errors.Join(s.Rename(t.Context(), " A \"title\"\n"), s.SetTag(t.Context(), "red\u200b ")); err != nil {
		t.Fatal(err)
	}
	if s = get(t, d, recorded); s.Title != `A "title"` || s.CustomTitle != s.Title || s.Tag != "red" {
		t.Errorf("the session is %+v", s)
	}
	if err := s.SetTag(t.Context(), ""); err != nil || get(t, d, recorded).Tag != "" {
		t.Errorf("the tag is not removed: %v", err)
	}
	if err := s.Rename(t.Context(), " \n"); err == nil {
		t.Error("an empty title is taken")
	}
	text, err := os.ReadFile(file)
	want := hello + "\n{\"type\":\"cut\n" + `{"type":"custom-title","customTitle":"A \"title\"","sessionId":"` + recorded + `"}` + "\n" +
		`{"type":"tag","tag":"red","sessionId":"` + recorded + `"}` + "\n" + `{"type":"tag","tag":"","sessionId":"` + recorded + `"}` + "\n"
	if err != nil || string(text) != want {
		t.Errorf("the file is\n%s\nwant\n%s", text, want)
	}
}

func TestArchive(t *testing.T) {
	d := disk(t)
	s := get(t, d, recorded)
	for _, archived := range []bool{true, false, true} {
		if err := s.SetArchived(t.Context(), archived); err != nil || get(t, d, recorded).Archived != archived {
			t.Errorf("archived is not %t: %v", archived, err)
		}
	}
	later := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	if err := d.Append(t.Context(), s.Key, []json.RawMessage{json.RawMessage(`{"type":"user","timestamp":"` + later + `","message":{"content":"again"}}`)}); err != nil {
		t.Fatal(err)
	}
	if get(t, d, recorded).Archived {
		t.Error("a session is archived after a later prompt")
	}
}

func TestDelete(t *testing.T) {
	d := disk(t)
	s := get(t, d, recorded)
	if err := s.Delete(t.Context()); err != nil {
		t.Fatal(err)
	}
	left, err := fs.Glob(os.DirFS(d.ConfigDir), "projects/-tmp-project/*")
	if err != nil || len(left) > 0 {
		t.Errorf("left are %q (%v)", left, err)
	}
	if err := s.Delete(t.Context()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the second time: %v", err)
	}
}

func TestFork(t *testing.T) {
	d := disk(t)
	s := get(t, d, recorded)
	f, err := s.Fork(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if f.SessionID == recorded || f.Title != "Ask an agent (fork)" || f.FirstPrompt != s.FirstPrompt || f.Dir != s.Dir {
		t.Errorf("the fork is %+v", f)
	}
	if got := texts(t, f.Messages(t.Context())); got != conversation {
		t.Errorf("the fork has\n%s", got)
	}
	old := map[string]bool{}
	var parts []string
	for m := range s.Messages(t.Context()) {
		old[m.Head().UUID] = true
		parts = append(parts, m.Head().UUID)
	}
	for line := range f.Lines(t.Context()) {
		var l struct {
			Type, UUID, ParentUUID, SessionID string
			ForkedFrom                        struct{ SessionID, MessageUUID string }
		}
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatal(err)
		}
		if l.SessionID != f.SessionID || old[l.UUID] || old[l.ParentUUID] || (l.Type == "user") != (l.Type == "user" && l.ForkedFrom.SessionID == recorded) {
			t.Errorf("the fork has the line %s", line)
		}
	}
	part, err := s.Fork(t.Context(), &sessions.ForkOptions{UpTo: parts[5], Title: "Part"})
	if err != nil || part.Title != "Part" {
		t.Fatalf("the fork is %+v (%v)", part, err)
	}
	if got, want := texts(t, part.Messages(t.Context())), conversation[:strings.Index(conversation, "\nuser Ask")]; got != want {
		t.Errorf("a part of the session is\n%s\nwant\n%s", got, want)
	}
	if _, err := s.Fork(t.Context(), &sessions.ForkOptions{UpTo: "unknown"}); err == nil {
		t.Error("a fork up to an unknown message")
	}
	if n := len(ids(t, &sessions.Options{Store: d})); n != 3 {
		t.Errorf("there are %d sessions, want 3", n)
	}
}

// TestForkLines copies what belongs to the session, and nothing else.
func TestForkLines(t *testing.T) {
	d := &sessions.Disk{ConfigDir: t.TempDir()}
	id := write(t, d, 1, hello,
		`{"type":"progress","uuid":"p1","parentUuid":"u1"}`, `{"type":"progress","uuid":"p2","parentUuid":"p1"}`,
		`{"type":"assistant","uuid":"u2","parentUuid":"p2","slug":"x","message":{"content":"two"}}`,
		`{"type":"assistant","uuid":"side","parentUuid":"u2","isSidechain":true,"message":{"content":"beside"}}`,
		`{"type":"system","uuid":"u3","parentUuid":"side","big":12345678901234567890}`, `{"type":"file-history-snapshot","x":1}`, `{"type":"tools-used","tools":["x"]}`, `{"type":"content-replacement","uuid":"cr","replacements":[]}`)
	f, err := get(t, d, id).Fork(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := texts(t, f.Messages(t.Context())), "user hello\nassistant two"; got != want {
		t.Errorf("the fork has %q, want %q", got, want)
	}
	var all strings.Builder
	for line := range f.Lines(t.Context()) {
		all.Write(line)
	}
	for text, want := range map[string]bool{"beside": false, "slug": false, "tools-used": true, "content-replacement": true, "snapshot": false, `"parentUuid":null`: true, "12345678901234567890": true} {
		if strings.Contains(all.String(), text) != want {
			t.Errorf("%q in the fork: %t, want %t", text, !want, want)
		}
	}
}

// TestOutside has links, files that are none, and keys that lead elsewhere: nothing
// outside of the projects is read, written or removed.
func TestOutside(t *testing.T) {
	d := disk(t)
	projects, outside := filepath.Join(d.ConfigDir, "projects"), t.TempDir()
	secret := filepath.Join(outside, recorded+".jsonl")
	if err := os.WriteFile(secret, []byte(hello), 0o600); err != nil {
		t.Fatal(err)
	}
	link := "00000000-0000-4000-8000-000000000001"
	if err := errors.Join(
		os.Symlink(outside, filepath.Join(projects, "-elsewhere")),
		os.Symlink(secret, filepath.Join(projects, "-tmp-project", link+".jsonl")),
		os.Mkdir(filepath.Join(projects, "-tmp-project", "00000000-0000-4000-8000-000000000002.jsonl"), 0o700),
		os.WriteFile(filepath.Join(projects, "-tmp-project", "notes.jsonl"), []byte(hello), 0o600),
	); err != nil {
		t.Skip(err)
	}
	if got := ids(t, &sessions.Options{Store: d}); !slices.Equal(got, []string{recorded}) {
		t.Errorf("the sessions are %q", got)
	}
	line := []json.RawMessage{json.RawMessage(hello)}
	for _, key := range []sessions.Key{
		{Project: "-elsewhere", SessionID: recorded},
		{Project: "-tmp-project", SessionID: link},
		{Project: "..", SessionID: recorded},
		{Project: "a/b", SessionID: recorded},
		{Project: "", SessionID: recorded},
		{Project: "-tmp-project", SessionID: "../x"},
		{Project: "-tmp-project", SessionID: recorded, Agent: "subagents/../../../x"},
		{Project: "-tmp-project", SessionID: recorded, Agent: "other/agent-1"},
	} {
		if err := d.Append(t.Context(), key, line); err == nil {
			t.Errorf("appended to %+v", key)
		}
		for line, err := range d.Load(t.Context(), key) {
			if err == nil {
				t.Errorf("read %s from %+v", line, key)
			}
		}
		_ = d.Delete(t.Context(), key) // a link may be removed, not the file
	}
	if text, err := os.ReadFile(secret); err != nil || string(text) != hello {
		t.Errorf("the file outside is %q (%v)", text, err)
	}
}

// TestCanceled ends the reading of a long transcript.
func TestCanceled(t *testing.T) {
	s := get(t, disk(t), recorded)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	for _, err := range s.Messages(ctx) {
		if !errors.Is(err, why) {
			t.Errorf("the reading ended by %v", err)
		}
	}
}

// TestProject has names that CLI 2.1.329 gave.
func TestProject(t *testing.T) {
	for dir, want := range map[string]string{
		"/tmp/x/a😀b_c.d":  "-tmp-x-a--b-c-d",
		"/tmp/x/e\u0301x": "-tmp-x-e-x",
		"/tmp/TestZZEnc2977987706/003/project/" + strings.Repeat("long-", 30) + "/" + strings.Repeat("l_ng.", 20): "-tmp-TestZZEnc2977987706-003-project-" + strings.Repeat("long-", 30) + "-l-ng-l-ng-l--qq1qp1",
	} {
		if got, err := sessions.Project(dir); err != nil || got != want {
			t.Errorf("the project of %s is %s (%v), want %s", dir, got, err, want)
		}
	}
}
