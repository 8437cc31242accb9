package clients

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/configedit"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/configfile"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/atomicfile"
	"github.com/toolpost/toolpost/internal/suggest"
	"github.com/toolpost/toolpost/upstream"
)

// Imported is the result of [Import].
type Imported struct {
	Read    []File           // the files that exist
	Servers []ImportedServer // the servers that are added
	Unread  []File           // those of them that cannot be read; the notes have the reasons
	Notes   []string         // servers that are left out, renamed or already there, and the reason

	// JSON is the whole toolpost.json with the servers added. It contains the
	// secrets of the files that were read: write it, and never print it.
	JSON []byte
}

// An ImportedServer is one server that an import adds.
type ImportedServer struct {
	Name        string
	From        []string           // the files that contain it
	Description config.Description // what it runs, contacts and sends

	// Folder is set if only a file of this project, and no file of the user,
	// contains the server: the author of the project chose the command.
	Folder string
}

// maxImport is the longest file of a client that is read; Claude Code keeps
// much more than servers in its own.
const maxImport = 64 << 20

// maxServers is how many servers of one file are read, as in a toolpost.json.
const maxServers = 1000

// Import reads the files that exist and adds their servers to existing, the
// content of the toolpost.json with the given name; existing is nil if there is
// no such file. Existing content remains unchanged, including comments. Import
// calls keep for each server that it would add; nil adds all.
func Import(files []File, name string, existing []byte, keep func(*ImportedServer) bool) (*Imported, error) {
	return (&importer{out: &Imported{}, name: name}).run(files, existing, keep)
}

func (im *importer) run(files []File, existing []byte, keep func(*ImportedServer) bool) (*Imported, error) {
	existing = configfile.OrEmpty(existing)
	if err := im.existing(existing); err != nil {
		return nil, err
	}
	for _, f := range files {
		im.file(f)
	}
	if err := im.write(existing, keep); err != nil {
		return nil, err
	}
	return im.out, nil
}

type importer struct {
	out   *Imported
	name  string // of the toolpost.json
	found []foundServer
	moves *Move // what the servers are imported for; nil for an import that keeps the clients' entries
}

// A foundServer is a server that was seen.
type foundServer struct {
	server config.Server
	value  hujson.Value // nil Value if toolpost.json has it already
	from   []string
	folder string // of the project whose file has it, if no file of the user has
}

func (im *importer) note(format string, args ...any) {
	im.out.Notes = append(im.out.Notes, fmt.Sprintf(format, args...))
}

func (im *importer) existing(data []byte) error {
	cfg, err := config.Parse(im.name, data, nil)
	if err != nil {
		return fmt.Errorf("import servers: %w", err)
	}
	for _, server := range cfg.Servers {
		im.found = append(im.found, foundServer{server: server})
	}
	return nil
}

// file reads one client's file and notes its mistakes.
func (im *importer) file(f File) {
	data, err := atomicfile.Read(f.Path, maxImport)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	im.out.Read = append(im.out.Read, f)
	if err != nil {
		im.note("%s: cannot be read: %v", f.Client, err)
		im.out.Unread = append(im.out.Unread, f)
		return
	}
	c, top, err := readContent(f, data)
	if err != nil {
		im.note("%v", err)
	}
	if c == nil {
		if err != nil {
			im.out.Unread = append(im.out.Unread, f)
		}
		return
	}
	n := 0
	eachServer(*top, func(_ []string, folder, name string, v *hujson.Value) {
		if im.moves != nil && !im.moves.includes(folder) {
			return
		}
		if n++; n > maxServers {
			if n == maxServers+1 {
				im.note("%s (%s): only the first %d servers are read", f.Client, f.Path, maxServers)
			}
			return
		}
		im.server(c.in(folder), name, v)
	})
}

// server adds one server of a client's file, or notes why not.
func (im *importer) server(c *content, name string, v *hujson.Value) {
	origin := c.origin()
	if _, ok := v.Value.(*hujson.Object); !ok || name == "" {
		im.note("%q of %s: left out: want a name and an object", name, origin)
		return
	}
	server, value, notes, err := c.readServer(name, v)
	switch {
	case err != nil:
		im.note("%s of %s: left out: %v", name, c.Client, err)
	case pointsHere(server) && im.moves != nil:
	case pointsHere(server):
		im.note("%s of %s: left out: it is toolpost itself", name, origin)
	case im.moves != nil && len(notes) > 0: // [Move.Compare] gives the reason
	default:
		for _, why := range notes {
			im.note("%s of %s: %s", name, origin, why)
		}
		im.add(foundServer{*server, value, []string{origin}, c.project()})
	}
}

