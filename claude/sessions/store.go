package sessions

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
)

// A Store keeps transcripts: those that the CLI writes ([Disk]), or copies of them
// in memory or in a database. Its methods may be called concurrently.
type Store interface {
	// Append adds lines, which are JSON objects, to a transcript; the first lines
	// begin it. The same lines may come twice: those with a member uuid may be
	// ignored the second time.
	Append(ctx context.Context, key Key, lines []json.RawMessage) error
	// Load yields the lines of a transcript in their order, and nothing if there is
	// no such transcript. The members of a line may be in another order than they
	// were. The caller keeps the lines.
	Load(ctx context.Context, key Key) iter.Seq2[json.RawMessage, error]
	// List returns the sessions of key.Project, or of all projects if it is empty.
	// If key has a SessionID, List returns the sub-agents of that session.
	List(ctx context.Context, key Key) ([]Transcript, error)
	// Delete removes a transcript, and with that of a session those of its
	// sub-agents.
	Delete(ctx context.Context, key Key) error
}

// A Key identifies a transcript in a Store.
type Key struct {
	Project   string // the encoded folder, see [Project]
	SessionID string // a UUID
	Agent     string // of a sub-agent: its path below the session, such as "subagents/agent-a1b2"
}

// A Transcript is what a Store knows about a transcript without reading it.
type Transcript struct {
	Key
	Modified time.Time
	Size     int64 // in bytes; 0 if unknown
}

// maxProject is the length from which the CLI shortens a project's name.
const maxProject = 200

// Project returns the name of the project of a folder in a [Key]. As the CLI does, it
// resolves symbolic links and replaces every character but ASCII letters and
// digits; a long name ends with a hash.
func Project(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find the project of %q: %w", dir, err)
	}
	if resolved, err := filepath.EvalSymlinks(dir); err == nil { // else the folder is gone, and its sessions may be there
		dir = resolved
	}
	var name strings.Builder
	var hash int32
	for _, c := range utf16.Encode([]rune(dir)) {
		hash = hash*31 + int32(c)
		if c < 128 && (c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z') {
			name.WriteByte(byte(c))
		} else {
			name.WriteByte('-')
		}
	}
	if name.Len() <= maxProject {
		return name.String(), nil
	}
	return name.String()[:maxProject] + "-" + strings.TrimPrefix(strconv.FormatInt(int64(hash), 36), "-"), nil
}

// agents is the folder of a session with the transcripts of its sub-agents, and
// agentPrefix is before the id in their names.
const (
	agents      = "subagents"
	agentPrefix = "agent-"
)
