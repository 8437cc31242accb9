package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/toolpost/toolpost/agent"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/internal/cleartext"
)

// describeChange returns the lines that show what a call would do.
func (c *Chat) describeChange(call *agent.Request) []string {
	s := &c.view.notes
	var in struct {
		Path    string  `json:"path"`
		Command string  `json:"command"`
		Content *string `json:"content"`
		Old     *string `json:"old_string"`
		New     *string `json:"new_string"`
	}
	ours := c.opts.Ours[call.Name]
	if !ours || json.Unmarshal(call.Arguments, &in) != nil {
		return describeJSON(call.Arguments)
	}
	switch {
	case call.Name == "write" && in.Content != nil:
		current, note := c.currentFile(in.Path)
		lines := append([]string{cleartext.Printable(in.Path)}, describeJSON(removeArguments(call.Arguments, "path", "content"))...)
		if note != "" {
			lines = append(lines, s.paint(yellow, note))
		}
		return append(lines, changedLines(s, current, *in.Content)...)
	case call.Name == "edit" && in.Old != nil && in.New != nil:
		lines := append([]string{cleartext.Printable(in.Path)}, describeJSON(removeArguments(call.Arguments, "path", "old_string", "new_string"))...)
		return append(lines, changedLines(s, *in.Old, *in.New)...)
	case call.Name == "bash" && in.Command != "":
		return append(boldLines(s, in.Command), describeJSON(removeArguments(call.Arguments, "command"))...)
	}
	return describeJSON(call.Arguments)
}

// currentFile returns the text of a file, and what a person should know if it cannot
// be shown.
func (c *Chat) currentFile(path string) (text, note string) {
	if c.opts.ReadFile == nil {
		return "", ""
	}
	data, err := c.opts.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", "a new file"
	case err != nil:
		return "", "what it replaces is not shown: " + cleartext.Printable(err.Error())
	}
	return string(data), ""
}

func boldLines(s *stream, text string) (lines []string) {
	for line := range strings.Lines(text) {
		lines = append(lines, s.paint(bold, cleartext.Sanitize(strings.TrimSuffix(line, "\n"))))
	}
	return lines
}

// removeArguments returns arguments without some of them, nil if no other is left.
func removeArguments(raw json.RawMessage, names ...string) json.RawMessage {
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return raw
	}
	for _, name := range names {
		delete(all, name)
	}
	if len(all) == 0 {
		return nil
	}
	rest, err := json.Marshal(all)
	if err != nil {
		return raw
	}
	return rest
}

func describeJSON(raw json.RawMessage) []string {
	if len(raw) == 0 {
		return nil
	}
	var indented bytes.Buffer
	if json.Indent(&indented, raw, "", "  ") != nil {
		indented.Reset()
		indented.Write(raw)
	}
	return strings.Split(cleartext.Sanitize(indented.String()), "\n")
}

// changedLines returns the difference of two texts.
func changedLines(s *stream, before, after string) []string {
	var lines []string
	for _, l := range terminal.Diff(splitLines(before), splitLines(after)) {
		switch l.Mark {
		case '-':
			lines = append(lines, s.paint(red, "- "+cleartext.Printable(l.Before)))
		case '+':
			lines = append(lines, s.paint(green, "+ "+cleartext.Printable(l.After)))
		default:
			lines = append(lines, "  "+cleartext.Printable(l.After))
		}
	}
	return lines
}

func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// editJSON has the user change JSON in the editor of VISUAL or EDITOR.
func editJSON(ctx context.Context, raw json.RawMessage) (json.RawMessage, error) {
	editor := os.Getenv("VISUAL")
	if editor == "" {
		editor = os.Getenv("EDITOR")
	}
	command := strings.Fields(editor)
	if len(command) == 0 {
		return nil, errors.New("no editor is known; set the environment variable EDITOR")
	}
	dir, err := os.MkdirTemp("", "toolpost-edit-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "arguments.json")
	var indented bytes.Buffer
	if err := json.Indent(&indented, raw, "", "  "); err != nil {
		return nil, err
	}
	if err := os.WriteFile(file, append(indented.Bytes(), '\n'), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, command[0], append(command[1:], file)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("run the editor %q: %w", editor, err)
	}
	changed, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, changed); err != nil || !bytes.HasPrefix(compact.Bytes(), []byte("{")) {
		return nil, errors.New("the file is not a JSON object")
	}
	return compact.Bytes(), nil
}
