package owner_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/owner"
	"github.com/toolpost/toolpost/internal/policy/approval"
)

const approvedFile = `{"mcpServers": {
	"run": {"command": "x", "args": ["-a"], "env": {"A": "1"}, "cwd": "sub", "envFile": "vars"},
	"web": {"url": "https://a.example/mcp", "headers": {"X": "1"}},
	"red": {"type": "redmine", "url": "https://r.example", "apiKey": "k"},
	"off": {"command": "y", "disabled": true}
}}`

// load loads a configuration from a new folder.
func load(t *testing.T, dir, text string) *config.Config {
	t.Helper()
	path := filepath.Join(dir, "toolpost.json")
	write(t, path, text)
	cfg, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// A change is a part of approvedFile in another form.
func TestGuard(t *testing.T) {
	tests := map[string]struct {
		old, new string
		waits    string // the server that waits; "" if the change is used at once
	}{
		"command":               {`"x"`, `"evil"`, "run"},
		"argument":              {`"-a"`, `"-b"`, "run"},
		"no arguments":          {`["-a"]`, `[]`, "run"},
		"variable":              {`"A": "1"`, `"A": "2"`, "run"},
		"another variable":      {`"A": "1"`, `"A": "1", "LD_PRELOAD": "evil"`, "run"},
		"folder":                {`"sub"`, `"other"`, "run"},
		"environment file":      {`"vars"`, `"evil"`, "run"},
		"address":               {`a.example`, `evil.example`, "web"},
		"header":                {`"X": "1"`, `"X": "2"`, "web"},
		"another header":        {`"X": "1"`, `"X": "1", "Y": "1"`, "web"},
		"login":                 {`"headers"`, `"auth": {}, "headers"`, "web"},
		"resource of tokens":    {`"headers"`, `"auth": {"resource": false}, "headers"`, "web"},
		"PKCE":                  {`"headers"`, `"auth": {"pkce": "S256"}, "headers"`, "web"},
		"login parameters":      {`"headers"`, `"auth": {"parameters": {"prompt": "none"}}, "headers"`, "web"},
		"transport":             {`"headers"`, `"type": "sse", "headers"`, "web"},
		"program for address":   {`"url": "https://a.example/mcp", "headers": {"X": "1"}`, `"command": "evil"`, "web"},
		"Redmine address":       {`r.example`, `evil.example`, "red"},
		"Redmine key":           {`"k"`, `"l"`, "red"},
		"Redmine user":          {`"k"`, `"k", "as": "admin"`, "red"},
		"enabled":               {`, "disabled": true`, ``, "off"},
		"new server":            {`"off": {`, `"new": {"command": "evil"}, "off": {`, "new"},
		"a copy, as a new name": {`"off": {`, `"new": {"url": "https://a.example/mcp", "headers": {"X": "1"}}, "off": {`, "new"},
		"another name":          {`"web"`, `"other"`, "other"},
		"unpinned":              {`"args"`, `"pins": false, "args"`, "run"},
		"new tools":             {`"args"`, `"newTools": "withhold", "args"`, "run"},
		"prefix":                {`"args"`, `"prefix": "p_", "args"`, ""},
		"filters":               {`"args"`, `"tools": {"allow": ["a"], "deny": ["b"]}, "args"`, ""},
		"description of a tool": {`"args"`, `"tools": {"get": {"description": "evil"}}, "args"`, "run"},
		"hidden argument":       {`"args"`, `"tools": {"get": {"arguments": {"to": {"hide": true, "default": "evil"}}}}, "args"`, "run"},
		"tools unchanged":       {`"args"`, `"tools": {}, "args"`, ""},
		"extensions":            {`"args"`, `"extensions": false, "args"`, ""},
		"outputs":               {`"args"`, `"output": {"a": false, "*": 5000}, "args"`, ""},
		"limits":                {`"args"`, `"timeout": "3s", "connectTimeout": "4s", "maxMessage": 9, "protocolVersion": "2025-06-18", "args"`, ""},
		"Redmine groups":        {`"k"`, `"k", "groups": ["issues"], "readOnly": true, "timeout": "5s"`, ""},
		"empty tables":          {`"headers"`, `"env": {}, "args": [], "headers"`, ""},
		"disabled":              {`"x"`, `"x", "disabled": true`, ""},
		"quiet":                 {`{"mcpServers"`, `{"quiet": ["a"], "name": "n", "mcpServers"`, ""},
		"removed":               {`"run": {"command": "x", "args": ["-a"], "env": {"A": "1"}, "cwd": "sub", "envFile": "vars"},`, ``, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "vars"), "B=1")
			write(t, filepath.Join(dir, "evil"), "B=2")
			before := load(t, dir, approvedFile)
			if strings.Count(approvedFile, tt.old) != 1 {
				t.Fatal("the change is not at one place")
			}
			next := load(t, dir, strings.Replace(approvedFile, tt.old, tt.new, 1))
			g := owner.NewGuard(before)
			got, waiting := g.Admit(before, next, "run this")
			if tt.waits == "" {
				if waiting != nil || !reflect.DeepEqual(got.Servers, next.Servers) {
					t.Errorf("%v waits", waiting)
				}
				return
			}
			if !cmp.Equal(waiting, []string{tt.waits}) {
				t.Errorf("waiting: %v, want %s", waiting, tt.waits)
			}
			wantHeld(t, tt.waits, before, got)
			g.Approve(next)
			if got, waiting := g.Admit(got, next, ""); waiting != nil || !reflect.DeepEqual(got.Servers, next.Servers) {
				t.Errorf("%v waits after the approval", waiting)
			}
			if _, waiting := g.Admit(next, before, ""); tt.waits != "off" && tt.waits != "new" && waiting == nil {
				t.Error("a definition that was replaced is still approved")
			}
		})
	}
}

