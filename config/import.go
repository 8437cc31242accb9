package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
	"github.com/toolpost/toolpost/internal/lazyregexp"
	"github.com/toolpost/toolpost/upstream"
)

// Imported is the result of [Import].
type Imported struct {
	Read    []ClientFile     // the files that exist
	Servers []ImportedServer // the servers that are added
	Unread  []ClientFile     // those of them that cannot be read; the notes have the reasons
	Notes   []string         // servers that are left out, renamed or already there, and the reason

	// JSON is the whole toolpost.json with the servers added. It contains the
	// secrets of the files that were read: write it, and never print it.
	JSON []byte
}

// An ImportedServer is one server that an import adds.
type ImportedServer struct {
	Name        string
	From        []string    // the files that contain it
	Description Description // what it runs, contacts and sends

	// Folder is set if only a file of this project, and no file of the user,
	// contains the server: the author of the project chose the command.
	Folder string
}

// maxImport is the longest file of a client that is read; Claude Code keeps
// much more than servers in its own.
const maxImport = 64 << 20

// Import reads the files that exist and adds their servers to existing, the
// content of the toolpost.json with the given name; existing is nil if there is
// no such file. Existing content remains unchanged, including comments. Import
// calls keep for each server that it would add; nil adds all.
func Import(files []ClientFile, name string, existing []byte, keep func(*ImportedServer) bool) (*Imported, error) {
	return (&importer{out: &Imported{}, name: name}).run(files, existing, keep)
}

func (im *importer) run(files []ClientFile, existing []byte, keep func(*ImportedServer) bool) (*Imported, error) {
	existing = orEmpty(existing)
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
	server Server
	value  hujson.Value // nil Value if toolpost.json has it already
	from   []string
	folder string // of the project whose file has it, if no file of the user has
}

func (im *importer) note(format string, args ...any) {
	im.out.Notes = append(im.out.Notes, fmt.Sprintf(format, args...))
}

func (im *importer) existing(data []byte) error {
	cfg, err := readUnexpanded(im.name, data)
	if err != nil {
		return fmt.Errorf("import servers: %w", err)
	}
	for _, server := range cfg.Servers {
		im.found = append(im.found, foundServer{server: server})
	}
	return nil
}

