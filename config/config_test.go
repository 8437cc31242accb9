package config_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/redmine"
	"github.com/toolpost/toolpost/schema/dialect"
	"golang.org/x/tools/txtar"
)

var update = os.Getenv("TOOLPOST_UPDATE") != "" // "make update" rewrites testdata

// golden runs f for every txtar file of the folder, and compares what it
// returns with the file's part called want.
func golden(t *testing.T, folder string, f func(t *testing.T, a *txtar.Archive) string) {
	paths, err := filepath.Glob(filepath.Join("testdata", folder, "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files in %s: %v", folder, err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got := f(t, a)
			if update {
				rest := a.Files[:0:0]
				for _, part := range a.Files {
					if part.Name != "want" {
						rest = append(rest, part)
					}
				}
				a.Files = append(rest, txtar.File{Name: "want", Data: []byte(got)})
				if err := os.WriteFile(path, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(part(a, "want"), got); diff != "" {
				t.Errorf("want -, got +\n%s", diff)
			}
		})
	}
}

func part(a *txtar.Archive, name string) string {
	for _, f := range a.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

func lookup(env string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for line := range strings.Lines(env) {
			if k, v, _ := strings.Cut(strings.TrimSpace(line), "="); k == name {
				return v, true
			}
		}
		return "", false
	}
}

// builtIn is the list of dialects in an error, which grows.
var builtIn = regexp.MustCompile(`the dialects are [a-z0-9., -]*claude-desktop[a-z0-9., -]*`)

func TestParse(t *testing.T) {
	golden(t, "config", func(t *testing.T, a *txtar.Archive) string {
		var name string
		for _, f := range a.Files {
			if strings.HasSuffix(f.Name, ".json") {
				name = f.Name
			}
		}
		cfg, err := config.Parse(name, []byte(part(a, name)), lookup(part(a, "env")))
		if err == nil {
			return describe(t, cfg)
		}
		var typed *config.Error
		if !errors.As(err, &typed) || cfg != nil {
			t.Errorf("got %v and %T, want nil and a Error", cfg, err)
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the error tells a value of the file: %v", err)
		}
		return "error:\n" + builtIn.ReplaceAllString(err.Error(), "the dialects are …") + "\n"
	})
}

// describe writes cfg as a test compares it.
func describe(t *testing.T, cfg *config.Config) string {
	var b bytes.Buffer
	for _, s := range cfg.Servers {
		if s.Err != nil {
			fmt.Fprintf(&b, "%s: error: %v\n", s.Name, s.Err)
			if strings.Contains(s.Err.Error(), "literal-secret") {
				t.Errorf("the error tells a value of the file: %v", s.Err)
			}
			continue
		}
		fmt.Fprintf(&b, "%s:\n", s.Name)
		line := func(name string, v any) {
			if raw, _ := json.Marshal(v); !strings.Contains(`"" null [] {} false 0`, string(raw)) {
				fmt.Fprintf(&b, "  %s %s\n", name, raw)
			}
		}
		line("command", s.Command)
		line("args", s.Args)
		line("env", s.Env)
		line("dir", s.Dir)
		line("url", s.URL)
		line("headers", s.Headers)
		line("transport", s.Transport)
		if r := s.Source; r != nil {
			line("redmine", []any{r.URL, r.Key, r.User, r.Password, r.Token, r.As, r.Groups, r.ReadOnly, r.Anonymous, r.Timeout})
		}
		line("protocolVersion", s.ProtocolVersion)
		line("maxMessage", s.MaxMessage)
		if s.CallTimeout+s.ConnectTimeout > 0 {
			fmt.Fprintf(&b, "  call %v, connect %v\n", s.CallTimeout, s.ConnectTimeout)
		}
		line("disabled", s.Disabled)
		if s.Prefix != nil {
			fmt.Fprintf(&b, "  prefix %q\n", *s.Prefix)
		}
		line("allow", s.Allow)
		line("deny", s.Deny)
	}
	if cfg.Quiet != nil {
		fmt.Fprintf(&b, "quiet %q\n", cfg.Quiet)
	}
	if cfg.Dialect != "" {
		fmt.Fprintf(&b, "dialect %q\n", cfg.Dialect)
	}
	if cfg.Dialects != nil {
		for _, d := range cfg.Dialects.All() {
			if known, err := dialect.Find(d.ID); err != nil || !cmp.Equal(d, known, private) {
				name, text := longest(d)
				fmt.Fprintf(&b, "dialects %s: names of %d, descriptions of %d\n", d.ID, name, text)
			}
		}
	}
	for _, f := range cfg.Findings {
		fmt.Fprintf(&b, "finding: %s\n", f.Message)
	}
	return b.String()
}

// private compares private fields too, except functions.
var private = cmp.Options{
	cmp.Exporter(func(reflect.Type) bool { return true }),
	cmp.FilterPath(func(p cmp.Path) bool { return p.Last().Type().Kind() == reflect.Func }, cmp.Ignore()),
}

// longest returns how much of a name and of a description of 64 characters each is left in a
// dialect.
func longest(d *dialect.Dialect) (name, text int) {
	long := strings.Repeat("a", 64)
	t := d.Adapt([]*toolpost.Tool{toolpost.New(long, long, func(context.Context, struct{}) (string, error) { return "", nil }, nil)}, nil).Tools[0]
	return utf8.RuneCountInString(t.Name), utf8.RuneCountInString(t.Description)
}

func TestParseConfigNotUTF8(t *testing.T) {
	_, err := config.Parse("toolpost.json", []byte("\xff\xfe{\x00}\x00"), lookup(""))
	if err == nil || !strings.Contains(err.Error(), "save it as UTF-8") {
		t.Errorf("got %v", err)
	}
	cfg, err := config.Parse("toolpost.json", []byte("\ufeff"+`{"mcpServers": {"a": {"command": "b"}}}`), lookup(""))
	if err != nil || len(cfg.Servers) != 1 {
		t.Errorf("with a byte order mark: got %v, %v", cfg, err)
	}
}

func TestParseConfigTooDeep(t *testing.T) {
	_, err := config.Parse("toolpost.json", bytes.Repeat([]byte(`{"a":[`), 1e5), lookup(""))
	if err == nil || !strings.HasPrefix(err.Error(), "toolpost.json:1:") || !strings.Contains(err.Error(), "deep") {
		t.Errorf("got %v", err)
	}
	inString := `{"mcpServers": {"a": {"command": "\"` + strings.Repeat("[", 1e5) + `"}}}`
	if _, err := config.Parse("toolpost.json", []byte(inString), lookup("")); err != nil {
		t.Errorf("brackets in a string: got %v", err)
	}
}

// A hostile file of 4 MiB is refused, or read, at once: its cost does not grow
// with the square of its length.
func TestParseConfigMuch(t *testing.T) {
	var servers strings.Builder
	for i := range 140_000 {
		fmt.Fprintf(&servers, `"s%d":{"command":"x"},`, i)
	}
	tests := map[string]struct{ text, want string }{
		"servers":         {`{"mcpServers": {` + servers.String() + `}}`, "more than 1000 servers"},
		"unset variables": {`{"mcpServers": {"a": {"command": "x", "args": ["` + strings.Repeat("${X}", 900_000) + `"]}}}`, ""},
		"inputs":          {`{"mcpServers": {}, "inputs": [` + strings.Repeat(`{"id":"a"},`, 300_000) + `]}`, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			cfg, err := config.Parse("toolpost.json", []byte(tt.text), lookup(""))
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Fatalf("%v, want %q", err, tt.want)
			}
			if cfg != nil && len(cfg.Findings) > 100 {
				t.Errorf("%d findings", len(cfg.Findings))
			}
		})
	}
}