// wantHeld checks that a server of cfg is as it was before, or does not run.
func wantHeld(t *testing.T, name string, before, cfg *config.Config) {
	t.Helper()
	find := func(c *config.Config) *config.Server {
		for i := range c.Servers {
			if c.Servers[i].Name == name {
				return &c.Servers[i]
			}
		}
		return nil
	}
	old, got := find(before), find(cfg)
	switch {
	case old == nil && (got.Err == nil || !strings.Contains(got.Err.Error(), "until you approve it; run this")):
		t.Errorf("a new server runs, or does not say why not: %v", got.Err)
	case old != nil && !reflect.DeepEqual(old, got):
		t.Errorf("got %+v, want %+v", got, old)
	case old != nil && (len(cfg.Findings) != 1 || !strings.Contains(cfg.Findings[0].Message, "run this")):
		t.Errorf("findings: %v", cfg.Findings)
	}
}

// The held server takes the settings of the new entry.
func TestGuardSettingsOfAHeldServer(t *testing.T) {
	dir := t.TempDir()
	before := load(t, dir, `{"mcpServers": {"a": {"command": "x"}}}`)
	next := load(t, dir, `{"mcpServers": {"a": {"command": "evil", "prefix": "p_", "timeout": "3s"}}}`)
	got, _ := owner.NewGuard(before).Admit(before, next, "")
	if s := got.Servers[0]; s.Command != "x" || *s.Prefix != "p_" || s.CallTimeout.Seconds() != 3 {
		t.Errorf("got %+v", s)
	}
}

// A server that waits, and is changed again, still waits as a new one.
func TestGuardNewServerTwice(t *testing.T) {
	dir := t.TempDir()
	before := load(t, dir, `{"mcpServers": {}}`)
	g := owner.NewGuard(before)
	first, _ := g.Admit(before, load(t, dir, `{"mcpServers": {"a": {"command": "evil"}}}`), "")
	second, waiting := g.Admit(first, load(t, dir, `{"mcpServers": {"a": {"command": "worse"}}}`), "")
	if len(waiting) != 1 || second.Servers[0].Err == nil || len(second.Findings) != 0 {
		t.Errorf("got %+v, findings %v", second.Servers[0], second.Findings)
	}
}

