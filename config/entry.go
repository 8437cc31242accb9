package config

import (
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/toolpost/toolpost/internal/lazyregexp"
	"github.com/toolpost/toolpost/internal/suggest"
	"github.com/toolpost/toolpost/upstream"
)

// A file is a toolpost.json being read.
type file struct {
	*source
	cfg  *Config
	vars *variables
	dialects
	named  []namedProfile  // those of cfg.Profiles
	wanted []wantedDialect // by profiles
	scoped []namedProfile  // by the access block
}

// fileKeys says what each key of the file sets.
var fileKeys = map[string]func(f *file, v hujson.Value, path string){
	"mcpServers": (*file).servers, // Claude, Cursor, Windsurf, Gemini CLI
	"servers":    (*file).servers, // VS Code
	"inputs":     (*file).inputs,  // VS Code
	"name":       func(f *file, v hujson.Value, path string) { f.cfg.Name = f.text(v, path) },
	"dialect":    (*file).dialect,
	"dialects":   (*file).overlays,
	"output":     (*file).output,
	"profiles":   (*file).profiles,
	"audit":      (*file).audit,
	"access":     (*file).access,
	"limits":     (*file).limits,
	"search":     (*file).search,
	"approvals":  (*file).approvals,
	"lock":       func(f *file, v hujson.Value, path string) { f.cfg.Lock = f.boolean(v, path) },
	"quiet":      func(f *file, v hujson.Value, path string) { f.cfg.Quiet = f.texts(v, path) },
	"$schema":    func(*file, hujson.Value, string) {},
}

func (f *file) read(root *hujson.Object) {
	found := false
	f.members(hujson.Value{Value: root}, "the file", func(m *hujson.ObjectMember) {
		name := key(m)
		found = found || name == "mcpServers" || name == "servers"
		if set := fileKeys[name]; set != nil {
			set(f, m.Value, name)
			return
		}
		known := slices.Sorted(maps.Keys(fileKeys))
		hint := suggestKey(name, known)
		switch {
		case isEntry(m.Value):
			hint = `servers go under "mcpServers"`
		case suggest.Nearest(name, known) == "":
			hint += fmt.Sprintf("; if this is the file of another MCP client, run \"toolpost import %s\"", f.name)
		}
		f.fail(m.Name.StartOffset, "unknown key %q; %s", name, hint)
	})
	f.bind()
	if !found && len(f.problems) == 0 {
		f.fail(0, "the file has no servers; "+wantShape)
	}
}

// isEntry reports whether v looks like a server.
func isEntry(v hujson.Value) bool {
	return v.Find("/command") != nil || v.Find("/url") != nil
}

// maxServers is the number of servers that one file may have. A hostile file of
// a cloned folder must not keep the process busy.
const maxServers = 1000

// servers reads the entries of v. An invalid entry disables its server only:
// the mistakes become the server's Err. An entry without a name of its own is
// left out with a finding.
func (f *file) servers(v hujson.Value, path string) {
	if v.Value.Kind() != '{' {
		f.fail(v.StartOffset, "%s is %s; want an object", path, kind(v))
		return
	}
	if len(v.Value.(*hujson.Object).Members) > maxServers {
		f.fail(v.StartOffset, "%s has more than %d servers; remove some, or use several files", path, maxServers)
		return
	}
	before := len(f.problems)
	f.members(v, path, func(m *hujson.ObjectMember) {
		name := key(m)
		switch {
		case name == "":
			f.fail(m.Name.StartOffset, "a server of %s has no name; it is left out", path)
			return
		case slices.ContainsFunc(f.cfg.Servers, func(s Server) bool { return s.Name == name }):
			f.fail(m.Name.StartOffset, "two servers are named %q; the second is left out: give it another name", name)
			return
		}
		e := &entry{source: f.source, path: path + "." + name, vars: f.vars}
		e.server.Name = name
		others := f.problems
		f.problems = nil // the limit of mistakes is that of one entry
		e.read(m)
		if mistakes := f.cut(0); len(mistakes) > 0 {
			e.server.Err = &Error{File: f.name, Problems: mistakes}
		}
		f.problems = others
		f.cfg.Servers = append(f.cfg.Servers, e.server)
		f.limitServer(name, e.limits)
	})
	f.notes = append(f.notes, f.cut(before)...)
}