// However many mistakes there are before it, an invalid entry is never started.
func TestInvalidEntryAfterManyMistakes(t *testing.T) {
	text := `{"mcpServers": {` + strings.Repeat(`"a": {"command": "x"},`, 200) + `"b": {"comand": "x", "command": "y"}}}`
	cfg, err := config.Parse("toolpost.json", []byte(text), lookup(""))
	if err != nil || len(cfg.Servers) != 2 || cfg.Servers[1].Err == nil {
		t.Fatalf("got %+v, %v", cfg, err)
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, ".env"), "# keys\nexport A=one # first\nB='two words'\nC=\"kept = too\"\nnot a line\n")
	path := filepath.Join(dir, "toolpost.json")
	write(t, path, `{"mcpServers": {
		"a": {"command": "x", "envFile": ".env", "env": {"B": "mine"}, "cwd": "sub"},
		"b": {"command": "x", "envFile": "${workspaceFolder}/none"}}}`)
	cfg, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"A": "one", "B": "mine", "C": "kept = too"}, cfg.Servers[0].Env); diff != "" {
		t.Error(diff)
	}
	if want := filepath.Join(dir, "sub"); cfg.Servers[0].Dir != want {
		t.Errorf("got %s, want %s", cfg.Servers[0].Dir, want)
	}
	if err := cfg.Servers[1].Err; !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "envFile of b") {
		t.Errorf("got %v", err)
	}
}