// An entry that became invalid shows what is wrong with it; nothing runs.
func TestGuardInvalidEntry(t *testing.T) {
	dir := t.TempDir()
	before := load(t, dir, `{"mcpServers": {"a": {"command": "x"}}}`)
	g := owner.NewGuard(before)
	broken := load(t, dir, `{"mcpServers": {"a": {"command": "${UNSET_FOR_THIS_TEST}"}}}`)
	got, waiting := g.Admit(before, broken, "")
	if waiting != nil || got.Servers[0].Err == nil || !strings.Contains(got.Servers[0].Err.Error(), "UNSET_FOR_THIS_TEST") {
		t.Errorf("got %+v, waiting %v", got.Servers[0], waiting)
	}
	got, waiting = g.Admit(got, load(t, dir, `{"mcpServers": {"a": {"command": "evil"}}}`), "run this")
	if len(waiting) != 1 || got.Servers[0].Err == nil {
		t.Errorf("got %+v", got.Servers[0])
	}
}

// TestGuardOfProfiles checks what of a changed profile applies at once: what takes
// something away, and what no client and no server notices as another tool.
func TestGuardOfProfiles(t *testing.T) {
	const approved = `"p": {"servers": ["a", "b"], "include": ["x*"], "exclude": ["y"], "clients": [{"name": "c"}]}`
	for name, tt := range map[string]struct {
		next string // the profiles
		want string // what is served of p, if something waits
	}{
		"nothing":          {next: approved},
		"fewer servers":    {next: `"p": {"servers": ["a"], "include": ["x*"], "exclude": ["y", "z"], "readOnly": true, "clients": [{"name": "c"}]}`},
		"other texts":      {next: `"p": {"servers": ["a", "b"], "include": ["x*"], "exclude": ["y"], "clients": [{"name": "c"}], "description": "d", "budget": 9, "pin": ["x"]}`},
		"removed":          {next: ``},
		"another server":   {`"p": {"servers": ["a", "c"], "include": ["x*"], "exclude": ["y"], "clients": [{"name": "c"}]}`, "[a b] [x*] [y]"},
		"all servers":      {`"p": {"include": ["x*"], "exclude": ["y"], "clients": [{"name": "c"}]}`, "[a b] [x*] [y]"},
		"another glob":     {`"p": {"servers": ["a"], "include": ["*"], "exclude": ["y", "z"], "clients": [{"name": "c"}]}`, "[a] [x*] [y z]"},
		"nothing excluded": {`"p": {"servers": ["a", "b"], "include": ["x*"], "clients": [{"name": "c"}]}`, "[a b] [x*] [y]"},
		"other clients":    {`"p": {"servers": ["a", "b"], "include": ["x*"], "exclude": ["y"], "clients": [{"name": "d"}]}`, "[a b] [x*] [y]"},
		"changed tools":    {`"p": {"servers": ["a", "b"], "include": ["x*"], "exclude": ["y"], "clients": [{"name": "c"}], "tools": {"x": {"description": "evil"}}}`, "[a b] [x*] [y]"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			before := load(t, dir, `{"mcpServers": {}, "profiles": {`+approved+`}}`)
			next := load(t, dir, `{"mcpServers": {}, "profiles": {`+tt.next+`}}`)
			g := owner.NewGuard(before)
			got, waiting := g.Admit(before, next, "run this")
			if tt.want == "" {
				if waiting != nil || !reflect.DeepEqual(got.Profiles, next.Profiles) {
					t.Errorf("%v waits", waiting)
				}
				return
			}
			p := got.Profiles[0]
			if is := fmt.Sprint(p.Servers, p.Include, p.Exclude); is != tt.want || !cmp.Equal(waiting, []string{"profile p"}) || !p.Tools.IsZero() || p.Clients[0].Name != "c" || len(got.Findings) != 1 {
				t.Errorf("it serves %s of %+v, waiting %v, findings %v", is, p, waiting, got.Findings)
			}
			g.Approve(next)
			if got, waiting = g.Admit(got, next, ""); waiting != nil || !reflect.DeepEqual(got.Profiles, next.Profiles) {
				t.Errorf("%v waits after the approval", waiting)
			}
		})
	}
	dir := t.TempDir()
	before := load(t, dir, `{"mcpServers": {}}`)
	got, waiting := owner.NewGuard(before).Admit(before, load(t, dir, `{"mcpServers": {}, "profiles": {`+approved+`}}`), "run this")
	if p := got.Profiles[0]; p.Err == nil || p.Clients != nil || !cmp.Equal(waiting, []string{"profile p"}) {
		t.Errorf("a new profile is served: %+v, waiting %v", p, waiting)
	}
}