// cut removes and returns the problems from index start on, in the order of the file.
func (s *source) cut(start int) []Problem {
	problems := slices.Clone(s.problems[start:])
	s.problems = s.problems[:start]
	sortProblems(problems)
	return problems
}

// inputs are questions that VS Code asks; here the answers are variables.
func (f *file) inputs(v hujson.Value, path string) {
	f.each(v, path, func(v hujson.Value, path string) {
		id := v.Find("/id")
		if id == nil || id.Value.Kind() != '"' {
			f.fail(v.StartOffset, "%s has no id", path)
			return
		}
		name := id.Value.(hujson.Literal).String()
		f.note(v.StartOffset, "toolpost does not ask for input %q; set the environment variable %s", name, inputVariable(name))
	})
}

// An entry is one server being read.
type entry struct {
	*source
	path    string
	vars    *variables // nil leaves variables as they are
	server  Server
	redmine Source
	address []string  // the keys that say where the server is
	unset   []Problem // why variables could not be expanded
	limits  *Limit
}

// entryKeys says what each key of a server sets.
var entryKeys = map[string]func(e *entry, v hujson.Value, path string){
	"command":         func(e *entry, v hujson.Value, path string) { e.server.Command = e.where(v, path) },
	"args":            (*entry).args,
	"env":             func(e *entry, v hujson.Value, path string) { e.server.Env = e.table(v, path) },
	"envFile":         func(e *entry, v hujson.Value, path string) { e.server.EnvFile = e.file(v, path) },
	"cwd":             func(e *entry, v hujson.Value, path string) { e.server.Dir = e.file(v, path) },
	"url":             (*entry).url,
	"serverUrl":       (*entry).url,                                                                                       // Windsurf
	"httpUrl":         func(e *entry, v hujson.Value, path string) { e.url(v, path); e.server.Transport = upstream.HTTP }, // Gemini CLI
	"auth":            (*entry).auth,
	"oauth":           (*entry).auth, // Claude Code, Gemini CLI
	"headers":         func(e *entry, v hujson.Value, path string) { e.server.Headers = e.table(v, path) },
	"type":            (*entry).transport,
	"transport":       (*entry).transport,
	"disabled":        func(e *entry, v hujson.Value, path string) { e.server.Disabled = e.boolean(v, path) },
	"enabled":         func(e *entry, v hujson.Value, path string) { e.server.Disabled = !e.boolean(v, path) },
	"timeout":         func(e *entry, v hujson.Value, path string) { e.server.CallTimeout = e.duration(v, path) },
	"connectTimeout":  func(e *entry, v hujson.Value, path string) { e.server.ConnectTimeout = e.duration(v, path) },
	"maxMessage":      func(e *entry, v hujson.Value, path string) { e.server.MaxMessage = size(e.source, v, path) },
	"protocolVersion": func(e *entry, v hujson.Value, path string) { e.server.ProtocolVersion = e.text(v, path) },
	"share":           (*entry).share,
	"idle":            func(e *entry, v hujson.Value, path string) { e.server.Idle = e.duration(v, path) },
	"limits":          func(e *entry, v hujson.Value, path string) { e.limits = &Limit{}; e.rule(e.limits, v, path) },
	"required":        func(e *entry, v hujson.Value, path string) { e.server.Required = e.boolean(v, path) },
	"pins":            func(e *entry, v hujson.Value, path string) { e.server.Unpinned = !e.boolean(v, path) },
	"newTools":        (*entry).newTools,
	"extensions":      (*entry).extensions,
	"prefix":          func(e *entry, v hujson.Value, path string) { p := e.text(v, path); e.server.Prefix = &p },
	"tools":           (*entry).tools,
	"include_tags":    func(e *entry, v hujson.Value, path string) { e.server.Tools.IncludeTags = e.texts(v, path) }, // FastMCP
	"exclude_tags":    func(e *entry, v hujson.Value, path string) { e.server.Tools.ExcludeTags = e.texts(v, path) },
	"output":          (*entry).outputs,
	"includeTools":    (*entry).allow, // Gemini CLI
	"enabledTools":    (*entry).allow,
	"excludeTools":    (*entry).deny, // Gemini CLI
	"disabledTools":   (*entry).deny, // Windsurf, Roo Code
}

