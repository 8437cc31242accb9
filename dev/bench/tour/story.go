package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// desktop is the user's file of Claude Desktop.
const desktop = `{
  "mcpServers": {
    "everything": {"command": "mcp-server-everything"},
    "files": {"command": "mcp-server-filesystem", "args": ["HOME/notes"]},
    "memory": {"command": "mcp-server-memory"},
    "notes": {"command": "mcp-server-sqlite", "args": ["--db-path", "HOME/notes.db"]},
    "docs": {"command": "context7-mcp"},
    "browser": {"command": "playwright-mcp"},
    "time": {"command": "mcp-server-time", "args": ["--local-timezone", "UTC"]},
    "tickets": {"command": "tickets-mcp"}
  }
}
`

// profiles are what the user adds for two clients.
const profiles = `  "profiles": {
    // Cursor reads and searches files.
    "reading": {"clients": [{"name": "^cursor"}], "include": ["files__read_*", "files__list_*", "files__search_*"]},
    // A writing assistant at /mcp/writing gets its memory and the clock.
    "writing": {"include": ["memory__*", "time__*"], "exclude": ["*__delete_*"]},
  },
`

// story runs the story.
func (t *tour) story() error {
	t.paragraph("# A tour")
	t.paragraph("The screens of a new user, from a Claude Desktop file with eight servers to a gateway for all clients. `go run ./dev/bench/tour` runs these commands against real servers and writes this page; times, folders and ports are replaced, and long lines cut.")
	for _, chapter := range []func() error{t.importing, t.examining, t.adding, t.profiling, t.linking, t.watching} {
		if err := chapter(); err != nil {
			return err
		}
	}
	text := strings.TrimRight(t.doc.String(), "\n") + "\n"
	t.doc.Reset()
	t.doc.WriteString(text)
	return nil
}

func (t *tour) importing() error {
	t.paragraph("## Import")
	t.paragraph("`toolpost import` finds the files of other clients and shows what they run. With `--write` it writes `toolpost.json`, and counts as your approval of what it showed.")
	if err := t.write(t.desktopFile(), strings.ReplaceAll(desktop, "HOME", t.home), false); err != nil {
		return err
	}
	return t.show(0, "toolpost", "import", "--write")
}

func (t *tour) examining() error {
	t.paragraph("## Check and doctor")
	t.paragraph("`toolpost check` reads the file and starts nothing:")
	if err := t.show(0, "toolpost", "check"); err != nil {
		return err
	}
	t.paragraph("`toolpost doctor` starts the servers. One of the eight is not installed:")
	if err := t.show(1, "toolpost", "doctor", "--for", "claude-code,claude-ai,cursor,gemini-cli"); err != nil {
		return err
	}
	t.paragraph("The fix that doctor names, and its clean bill. The file has changed, so it is approved again, which shows the change:")
	if err := t.replace(`"tickets-mcp"`, `"tickets-mcp", "disabled": true`); err != nil {
		return err
	}
	if err := t.show(0, "toolpost", "trust", "--yes"); err != nil {
		return err
	}
	return t.show(0, "toolpost", "doctor", "--for", "claude-code,claude-ai,cursor,gemini-cli")
}

func (t *tour) adding() error {
	t.paragraph("## Add a server by its name")
	t.paragraph("`toolpost add` knows the reference servers by their names, and packages of npm and PyPI, programs, addresses, files of the MCP registry and bundles ([the configuration](../configuration.md)). It shows what it adds:")
	if err := t.show(0, "toolpost", "add", "sequentialthinking", "--name", "thinking", "--yes"); err != nil {
		return err
	}
	if err := t.show(0, "toolpost", "check"); err != nil {
		return err
	}
	t.paragraph("A call starts the server of its tool alone, if no `serve` runs:")
	return t.show(0, "toolpost", "call", "thinking__sequentialthinking", "thought=Start with the tests.", "thoughtNumber=1", "totalThoughts=2", "nextThoughtNeeded=true")
}

func (t *tour) profiling() error {
	t.paragraph("## Profiles for two clients")
	t.paragraph("One gateway, and two clients that get a part of it ([profiles](../profiles.md)):")
	fmt.Fprintf(&t.doc, "```jsonc\n%s```\n\n", profiles)
	if err := t.replace("{\n", "{\n"+profiles); err != nil {
		return err
	}
	if err := t.show(0, "toolpost", "check", filepath.Base(t.file())); err != nil {
		return err
	}
	address, stop, err := t.serve()
	if err != nil {
		return err
	}
	defer stop()
	for _, profile := range []string{"reading", "writing"} {
		if err := t.show(0, "toolpost", "list", address+"/mcp/"+profile); err != nil {
			return err
		}
	}
	return nil
}

func (t *tour) linking() error {
	t.paragraph("## Link")
	t.paragraph("`toolpost link` writes the gateway into the files of clients, after showing the difference; with `--move`, it takes the servers out that the gateway has. `--undo` restores each file byte for byte:")
	before, err := os.ReadFile(t.desktopFile())
	if err != nil {
		return err
	}
	if err := t.show(0, "toolpost", "link", "claude-desktop", "--move", "--yes", "--config", filepath.Base(t.file())); err != nil {
		return err
	}
	if err := t.show(0, "toolpost", "link", "claude-desktop", "--undo", "--yes"); err != nil {
		return err
	}
	after, err := os.ReadFile(t.desktopFile())
	if err == nil && string(after) != string(before) {
		err = fmt.Errorf("link --undo left %s changed", t.desktopFile())
	}
	return err
}

func (t *tour) watching() error {
	t.paragraph("## Watch")
	t.paragraph("While `toolpost serve` runs, `toolpost top` shows what happens. `--once` prints it once:")
	address, stop, err := t.serve()
	if err != nil {
		return err
	}
	defer stop()
	for _, call := range [][]string{{"everything__echo", "message=hello"}, {"files__list_directory", "path=" + filepath.Join(t.home, "notes")}, {"time__get_current_time", "timezone=UTC"}} {
		if out, err := t.command(append([]string{"toolpost", "call", address + "/mcp"}, call...)...).CombinedOutput(); err != nil {
			return fmt.Errorf("call %s: %w\n%s", call[0], err, out)
		}
	}
	return t.show(0, "toolpost", "top", "--once", address)
}
