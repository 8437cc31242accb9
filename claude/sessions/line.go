package sessions

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"
	"unicode"

	"github.com/toolpost/toolpost/internal/lazyregexp"
)

// A line holds the members of a transcript's line that have a meaning here. A member
// of another type than expected is as if it were missing.
type line struct {
	Type       string `json:"type"`
	UUID       string `json:"uuid"`
	ParentUUID string `json:"parentUuid"`
	SessionID  string `json:"sessionId"`
	Timestamp  string `json:"timestamp"`
	Message    struct {
		ID      string          `json:"id"`
		Content json.RawMessage `json:"content"`
	} `json:"message"`
	Attachment struct {
		Type   string          `json:"type"`
		Prompt json.RawMessage `json:"prompt"`
	} `json:"attachment"`
	ToolUseResult   json.RawMessage `json:"toolUseResult"`
	SourceAssistant string          `json:"sourceToolAssistantUUID"`

	AgentID   string `json:"agentId"`
	TeamName  string `json:"teamName"`
	IsSide    bool   `json:"isSidechain"` // of a sub-agent
	IsMeta    bool   `json:"isMeta"`      // for the model only
	IsSummary bool   `json:"isCompactSummary"`

	// What the CLI notes about the session.
	CWD         string `json:"cwd"`
	MovedTo     string `json:"relocatedCwd"`
	Branch      string `json:"gitBranch"`
	CustomTitle string `json:"customTitle"`
	AITitle     string `json:"aiTitle"`
	LastPrompt  string `json:"lastPrompt"`
	Summary     string `json:"summary"`
	Tag         string `json:"tag"`

	// The record that a session is archived.
	Archived bool   `json:"archived"`
	At       string `json:"at"`

	// The description of a sub-agent.
	AgentType       string `json:"agentType"`
	Description     string `json:"description"`
	ToolUseID       string `json:"toolUseId"`
	SpawningAgentID string `json:"parentAgentId"`
}

// The types of lines that are read or written here.
const (
	typeUser        = "user"
	typeAssistant   = "assistant"
	typeAttachment  = "attachment"
	typeSystem      = "system"
	typeProgress    = "progress"
	typeCustomTitle = "custom-title"
	typeTag         = "tag"
	typeArchived    = "archived" // a record beside the transcript
)

// maxID is the longest id in bytes. Ids of a whole transcript are in memory at once.
const maxID = 256

// parse reads a line. Members that it cannot read stay empty, and so do long ids.
func parse(raw json.RawMessage) *line {
	l := &line{}
	_ = json.Unmarshal(raw, l)
	for _, id := range []*string{&l.UUID, &l.ParentUUID, &l.SourceAssistant, &l.Message.ID} {
		if len(*id) > maxID {
			*id = ""
		}
	}
	return l
}

// moment reads a time, zero if it is none.
func moment(text string) time.Time {
	t, _ := time.Parse(time.RFC3339, text)
	return t
}

// texts returns the texts of a prompt. IsResult reports that the line has results of
// tools instead.
func (l *line) texts() (texts []string, isResult bool) {
	content := l.Message.Content
	if l.isQueued() {
		content = l.Attachment.Prompt
	} else if l.Type != typeUser {
		return nil, false
	}
	var text string
	if json.Unmarshal(content, &text) == nil {
		return []string{text}, false
	}
	var blocks []struct{ Type, Text string }
	_ = json.Unmarshal(content, &blocks) // blocks of other kinds have no text
	for _, b := range blocks {
		if b.Type == "tool_result" {
			return nil, true
		}
		if b.Type == "text" {
			texts = append(texts, b.Text)
		}
	}
	return texts, false
}

// isQueued reports whether the line is a prompt that was sent while the model worked.
func (l *line) isQueued() bool {
	return l.Type == typeAttachment && l.Attachment.Type == "queued_command" && l.Attachment.Prompt != nil
}

var (
	command = lazyregexp.New(`<command-name>(.*?)</command-name>`)
	// written by the CLI, an editor or a hook
	written = lazyregexp.New(`^(<local-command-stdout>|<session-start-hook>|<tick>|<goal>|\[Request interrupted by user|<ide_opened_file>|<ide_selection>)`)
)

// maxPrompt is how many characters of a prompt stand for a session.
const maxPrompt = 200

// prompt returns what the user wrote, shortened, and the command if it is one.
func (l *line) prompt() (text, name string) {
	if l.IsMeta || l.IsSummary || l.IsSide {
		return "", ""
	}
	texts, _ := l.texts()
	for _, t := range texts {
		t = strings.TrimSpace(strings.ReplaceAll(t, "\n", " "))
		if m := command.FindStringSubmatch(t); m != nil {
			name = shorten(m[1])
			continue
		}
		if t != "" && !written.MatchString(t) {
			return shorten(t), name
		}
	}
	return "", name
}

// shorten returns the beginning of a text in one line that a terminal can show.
func shorten(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text[:min(len(text), 4*maxPrompt+4)])
	if runes := []rune(text[:min(len(text), 4*maxPrompt+4)]); len(runes) > maxPrompt {
		return strings.TrimSpace(string(runes[:maxPrompt])) + "…"
	}
	return text
}

// A summary describes a session from its lines, or from the first and last ones.
type summary struct {
	notes             line // what the CLI notes, the latest of each
	begun, side       bool // side: it is the transcript of a sub-agent
	prompt, command   string
	created, prompted time.Time
}

func (s *summary) add(l *line) {
	if !s.begun && l.UUID != "" {
		s.begun, s.side = true, l.IsSide
	}
	at := moment(l.Timestamp)
	if text, name := l.prompt(); text != "" || name != "" {
		s.prompt, s.command = cmp.Or(s.prompt, text), cmp.Or(s.command, name)
		if at.After(s.prompted) {
			s.prompted = at
		}
	}
	if s.created.IsZero() {
		s.created = at
	}
	n := &s.notes
	n.CWD = cmp.Or(n.CWD, l.CWD)
	n.MovedTo, n.Branch = cmp.Or(l.MovedTo, n.MovedTo), cmp.Or(l.Branch, n.Branch)
	n.AITitle, n.LastPrompt, n.Summary = cmp.Or(l.AITitle, n.AITitle), cmp.Or(l.LastPrompt, n.LastPrompt), cmp.Or(l.Summary, n.Summary)
	switch l.Type {
	case typeCustomTitle:
		n.CustomTitle = l.CustomTitle
	case typeTag:
		n.Tag = l.Tag
	case typeArchived:
		n.Archived, n.At = l.Archived, l.At
	}
}

// session returns the session that is described.
func (s *summary) session(t Transcript, store Store) *Session {
	n := &s.notes
	prompt := cmp.Or(s.prompt, s.command)
	return &Session{
		Transcript: t, store: store,
		Title:       shorten(cmp.Or(n.CustomTitle, n.AITitle, n.LastPrompt, n.Summary, prompt)),
		CustomTitle: n.CustomTitle, FirstPrompt: prompt,
		Dir: cmp.Or(n.MovedTo, n.CWD), Branch: n.Branch, Tag: n.Tag, Created: s.created,
		Archived: n.Archived && !s.prompted.After(moment(n.At)),
	}
}