// file reads one client's file and notes its mistakes.
func (im *importer) file(f ClientFile) {
	data, err := readLimited(f.Path, maxImport)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	im.out.Read = append(im.out.Read, f)
	if err != nil {
		im.note("%s: cannot be read: %v", f.Client, err)
		im.out.Unread = append(im.out.Unread, f)
		return
	}
	c, top, err := readClient(f, data)
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

func empty(data []byte) bool { return strings.TrimSpace(string(data)) == "" }

// server adds one server of a client's file, or notes why not.
func (im *importer) server(c *clientFile, name string, v *hujson.Value) {
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
	f.server.Name = FreeName(name, func(s string) bool {
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

// sameServer reports whether both reach the same server in the same way.
func sameServer(a, b Server) bool {
	return a.Command == b.Command && a.URL == b.URL && a.Dir == b.Dir && a.EnvFile == b.EnvFile && sameAuth(a.Auth, b.Auth) &&
		reflect.DeepEqual(a.Source, b.Source) && slices.Equal(a.Args, b.Args) && maps.Equal(a.Env, b.Env) && maps.Equal(a.Headers, b.Headers) &&
		sameTransport(a, b)
}

func sameTransport(a, b Server) bool {
	return a.Command != "" || a.Transport == b.Transport || a.Transport == "" || b.Transport == ""
}

// sameAuth reports whether both log in in the same way, or one of them leaves it to
// the server.
func sameAuth(a, b *upstream.Auth) bool {
	return a == nil || b == nil || reflect.DeepEqual(a, b)
}

// adapt makes an entry of a client one of toolpost.json, and returns what it dropped.
func adapt(v *hujson.Value, f ClientFile) (dropped []string) {
	o := v.Value.(*hujson.Object)
	if f.Client == codex { // has no variables but those that translate writes
		for part := range v.All() {
			if l, ok := part.Value.(hujson.Literal); ok && l.Kind() == '"' && strings.Contains(l.String(), "${") {
				part.Value = hujson.String(strings.ReplaceAll(l.String(), "${", "$${"))
			}
		}
	}
	translate(o)
	o.Members = slices.DeleteFunc(o.Members, func(m hujson.ObjectMember) bool {
		name := key(&m)
		reason, ignored := ignoredKeys[name]
		switch {
		case entryKeys[name] != nil:
			return m.Value.Value.Kind() == 'n'
		case !ignored:
			dropped = append(dropped, fmt.Sprintf("the unknown key %q is left out", name))
		case reason != clientOnly && reason != labelOnly && m.Value.Value.Kind() != 'f':
			dropped = append(dropped, fmt.Sprintf("the key %q is left out: it %s", name, reason))
		}
		return true
	})
	for part := range v.All() {
		if part.Value.Kind() == '"' {
			part.Value = adaptString(part.Value.(hujson.Literal), f)
		}
	}
	if f.Folder != "" {
		anchor(v, f.Folder)
	}
	return dropped
}

// anchor makes an entry of a project independent of where toolpost.json is.
func anchor(v *hujson.Value, folder string) {
	for _, key := range []string{"/cwd", "/envFile"} {
		path := v.Find(key)
		if path == nil || path.Value.Kind() != '"' {
			continue
		}
		s := path.Value.(hujson.Literal).String()
		if !filepath.IsAbs(s) && !strings.HasPrefix(s, "${") {
			path.Value = hujson.String(filepath.Join(folder, s))
		}
	}
	if o := v.Value.(*hujson.Object); v.Find("/cwd") == nil && usesFolder(v) {
		o.Members = append(o.Members, hujson.ObjectMember{
			Name: hujson.Value{Value: hujson.String("cwd")}, Value: hujson.Value{Value: hujson.String(folder)},
		})
	}
}

var (
	bareVariable   = lazyregexp.New(`\$([A-Za-z_][A-Za-z0-9_]*)`)
	dollarName     = lazyregexp.New(`^\$([A-Za-z_][A-Za-z0-9_]*)$`)
	openFile       = lazyregexp.New(`(^|[^$])\{file:([^{}]+)\}`)
	openVariable   = lazyregexp.New(`(^|[^$])\{env:([A-Za-z_][A-Za-z0-9_]*)\}`)
	secretVariable = lazyregexp.New(`\$\{\{ *(?:secrets|inputs)\.([A-Za-z_][A-Za-z0-9_]*) *\}\}`)
	inputReference = lazyregexp.New(`\$\{input:([^}]*)\}`)
)

// adaptString writes variables as toolpost.json has them.
func adaptString(l hujson.Literal, f ClientFile) hujson.Literal {
	s := l.String()
	switch f.Client {
	case geminiCLI:
		s = bareVariable.ReplaceAllString(s, "$${$1}")
	case opencode:
		s = openVariable.ReplaceAllString(s, "$1$${$2}")
		s = openFile.ReplaceAllStringFunc(s, func(reference string) string { return besideFile(reference, f.Path) })
	case copilotCLI:
		s = dollarName.ReplaceAllString(s, "$${$1}")
	case continueDev:
		s = secretVariable.ReplaceAllString(s, "$${$1}")
	}
	if f.Folder != "" {
		s = strings.ReplaceAll(s, "${workspaceFolder}", f.Folder)
	}
	if s == l.String() {
		return l
	}
	return hujson.String(s)
}

// besideFile returns opencode's reference to a file as toolpost.json has it. A relative
// path begins at the folder of opencode's file.
func besideFile(reference, client string) string {
	m := openFile.FindStringSubmatch(reference)
	path := strings.TrimSpace(m[2])
	if !filepath.IsAbs(path) && !strings.HasPrefix(path, "~/") {
		path = filepath.Join(filepath.Dir(client), path)
	}
	return m[1] + "${file:" + path + "}"
}

// usesFolder reports whether a command depends on the folder it is started in.
func usesFolder(v *hujson.Value) bool {
	relative := func(v *hujson.Value) bool {
		l, ok := v.Value.(hujson.Literal)
		s := l.String()
		return ok && (s == "." || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "../"))
	}
	command, args := v.Find("/command"), v.Find("/args")
	if command == nil || args == nil {
		return command != nil && relative(command)
	}
	for part := range args.All() {
		if relative(part) {
			return true
		}
	}
	return relative(command)
}

// pointsHere reports whether s is this program, or the address it serves on.
func pointsHere(s *Server) bool {
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

// FreeName returns name, or if it is taken name_2, name_3…
func FreeName(name string, taken func(string) bool) string {
	free := name
	for n := 2; taken(free); n++ {
		free = name + "_" + strconv.Itoa(n)
	}
	return free
}