const tokenFile = `{"mcpServers": {"a": {"command": "x"}}, "profiles": {"p": {"servers": ["a"], "token": "${T}"}}}`

// A token that a changed file adds waits for an approval; the rest applies.
func TestGuardTokens(t *testing.T) {
	before, err := config.Parse("toolpost.json", []byte(tokenFile), func(string) (string, bool) { return strings.Repeat("t", 40), true })
	if err != nil {
		t.Fatal(err)
	}
	after, err := config.Parse("toolpost.json", []byte(strings.Replace(tokenFile, `"p": {"servers"`, `"q": {"token": "`+strings.Repeat("q", 40)+`"}, "p": {"servers"`, 1)), func(string) (string, bool) { return strings.Repeat("t", 40), true })
	if err != nil {
		t.Fatal(err)
	}
	g := owner.NewGuard(before)
	admitted, waiting := g.Admit(before, after, "run it")
	if !slices.Equal(waiting, []string{"profile q"}) || admitted.Profiles[0].Token != "" || admitted.Profiles[1].Token == "" || after.Profiles[0].Token == "" {
		t.Errorf("waiting: %q, %+v", waiting, admitted.Profiles)
	}
	g.Approve(after)
	if admitted, waiting = g.Admit(before, after, "run it"); waiting != nil || admitted.Profiles[0].Token == "" {
		t.Errorf("after the approval: %q, %+v", waiting, admitted.Profiles)
	}
}

