package link_test

import (
	"strings"
	"testing"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/clients"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/link"
)

const moved = `{"mcpServers": {"memory": {"command": "memory"}, "other": {"command": "other"}}}`

// move links a client and takes out the servers that toolpost.json has too.
func move(t *testing.T, store *link.Store, f clients.File, toolpost string) {
	t.Helper()
	c, err := store.Link(f, "toolpost", endpoint)
	if err != nil {
		t.Fatal(err)
	}
	m := clients.Move{File: "toolpost.json", Data: []byte(toolpost)}
	servers, err := m.Compare(f, c.Before)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range servers {
		if s.IsDuplicate() {
			err = c.TakeOut(s.Path)
		}
	}
	apply(t, store, c, err)
}

// entries returns the content of a client's file with two servers.
func entries(f clients.File) string {
	if strings.HasSuffix(f.Path, ".toml") {
		return "# mine\n[mcp_servers.memory]\ncommand = \"memory\" # the first\n\n[mcp_servers.last]\ncommand = \"last\"\n"
	}
	list := f.ServerPath("memory")[0]
	return "{\n  // mine\n  \"" + list + `": {"memory": {"command": "memory"}, "last": {"command": "last"}}` + "\n}\n"
}

// TestMoveUndo checks, for every client, that what was taken out stays out when the file is
// linked again, and comes back when it is not linked any more.
func TestMoveUndo(t *testing.T) {
	store, files := home(t)
	for _, f := range files {
		before := entries(f)
		for name, edit := range map[string]func(string) string{
			"unchanged": nil,
			"changed":   func(text string) string { return strings.Replace(text, "last", "least", 1) },
		} {
			if edit != nil && f.Client != "Cursor" && f.Client != "Codex" {
				continue // one of each form is enough
			}
			save(t, f.Path, before)
			move(t, store, f, moved)
			if edit != nil {
				save(t, f.Path, edit(read(t, f.Path)))
			}
			c, err := store.Link(f, "toolpost", endpoint)
			apply(t, store, c, err)
			if got := read(t, f.Path); strings.Contains(got, "memory") || !strings.Contains(got, "toolpost") {
				t.Fatalf("%s, %s: linked again is\n%s", f.Client, name, got)
			}
			c, err = store.Undo(f)
			apply(t, store, c, err)
			got := read(t, f.Path)
			if edit == nil && got != before {
				t.Errorf("%s: undone is\n%s", f.Client, got)
			}
			if !strings.Contains(got, "mine") || strings.Count(got, "memory") != strings.Count(before, "memory") || strings.Contains(got, "toolpost") || edit != nil && !strings.Contains(got, "least") {
				t.Errorf("%s, %s: undone is\n%s", f.Client, name, got)
			}
		}
	}
}

// TestMoveKeepsAddedAgain: an entry that the user adds after the move is the user's, whatever
// is linked or undone.
func TestMoveKeepsAddedAgain(t *testing.T) {
	store, files := home(t)
	f := files[2]
	save(t, f.Path, entries(f))
	move(t, store, f, moved)
	save(t, f.Path, strings.Replace(read(t, f.Path), `"last"`, `"memory": {"command": "mine"}, "last"`, 1))
	c, err := store.Link(f, "toolpost", endpoint)
	apply(t, store, c, err)
	if got := read(t, f.Path); !strings.Contains(got, `"mine"`) {
		t.Fatalf("linked again is %s", got)
	}
	c, err = store.Undo(f)
	apply(t, store, c, err)
	if got := read(t, f.Path); !strings.Contains(got, `"mine"`) || strings.Count(got, `"memory"`) != 1 {
		t.Errorf("undone is %s", got)
	}
}

// TestDuplicates lists what a linked client has beside the gateway, if it gets all of it.
func TestDuplicates(t *testing.T) {
	store, files := home(t)
	f := files[2]
	g := &link.Gateway{Move: clients.Move{File: "/etc/toolpost.json", Data: []byte(moved)}, URL: "http://127.0.0.1:1/mcp"}
	for name, tt := range map[string]struct {
		args []string
		url  string
		want int
	}{
		"the configuration": {[]string{"serve", "--stdio", "--config", "/etc/toolpost.json"}, "", 1},
		"a profile":         {[]string{"serve", "--stdio", "--config", "/etc/toolpost.json", "--profile", "p"}, "", 0},
		"another file":      {[]string{"serve", "--stdio", "--config", "/other.json"}, "", 0},
		"a bridge":          {[]string{"serve", "http://127.0.0.1:1/mcp", "--stdio"}, "", 1},
		"the address":       {nil, "http://127.0.0.1:1/mcp", 1},
		"another address":   {nil, "http://127.0.0.1:1/mcp/p", 0},
	} {
		save(t, f.Path, entries(f))
		e := &clients.Endpoint{URL: tt.url, Args: tt.args}
		if tt.url == "" {
			e.Command = "toolpost"
		}
		c, err := store.Link(f, "toolpost", e)
		apply(t, store, c, err)
		if got := store.Duplicates(f, g); len(got) != tt.want {
			t.Errorf("%s: %+v", name, got)
		}
		c, err = store.Undo(f)
		apply(t, store, c, err)
	}
	if got := store.Duplicates(f, g); len(got) > 0 {
		t.Errorf("not linked: %+v", got)
	}
}