func TestLoadConfigMissing(t *testing.T) {
	dir := t.TempDir()
	_, err := config.Load(filepath.Join(dir, "toolpost.json"))
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "toolpost import") {
		t.Errorf("got %v", err)
	}
	if _, err = config.Load(dir); err == nil || !strings.Contains(err.Error(), "is not a file") {
		t.Errorf("a folder: got %v", err)
	}
	big := filepath.Join(dir, "big.json")
	write(t, big, strings.Repeat(" ", 5<<20))
	if _, err = config.Load(big); err == nil || !strings.Contains(err.Error(), "larger") {
		t.Errorf("a large file: got %v", err)
	}
}

func TestFromURLs(t *testing.T) {
	cfg, err := config.FromURLs(" http://body-cli:8000/sse, http://10.0.0.7:8001/sse,,https://example.com/mcp,http://body-cli:8000/other/sse")
	if err != nil {
		t.Fatal(err)
	}
	want := `body-cli-8000:
  url "http://body-cli:8000/sse"
  transport "sse"
  prefix ""
10-0-0-7-8001:
  url "http://10.0.0.7:8001/sse"
  transport "sse"
  prefix ""
example-com:
  url "https://example.com/mcp"
  prefix ""
body-cli-8000_2:
  url "http://body-cli:8000/other/sse"
  transport "sse"
  prefix ""
quiet ["get_comments"]
`
	if diff := cmp.Diff(want, describe(t, cfg)); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{"", " , ", "http://a/sse,hunter2", "http://a/sse,ftp://hunter2/"} {
		if _, err := config.FromURLs(bad); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: got %v", bad, err)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func FuzzParse(f *testing.F) {
	paths, _ := filepath.Glob("testdata/config/*.txtar")
	for _, path := range paths {
		a, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, part := range a.Files {
			if strings.HasSuffix(part.Name, ".json") {
				f.Add(part.Data)
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		cfg, err := config.Parse("toolpost.json", data, lookup("A=1"))
		var typed *config.Error
		switch {
		case err == nil:
			for _, s := range cfg.Servers {
				if s.Err == nil && (s.Command == "") == (s.URL == "") && !strings.Contains(string(data), "${") {
					t.Errorf("server %q has command %q and url %q", s.Name, s.Command, s.URL)
				}
			}
		case !errors.As(err, &typed) || len(typed.Problems) == 0:
			t.Errorf("got %T: %v", err, err)
		default:
			lines := strings.Split(strings.TrimPrefix(string(data), "\ufeff"), "\n")
			for _, p := range typed.Problems {
				if p.Line < 1 || p.Line > len(lines) || p.Column < 1 || p.Column > len([]rune(lines[p.Line-1]))+1 {
					t.Errorf("no such place: %+v", p)
				}
			}
		}
	})
}

func ExampleParse() {
	cfg, err := config.Parse("toolpost.json", []byte(`{
  "mcpServers": {
    "github": {
      "comand": "npx"
    }
  }
}`), os.LookupEnv)
	fmt.Println(err)
	fmt.Println(cfg.Servers[0].Err) // the other servers start
	// Output:
	// <nil>
	// toolpost.json:4:7: unknown key "comand" in mcpServers.github; did you mean "command"?
}

// TestGroupsOfRedmine checks that the groups of tools that a file may name are those that
// there are.
func TestGroupsOfRedmine(t *testing.T) {
	if got, want := config.RedmineGroups, redmine.Groups(); !slices.Equal(got, want) {
		t.Errorf("the groups are %q, want %q", got, want)
	}
}