// add takes a server unless it is known already; another one of the same name
// is numbered.
func (im *importer) add(f foundServer) {
	origin := f.from[0]
	for i := range im.found {
		known := &im.found[i]
		if !sameServer(known.server, f.server) {
			continue
		}
		if known.value.Value == nil {
			im.note("%s of %s: already in %s as %q", f.server.Name, origin, im.name, known.server.Name)
			return
		}
		if f.folder == "" {
			known.folder = ""
		}
		if known.from = append(known.from, origin); known.server.Disabled && !f.server.Disabled {
			known.value = f.value // one client uses it
			known.server.Disabled = false
		}
		if known.server.Auth == nil && f.server.Auth != nil {
			known.value, known.server.Auth = f.value, f.server.Auth // one client has a client id
		}
		return
	}
	name := f.server.Name
	f.server.Name = suggest.Free(name, func(s string) bool {
		return slices.ContainsFunc(im.found, func(f foundServer) bool { return f.server.Name == s })
	})
	if f.server.Name != name && im.moves != nil {
		return // as above
	}
	if f.server.Name != name {
		im.note("%s of %s: called %q, because another server has the name", name, origin, f.server.Name)
	}
	im.found = append(im.found, f)
}

// write adds the servers that were found to data, a toolpost.json that was
// parsed before. Only the new lines differ.
func (im *importer) write(data []byte, keep func(*ImportedServer) bool) error {
	im.out.JSON = data
	d, err := configedit.Open(data)
	if err != nil {
		return fmt.Errorf("import servers: %w", err)
	}
	var added []configedit.Member
	for _, f := range im.found {
		if f.value.Value == nil {
			continue
		}
		server := ImportedServer{f.server.Name, f.from, describe(f.server.Name, f.value), f.folder}
		if keep != nil && !keep(&server) {
			continue
		}
		added = append(added, configedit.Member{Name: server.Name, Value: minimal(f.value)})
		im.out.Servers = append(im.out.Servers, server)
	}
	if len(added) == 0 {
		return nil
	}
	if err := d.SetAll(added, configfile.ServerList(d)); err != nil {
		return fmt.Errorf("import servers: %w", err)
	}
	im.out.JSON = d.Bytes()
	return nil
}

func minimal(v hujson.Value) json.RawMessage {
	v.Minimize()
	return json.RawMessage(v.Pack())
}

// describe describes a server that is added.
func describe(name string, v hujson.Value) config.Description {
	cfg, err := config.Parse("toolpost.json", newDocument(name, 0, v.Value.(*hujson.Object)).text, nil)
	if err != nil || len(cfg.Servers) != 1 {
		return config.Description{Name: name} // it was read before
	}
	return cfg.Describe()[0]
}

// sameServer reports whether both reach the same server in the same way.
func sameServer(a, b config.Server) bool {
	return a.Command == b.Command && a.URL == b.URL && a.Dir == b.Dir && a.EnvFile == b.EnvFile && sameAuth(a.Auth, b.Auth) &&
		reflect.DeepEqual(a.Source, b.Source) && slices.Equal(a.Args, b.Args) && maps.Equal(a.Env, b.Env) && maps.Equal(a.Headers, b.Headers) &&
		sameTransport(a, b)
}

func sameTransport(a, b config.Server) bool {
	return a.Command != "" || a.Transport == b.Transport || a.Transport == "" || b.Transport == ""
}

// sameAuth reports whether both log in in the same way, or one of them leaves it to
// the server.
func sameAuth(a, b *config.Auth) bool {
	return a == nil || b == nil || reflect.DeepEqual(a, b)
}

// pointsHere reports whether s is this program, or the address it serves on.
func pointsHere(s *config.Server) bool {
	command := strings.TrimSuffix(filepath.Base(strings.ReplaceAll(s.Command, `\`, "/")), ".exe")
	packaged := (command == "npx" || command == "uvx") && slices.ContainsFunc(s.Args[:min(2, len(s.Args))], func(arg string) bool {
		name, _, _ := strings.Cut(arg, "@")
		return name == "toolpost"
	})
	return command == "toolpost" || packaged || ourAddress(s.URL) ||
		s.Transport != upstream.SSE && slices.ContainsFunc(s.Args, func(arg string) bool {
			return ourAddress(arg) || strings.HasSuffix(strings.TrimSuffix(arg, "@latest"), "toolpost/cmd/toolpost")
		})
}

const port = "7717" // that toolpost serves on by default

func ourAddress(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Port() == port && slices.Contains([]string{"127.0.0.1", "localhost", "::1"}, u.Hostname())
}
