//go:build unix

package live

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	sdk "github.com/toolpost/toolpost/claude"
	stream "github.com/toolpost/toolpost/claude/message"
	"github.com/toolpost/toolpost/claude/sessions"
)

// sdkSessions has the CLI write a session, which is listed, read, renamed and forked,
// and has the CLI resume both.
func sdkSessions(s *stage) string {
	where := &sessions.Options{Dir: s.opts.Dir, Store: &sessions.Disk{ConfigDir: filepath.Join(filepath.Dir(s.opts.Dir), ".claude")}}
	s.says(text("noted"))
	id := s.must("remember 7", "noted").SessionID
	session := s.onDisk(where, id)
	if session.Title != "remember 7" || session.Dir != s.opts.Dir {
		s.Errorf("the session is %+v", session)
	}
	s.reads(session, "remember 7", "noted")
	if err := session.Rename(s.context(), "Lucky number"); err != nil {
		s.Fatal(err)
	}
	if err := session.SetTag(s.context(), "maths"); err != nil {
		s.Fatal(err)
	}
	if err := session.SetArchived(s.context(), true); err != nil || !s.onDisk(where, id).Archived {
		s.Errorf("the session is not archived: %v", err)
	}
	if titles := s.resumes(id, "which?", "seven"); !slices.Equal(titles, []string{"Lucky number"}) {
		s.Errorf("the CLI shows the titles %q", titles)
	}
	session = s.onDisk(where, id)
	if session.CustomTitle != "Lucky number" || session.Tag != "maths" || session.Archived {
		s.Errorf("after a turn the session is %+v", session)
	}
	fork, err := session.Fork(s.context(), nil)
	if err != nil {
		s.Fatal(err)
	}
	s.resumes(fork.SessionID, "and doubled?", "fourteen")
	s.reads(s.onDisk(where, fork.SessionID), "remember 7", "noted", "which?", "seven", "and doubled?", "fourteen")
	s.reads(s.onDisk(where, id), "remember 7", "noted", "which?", "seven")
	if err := fork.Delete(s.context()); err != nil {
		s.Fatal(err)
	}
	if _, err := s.run("again?"); err == nil || !strings.Contains(err.Error(), "No conversation found") {
		s.Errorf("a session that was deleted is resumed: %v", err)
	}
	return fmt.Sprintf("%q, resumed and forked", session.Title)
}

// onDisk returns a session of the list.
func (s *stage) onDisk(where *sessions.Options, id string) *sessions.Session {
	s.Helper()
	for found, err := range sessions.List(s.context(), where) {
		if err != nil {
			s.Fatal(err)
		}
		if found.SessionID == id {
			return found
		}
	}
	s.Fatalf("the session %s is not listed", id)
	return nil
}

// reads fails the test if the texts of a session are others.
func (s *stage) reads(session *sessions.Session, want ...string) {
	s.Helper()
	var got []string
	for m, err := range session.Messages(s.context()) {
		switch m := m.(type) {
		case *stream.User:
			got = append(got, m.Text())
		case *stream.Assistant:
			got = append(got, m.Text())
		default:
			s.Errorf("message %+v (%v)", m, err)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		s.Errorf("the session is %q, want %q", got, want)
	}
}

// resumes continues a session: the model gets its first prompt. It returns the titles
// that the CLI reports.
func (s *stage) resumes(id, prompt, answer string) (titles []string) {
	s.Helper()
	s.opts.Resume = id
	s.says(text(answer))
	r, err := sdk.Collect(func(yield func(stream.Message, error) bool) {
		for m, err := range sdk.Run(s.context(), prompt, s.opts) {
			if err == nil && m.Head().Subtype == "session_title_changed" {
				titles = append(titles, strings.Trim(string(m.Head().Extra["title"]), `"`))
			}
			if !yield(m, err) {
				return
			}
		}
	})
	if err != nil || r.SessionID != id || r.Result != answer {
		s.Errorf("the session is continued with %+v (%v)", r, err)
	}
	if all := s.api.requests(); !strings.Contains(all[len(all)-1].body, "remember 7") {
		s.Error("the model does not get the first prompt")
	}
	return titles
}

// sdkSessionStore keeps a session with its sub-agent in a store, and continues it on
// another machine and on the first one again.
func sdkSessionStore(s *stage) string {
	store := &sessions.Memory{}
	s.opts.SessionStore = store
	s.opts.Tools, s.opts.AllowedTools = []string{"Agent"}, []string{"Agent"}
	s.opts.Agents = map[string]*sdk.Subagent{"adder": {Description: "adds", Prompt: "You add."}}
	s.api.then("remember 7", call1("Agent", object{"description": "adds", "prompt": "SUBTASK", "subagent_type": "adder", "run_in_background": false}))
	s.api.then("SUBTASK", text("It is 5."))
	s.api.then("remember 7", text("noted"))
	id := s.must("remember 7", "noted").SessionID
	here := s.opts.Env
	where := &sessions.Options{Dir: s.opts.Dir, Store: store}
	agents, err := s.onDisk(where, id).Subagents(s.context())
	if err != nil || len(agents) != 1 || agents[0].Type != "adder" {
		s.Errorf("the sub-agents in the store are %+v (%v)", agents, err)
	}
	s.opts.Env = append(slices.Clone(here), "CLAUDE_CONFIG_DIR="+s.TempDir())
	s.resumes(id, "which?", "seven")
	s.opts.Resume, s.opts.Continue, s.opts.Env = "", true, here
	s.says(text("fourteen"))
	s.must("and doubled?", "fourteen")
	all := s.api.requests()
	if last := all[len(all)-1].body; !strings.Contains(last, "which?") {
		s.Errorf("the first machine does not know what was said on the other one")
	}
	want := []string{"remember 7", "", "", "noted", "which?", "seven", "and doubled?", "fourteen"}
	s.reads(s.onDisk(where, id), want...)
	disk := &sessions.Options{Dir: s.opts.Dir, Store: &sessions.Disk{ConfigDir: filepath.Join(filepath.Dir(s.opts.Dir), ".claude")}}
	s.reads(s.onDisk(disk, id), want...)
	return "continued on another machine, and on the first one again"
}