// While serve runs, a changed file can make rules stricter at once. What may loosen
// them waits: until then, the old rules hold beside the new ones.
func TestGuardOfApprovals(t *testing.T) {
	const before = `[{"action": "deny", "tools": ["rm"]}, {"action": "ask", "tools": ["push"]}]`
	for name, tt := range map[string]struct {
		rules string
		waits bool
	}{
		"the same":                 {before, false},
		"one more denial":          {`[{"action": "deny", "tools": ["x"]}, {"action": "deny", "tools": ["rm"]}, {"action": "ask", "tools": ["push"]}]`, false},
		"none":                     {`[]`, true},
		"one less":                 {`[{"action": "deny", "tools": ["rm"]}]`, true},
		"an exception":             {`[{"action": "allow", "arguments": {"p": "x"}}, {"action": "deny", "tools": ["rm"]}, {"action": "ask", "tools": ["push"]}]`, true},
		"a question before denial": {`[{"action": "ask"}, {"action": "deny", "tools": ["rm"]}, {"action": "ask", "tools": ["push"]}]`, true},
		"less is denied":           {`[{"action": "deny", "tools": ["rm"], "servers": ["a"]}, {"action": "ask", "tools": ["push"]}]`, true},
	} {
		for _, place := range []string{"approvals", "profiles.p.approvals"} {
			dir := t.TempDir()
			file := func(rules string) *config.Config {
				if place == "approvals" {
					return load(t, dir, `{"mcpServers": {}, "approvals": `+rules+`}`)
				}
				return load(t, dir, `{"mcpServers": {}, "profiles": {"p": {"approvals": `+rules+`}}}`)
			}
			old := file(before)
			g := owner.NewGuard(old)
			next := file(tt.rules)
			got, waiting := g.Admit(old, next, "run it")
			lists := got.Approvals
			if place != "approvals" {
				lists = got.Profiles[0].Approvals
			}
			p, err := approval.Compile(approvalLists(lists))
			if err != nil {
				t.Fatal(err)
			}
			for tool, want := range map[string]approval.Action{"rm": "deny", "push": "ask"} {
				if d := p.Decide(t.Context(), approval.Target{Server: "s", Tool: tool}, []byte(`{"p":"x"}`)); d.Action != want {
					t.Errorf("%s, %s: %s is %v", name, place, tool, d)
				}
			}
			if (len(waiting) == 1 && waiting[0] == place) != tt.waits || len(waiting) > 1 || (len(got.Findings) > 0) != tt.waits {
				t.Errorf("%s, %s: waiting %q, findings %v", name, place, waiting, got.Findings)
			}
			g.Approve(next)
			if got, waiting := g.Admit(old, next, ""); len(waiting) > 0 || !reflect.DeepEqual(got.Approvals, next.Approvals) {
				t.Errorf("%s, %s: after the approval: waiting %q", name, place, waiting)
			}
		}
	}
	old := load(t, t.TempDir(), `{"mcpServers": {}}`)
	if _, waiting := owner.NewGuard(old).Admit(old, load(t, t.TempDir(), `{"mcpServers": {}, "approvals": `+before+`}`), ""); len(waiting) > 0 {
		t.Errorf("the first rules wait: %q", waiting)
	}
}

// approvalLists returns rules as package approval has them.
func approvalLists(lists []config.ApprovalList) (all []approval.List) {
	for _, l := range lists {
		list := approval.List{Name: l.Name}
		for _, r := range l.Rules {
			one := approval.Rule{Action: approval.Action(r.Action), Tools: r.Tools, Servers: r.Servers}
			for _, a := range r.Arguments {
				one.Arguments = append(one.Arguments, approval.Argument(a))
			}
			list.Rules = append(list.Rules, one)
		}
		all = append(all, list)
	}
	return all
}

// TestSettingsAreThoseThatApplyAtOnce compares the table with the guard, for the keys of
// a server whose values can be made up.
func TestSettingsAreThoseThatApplyAtOnce(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	_, row, _ := strings.Cut(string(doc), "\n| one server | ")
	atOnce, rest, _ := strings.Cut(row, " | ")
	waits, _, _ := strings.Cut(rest, " | ")
	values := map[string]string{
		"connectTimeout": `"1s"`, "disabledTools": `["a"]`, "enabledTools": `["a"]`, "extensions": `false`, "limits": `{"rate": "1/s"}`, "maxMessage": `9`, "output": `false`,
		"prefix": `"p"`, "protocolVersion": `"2025-06-18"`, "required": `true`, "timeout": `"1s"`,
		"args": `["a"]`, "cwd": `"x"`, "env": `{"A": "b"}`, "exclude_tags": `["a"]`, "include_tags": `["a"]`, "newTools": `"withhold"`,
		"pins": `false`, "share": `"per-client"`, "tools": `{"get": {"description": "d"}}`,
	}
	before, err := config.Parse("toolpost.json", []byte(`{"mcpServers": {"s": {"command": "x"}}}`), os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range values {
		next, err := config.Parse("toolpost.json", []byte(`{"mcpServers": {"s": {"command": "x", "`+name+`": `+value+`}}}`), os.LookupEnv)
		if err != nil {
			t.Fatal(err)
		}
		_, waiting := owner.NewGuard(before).Admit(before, next, "")
		if is := strings.Contains(waits, "`"+name+"`"); is != (waiting != nil) || is == strings.Contains(atOnce, "`"+name+"`") {
			t.Errorf("%s waits: %v, in the table: %v", name, waiting != nil, is)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
