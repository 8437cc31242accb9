package link_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/clients"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/link"
)

// home makes an empty home folder and returns the files of its clients.
func home(t testing.TB) (*link.Store, []clients.File) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, ".config"))
	store, err := link.Open()
	if err != nil {
		t.Fatal(err)
	}
	return store, link.Files(clients.Files(dir, "", "linux", func(string) (string, bool) { return "", false }), false)
}

var endpoint = &clients.Endpoint{Command: "/bin/toolpost", Args: []string{"serve", "--stdio"}, Variables: []string{"TOKEN"}}

func apply(t testing.TB, s *link.Store, c *link.Change, err error) {
	t.Helper()
	if err == nil {
		err = s.Apply(t.Context(), c)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func save(t testing.TB, file, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(file), 0o755)
	if err == nil {
		err = os.WriteFile(file, []byte(text), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestImportLeavesOutLink checks, for every client, that what link writes is an
// entry that Toolpost reads and knows as itself.
func TestImportLeavesOutLink(t *testing.T) {
	store, files := home(t)
	if len(files) != 9 {
		t.Fatalf("%d clients", len(files))
	}
	for _, e := range []*clients.Endpoint{endpoint, {URL: "http://127.0.0.1:7717/mcp"}} {
		for _, f := range files {
			c, err := store.Link(f, "toolpost", e)
			apply(t, store, c, err)
			im, err := clients.Import([]clients.File{f}, "toolpost.json", nil, nil)
			if err != nil || len(im.Servers) != 0 || len(im.Notes) != 1 || !strings.Contains(im.Notes[0], "it is toolpost itself") {
				t.Errorf("%s: %+v %v", f.Client, im, err)
			}
		}
	}
}

func TestUndo(t *testing.T) {
	store, files := home(t)
	for _, f := range files {
		for name, before := range map[string]string{"empty": "", "line endings": "\r\n", "a mark": "\ufeff"} {
			save(t, f.Path, before)
			if err := os.Chmod(f.Path, 0o640); err != nil {
				t.Fatal(err)
			}
			c, err := store.Link(f, "toolpost", endpoint)
			apply(t, store, c, err)
			c, err = store.Link(f, "other", endpoint) // moves the entry
			apply(t, store, c, err)
			if got := read(t, f.Path); strings.Contains(got, `"toolpost"`) || strings.Contains(got, "servers.toolpost") || !strings.Contains(got, "other") {
				t.Fatalf("%s, %s: linked as another: %q", f.Client, name, got)
			}
			if linked, changed := store.Linked(f); linked != "other" || changed {
				t.Errorf("%s, %s: linked as %q, changed %v", f.Client, name, linked, changed)
			}
			c, err = store.Undo(f)
			apply(t, store, c, err)
			info, err := os.Stat(f.Path)
			if got := read(t, f.Path); got != before || err != nil || info.Mode().Perm() != 0o640 {
				t.Errorf("%s, %s: undone is %q, mode %v", f.Client, name, got, info.Mode())
			}
			if c, err := store.Undo(f); c != nil || err != nil {
				t.Errorf("%s, %s: undone twice", f.Client, name)
			}
		}
	}
}

// TestUndoRestoresEntry checks that an entry of the user that link replaced is
// back after an undo, also if the file has changed.
func TestUndoRestoresEntry(t *testing.T) {
	store, files := home(t)
	for _, f := range files {
		before := `{"` + strings.Join(f.ServerPath("toolpost"), `": {"`) + `": {"url": "http://mine"}}}`
		later := strings.Replace(before, "{", `{"later": {"a": 1}, `, 1)
		if strings.HasSuffix(f.Path, ".toml") {
			before = "[mcp_servers.toolpost]\nurl = \"http://mine\"\n"
			later = before + "\n[later]\na = 1\n"
		}
		save(t, f.Path, before)
		c, err := store.Link(f, "toolpost", endpoint)
		apply(t, store, c, err)
		save(t, f.Path, strings.Replace(later, "http://mine", "http://changed", 1))
		c, err = store.Undo(f)
		apply(t, store, c, err)
		got := strings.Join(strings.Fields(read(t, f.Path)), "")
		if got != strings.Join(strings.Fields(later), "") {
			t.Errorf("%s: undone is %s", f.Client, got)
		}
	}
}

func TestRefuses(t *testing.T) {
	store, files := home(t)
	f := files[0]
	save(t, f.Path, "{}")
	c, err := store.Link(f, "toolpost", endpoint)
	if err != nil {
		t.Fatal(err)
	}
	save(t, f.Path, "{ }")
	if err := store.Apply(t.Context(), c); err == nil || read(t, f.Path) != "{ }" {
		t.Errorf("a change meanwhile is overwritten: %v", err)
	}
	other := filepath.Join(t.TempDir(), "dotfiles.json")
	save(t, other, "{}")
	if err := os.Remove(f.Path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, f.Path); err != nil {
		t.Skip(err)
	}
	if _, err := store.Link(f, "toolpost", endpoint); err == nil || !strings.Contains(err.Error(), "it is a link to") {
		t.Errorf("a link: %v", err)
	}
}

// FuzzUndo checks that an undo restores every file that link accepts.
func FuzzUndo(f *testing.F) {
	f.Add([]byte("{\"mcpServers\": {\"toolpost\": 1, // c\n},}"), false)
	f.Add([]byte("a = 1 # b\r\n[mcp_servers.toolpost]\r\n[mcp_servers.toolpost.env]\r\nA = '''\r\n[b]'''"), true)
	f.Fuzz(func(t *testing.T, data []byte, codex bool) {
		store, files := home(t)
		file := files[2]
		for _, f := range files {
			if codex && f.Client == "Codex" {
				file = f
			}
		}
		save(t, file.Path, string(data))
		c, err := store.Link(file, "toolpost", endpoint)
		if err != nil {
			return
		}
		apply(t, store, c, nil)
		c, err = store.Undo(file)
		apply(t, store, c, err)
		if got := read(t, file.Path); !bytes.Equal([]byte(got), data) {
			t.Errorf("%q becomes %q", data, got)
		}
	})
}
