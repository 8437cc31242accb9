package agents

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/agent"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/internal/access/owner"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/model"
)

const sessionHelp = `
Everything is recorded in a session, which survives the end of the process:
--resume continues the session ID or "last", and lists the sessions of the
current folder if it stands alone; --session uses a file of your own.`

// The values of --resume beside the ids of sessions.
const (
	listSessions = "list"
	lastSession  = "last"
)

// sessionFlags choose the session.
type sessionFlags struct{ file, resume string }

func (f *sessionFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.file, "session", "", "record the session in `FILE`, and continue what it has")
	cmd.Flags().StringVar(&f.resume, "resume", "", "continue the session `ID`, or last; alone: list them")
	cmd.Flags().Lookup("resume").NoOptDefVal = listSessions
	cli.Exclusive(cmd, "session", "resume")
}

// take takes the id of --resume out of the words: a flag whose value may be
// left out does not have the next word as its value.
func (f *sessionFlags) take(words []string) ([]string, error) {
	if f.resume != listSessions || len(words) == 0 {
		return words, nil
	}
	f.resume = words[0]
	if _, err := f.find(); err != nil {
		return nil, err
	}
	return words[1:], nil
}

// path returns the file of the session.
func (f *sessionFlags) path() (string, error) {
	switch {
	case f.file != "":
		return f.file, nil
	case f.resume != "":
		return f.find()
	}
	dir, err := sessionDir()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the folder of sessions: %w; name a file with --session", err)
	}
	return filepath.Join(dir, time.Now().Format("20060102-150405")+"-"+strings.ToLower(rand.Text()[:4])+sessionEnd), nil
}

const sessionEnd = ".jsonl"

// sessionDir returns the folder with the sessions of the current folder.
func sessionDir() (string, error) {
	base, err := owner.StateDir()
	if err != nil {
		return "", err
	}
	here, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the current folder: %w", err)
	}
	sum := sha256.Sum256([]byte(here))
	return filepath.Join(base, "sessions", hex.EncodeToString(sum[:8])), nil
}

// sessionFiles returns the sessions of the current folder, the one that was used last
// first.
func sessionFiles() ([]string, error) {
	dir, err := sessionDir()
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the sessions: %w", err)
	}
	var files []string
	used := map[string]time.Time{}
	for _, e := range slices.Backward(entries) {
		if strings.HasSuffix(e.Name(), sessionEnd) {
			file := filepath.Join(dir, e.Name())
			if info, err := e.Info(); err == nil {
				used[file] = info.ModTime()
			}
			files = append(files, file)
		}
	}
	slices.SortStableFunc(files, func(a, b string) int { return used[b].Compare(used[a]) })
	return files, nil
}

func sessionID(file string) string { return strings.TrimSuffix(filepath.Base(file), sessionEnd) }

// find returns the file of the session that --resume names.
func (f *sessionFlags) find() (string, error) {
	files, err := sessionFiles()
	if err != nil {
		return "", err
	}
	var found []string
	for _, file := range files {
		if strings.HasPrefix(sessionID(file), f.resume) || f.resume == lastSession {
			found = append(found, file)
		}
	}
	switch {
	case len(found) == 0 && len(files) == 0:
		return "", cli.Usagef("this folder has no sessions; \"toolpost chat\" starts one")
	case len(found) == 0:
		return "", cli.Usagef("this folder has no session %q; --resume alone lists them", f.resume)
	case len(found) > 1 && f.resume != lastSession:
		return "", cli.Usagef("%d sessions begin with %q; write more of the id", len(found), f.resume)
	}
	return found[0], nil
}

// list writes the sessions of the current folder.
func (f *sessionFlags) list(w io.Writer) error {
	files, err := sessionFiles()
	if err != nil {
		return err
	}
	if len(files) == 0 {
		_, err := fmt.Fprintln(w, `This folder has no sessions; "toolpost chat" starts one.`)
		return err
	}
	for _, file := range files {
		if _, err := fmt.Fprintf(w, "%s  %s\n", sessionID(file), terminal.Cut(cleartext.Printable(firstPrompt(file)), 60)); err != nil {
			return err
		}
	}
	return nil
}

// maxPrompt is how long the line with a prompt may be to be listed.
const maxPrompt = 1 << 20

// firstPrompt returns the first text that the user wrote in a session.
func firstPrompt(file string) string {
	f, err := os.Open(file)
	if err != nil {
		return "(" + err.Error() + ")"
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxPrompt)
	for lines.Scan() {
		var r struct{ Message *model.Message }
		if !bytes.Contains(lines.Bytes(), []byte(`"prompt"`)) {
			continue
		}
		if json.Unmarshal(lines.Bytes(), &r) == nil && r.Message != nil {
			return r.Message.Text()
		}
	}
	return "(no prompt)"
}

// A sessionFile is an open session.
type sessionFile struct {
	*agent.Session
	path string
}

func (f *sessionFlags) open() (*sessionFile, error) {
	path, err := f.path()
	if err != nil {
		return nil, err
	}
	s, err := agent.OpenSession(path)
	if err != nil {
		return nil, err
	}
	return &sessionFile{s, path}, nil
}

// command is the flag that continues the session.
func (s *sessionFile) command(f *sessionFlags) string {
	if f.file != "" {
		return "--session " + cleartext.ShellWord(s.path)
	}
	return "--resume " + sessionID(s.path)
}

// end closes the session. A new one in which nothing was said is removed.
func (s *sessionFile) end(f *sessionFlags) error {
	empty := len(s.Messages()) == 0 && s.Usage().Requests == 0
	err := s.Close()
	if empty && f.file == "" && err == nil {
		err = os.Remove(s.path)
	}
	return err
}