const (
	clientOnly = "only affects clients that ask before calls; it has no effect here"
	labelOnly  = "has no effect here"
	noLogin    = `is not supported: put a token into "headers"`
)

// ignoredKeys are keys that clients write and that mean nothing to a gateway.
var ignoredKeys = map[string]string{
	"alwaysAllow": clientOnly, "autoApprove": clientOnly, "trust": clientOnly, "alwaysLoad": labelOnly,
	"name": labelOnly, "source": labelOnly, "faviconUrl": labelOnly,
	"description": labelOnly, "gallery": labelOnly, "version": labelOnly, "extension": labelOnly,
	"extensionName": labelOnly, "icon": labelOnly, "dev": labelOnly, "watchPaths": labelOnly,
	"sandbox": "is not supported: the server runs without a sandbox", "sandboxEnabled": "is not supported: the server runs without a sandbox",
	"authProviderType": noLogin, "headersHelper": noLogin,
	"targetAudience": noLogin, "targetServiceAccount": noLogin,
}

func (e *entry) read(m *hujson.ObjectMember) {
	before := len(e.problems)
	e.members(m.Value, e.path, func(m *hujson.ObjectMember) {
		name := key(m)
		set, reason := setter(name), ignoredKeys[name]
		switch {
		case m.Value.Value.Kind() == 'n' && (set != nil || reason != ""): // as if it were not there
		case set != nil:
			set(e, m.Value, e.path+"."+name)
		case reason != "":
			e.unused(m, e.path, reason)
		default:
			e.unknown(m, e.path, knownKeys())
		}
	})
	if len(e.problems) == before {
		e.check(m)
	}
	if len(e.problems) == before {
		checkType(e, m)
	}
	if len(e.unset) > 0 {
		e.server.Err = &unsetError{e.name, e.unset}
	}
}

// check looks at keys together.
func (e *entry) check(m *hujson.ObjectMember) {
	at, s := m.Name.StartOffset, &e.server
	switch {
	case len(e.address) == 0:
		e.fail(at, `%s has neither "command" nor "url"; give the program to start, or the address to call`, e.path)
	case len(e.address) > 1:
		e.fail(at, "%s has both %q and %q; keep one", e.path, e.address[0], e.address[1])
	case s.Command != "" && s.Transport != "" && s.Transport != upstream.Stdio:
		e.fail(at, `%s has a command, but its type is %q; remove "type", or give "url" instead`, e.path, s.Transport)
	case s.Idle != 0 && s.Share == "always":
		e.fail(at, `%s has "idle", which ends processes of single clients, and with "share": "always" there are none; remove one of them`, e.path)
	case s.URL != "" && s.Transport == upstream.Stdio:
		e.fail(at, `%s has an address, but its type is "stdio"; remove "type", or give "command" instead`, e.path)
	}
}

// share reads who shares the process of a server.
func (e *entry) share(v hujson.Value, path string) {
	e.server.Share = e.text(v, path)
	if !slices.Contains([]string{"auto", "always", "per-client", "per-session"}, e.server.Share) && v.Value.Kind() == '"' {
		e.fail(v.StartOffset, `%s is %.40q; want "auto", "always", "per-client" or "per-session"`, path, e.server.Share)
	}
}

// extensions reads which extensions of a server clients get: all, none, or those
// with these names.
func (e *entry) extensions(v hujson.Value, path string) {
	e.server.Extensions = []string{}
	switch k := v.Value.Kind(); {
	case k == '[':
		e.server.Extensions = append(e.server.Extensions, e.texts(v, path)...)
	case e.boolean(v, path):
		e.server.Extensions = nil
	}
}

// newTools reads what happens to tools that a server adds.
func (e *entry) newTools(v hujson.Value, path string) {
	policy := e.text(v, path)
	if policy != "withhold" && policy != "allow" && v.Value.Kind() == '"' {
		e.fail(v.StartOffset, `%s is %.40q; want "allow" or "withhold"`, path, policy)
	}
	e.server.WithholdNew = policy == "withhold"
}

// where reads a string that says where the server is.
func (e *entry) where(v hujson.Value, path string) string {
	s := e.text(v, path)
	if s == "" {
		return ""
	}
	e.address = append(e.address, path[len(e.path)+1:])
	return e.noReference(e.expand(s, v, path), v, path)
}

func (e *entry) url(v hujson.Value, path string) {
	before := len(e.unset)
	s := e.where(v, path)
	if s == "" || len(e.unset) > before {
		return
	}
	e.server.URL = s
	if (e.vars != nil || !strings.Contains(s, "${")) && !validURL(s) {
		e.fail(v.StartOffset, "%s is not an address; want http://… or https://…", path)
	}
}

// validURL checks an address; its errors do not quote it, because it may contain a secret.
func validURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

func (e *entry) args(v hujson.Value, path string) {
	e.each(v, path, func(v hujson.Value, path string) {
		e.server.Args = append(e.server.Args, e.expand(e.text(v, path), v, path))
	})
}

// table reads an object of strings. Null leaves a member out, as in VS Code.
func (e *entry) table(v hujson.Value, path string) map[string]string {
	all := map[string]string{}
	e.members(v, path, func(m *hujson.ObjectMember) {
		if p := path + "." + key(m); m.Value.Value.Kind() != 'n' {
			text := e.scalar(m.Value, p)
			if e.vars != nil && wholeVariable.MatchString(text) {
				e.note(m.Value.StartOffset, "%s is sent as it is written; for an environment variable, write ${NAME}", p)
			}
			all[key(m)] = e.expand(text, m.Value, p)
		}
	})
	return all
}

// wholeVariable is a variable as shells write it.
var wholeVariable = lazyregexp.New(`^\$[A-Z_][A-Z0-9_]*$`)

// file reads a path; relative ones start at the folder of the configuration.
func (e *entry) file(v hujson.Value, path string) string {
	before := len(e.unset)
	s := e.noReference(e.expand(e.text(v, path), v, path), v, path)
	if len(e.unset) > before {
		return "" // a part of the path is missing
	}
	if e.vars != nil && s != "" && !filepath.IsAbs(s) {
		s = filepath.Join(filepath.Dir(e.name), s)
	}
	return s
}

// transports are the names that clients use.
var transports = map[string]upstream.Transport{
	"stdio": upstream.Stdio, "local": upstream.Stdio, "sse": upstream.SSE,
	"http": upstream.HTTP, "streamablehttp": upstream.HTTP,
	"redmine": redmineType,
}

// transport reads the name of a transport, in each of its spellings.
func (e *entry) transport(v hujson.Value, path string) {
	name := e.text(v, path)
	t, ok := transports[strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name))]
	if !ok && v.Value.Kind() == '"' {
		e.fail(v.StartOffset, `%s is %.40q; want "stdio", "http", "sse" or "redmine"`, path, name)
	}
	e.server.Transport = t
}

func (e *entry) allow(v hujson.Value, path string) {
	e.server.Allow = append(e.server.Allow, e.texts(v, path)...)
}

func (e *entry) deny(v hujson.Value, path string) {
	e.server.Deny = append(e.server.Deny, e.texts(v, path)...)
}

// tools reads a list that is allowed, or an object: its arrays "allow" and
// "deny" are filters, and every object in it is a tool of FastMCP's tools block,
// also one that is called "allow".
func (e *entry) tools(v hujson.Value, path string) {
	if v.Value.Kind() == '[' {
		e.allow(v, path)
		return
	}
	e.members(v, path, func(m *hujson.ObjectMember) {
		switch p, k := path+"."+key(m), m.Value.Value.Kind(); {
		case k == '{':
			e.change(&e.server.Tools, m, p)
		case key(m) == "allow":
			e.allow(m.Value, p)
		case key(m) == "deny":
			e.deny(m.Value, p)
		case k == '[':
			e.unknown(m, path, []string{"allow", "deny"})
		default:
			e.fail(m.Value.StartOffset, `%s is %s; want an object that changes the tool, such as {"description": "…"}`, p, kind(m.Value))
		}
	})
}
