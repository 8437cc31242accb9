package gateway_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/audit"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/store"
)

// reported are the keys that a gateway does not apply by itself: how each is set, and
// what Start calls it.
var reported = map[string]struct {
	key      string
	set      func(*config.Config)
	security bool
}{
	"Config.Access": {"access", func(c *config.Config) { c.Access = &config.Access{Issuer: "https://login.example.com"} }, true},
	"Config.Audit":  {"audit", func(c *config.Config) { c.Audit = &audit.Options{} }, true},
	"Config.Limits": {"limits", func(c *config.Config) { c.Limits.PerServer.Concurrent = 1 }, true},
	"Profile.Token": {"token", func(c *config.Config) { c.Profiles = []config.Profile{{Name: "p", Token: strings.Repeat("t", 32)}} }, true},
	"Server.WithholdNew": {"newTools", func(c *config.Config) {
		c.Servers = []config.Server{{WithholdNew: true, Disabled: true}}
	}, true},
	"Config.Lock":   {"lock", func(c *config.Config) { c.Lock = true }, false},
	"Config.Output": {"output", func(c *config.Config) { c.Output.Lines = 9 }, false},
	"Server.Outputs": {"output", func(c *config.Config) {
		c.Servers = []config.Server{{Outputs: []config.OutputLimit{{Tools: "*", Chars: 9}}, Disabled: true}}
	}, false},
}

// A key on which security depends is applied, or the gateway is not opened; of the
// others there is a finding. A program that applies one itself says so.
func TestUnappliedKeys(t *testing.T) {
	for path, r := range reported {
		t.Run(path, func(t *testing.T) {
			cfg := new(config.Config)
			r.set(cfg)
			silent := gateway.Options{Logger: slog.New(slog.DiscardHandler)}
			findings, err := findingsOf(t, cfg, &silent)
			if named := err != nil && strings.Contains(err.Error(), `"`+r.key+`"`); named != r.security {
				t.Errorf("Start returns %v", err)
			}
			if !r.security && !strings.Contains(findings, `the key "`+r.key+`" has no effect`) {
				t.Errorf("findings: %s", findings)
			}
			applied := silent
			applied.Applied = []string{r.key}
			if findings, err := findingsOf(t, cfg, &applied); err != nil || strings.Contains(findings, "has no effect") {
				t.Errorf("applied by the program: %v %s", err, findings)
			}
			optional := silent
			optional.Store, optional.Pins = store.Memory(nil), &gateway.Pins{Shared: true}
			if findings, err := findingsOf(t, cfg, &optional); !slices.Contains([]string{"access", "audit", "limits", "token"}, r.key) && (err != nil || strings.Contains(findings, "has no effect")) {
				t.Errorf("applied by an option: %v %s", err, findings)
			}
		})
	}
	g, _ := open(t, new(config.Config))
	if err := g.Reload(t.Context(), &config.Config{Audit: &audit.Options{}}); err == nil || !strings.Contains(err.Error(), `"audit"`) {
		t.Errorf("Reload: %v", err)
	}
}

// findingsOf opens a gateway, and returns what it finds.
func findingsOf(t *testing.T, cfg *config.Config, opts *gateway.Options) (findings string, err error) {
	g, err := gateway.Start(t.Context(), cfg, opts)
	if err != nil {
		return "", err
	}
	g.WatchSnapshot(func(s *gateway.Snapshot) {
		for _, f := range s.Findings {
			findings += f.Message + "\n"
		}
	})()
	return findings, g.Close()
}

// Every key of the configuration is read by the package that applies it, or is reported.
func TestEveryKeyIsAppliedOrReported(t *testing.T) {
	w := &keyWalk{t: t, read: map[string]map[string]bool{}, seen: map[reflect.Type]bool{}}
	w.walk(reflect.TypeFor[config.Config]())
	if len(w.seen) < 10 {
		t.Errorf("only %d types are walked", len(w.seen))
	}
	for path := range reported {
		if !w.found[path] {
			t.Errorf("there is no key %s", path)
		}
	}
}

// appliedIn is the package that applies the fields of a type, by the package of the type,
// or by the type itself.
var appliedIn = map[string]string{
	"config": ".", "upstream": "../upstream", "config.Source": "../redmine",
	"config.Claims": "../internal/policy/approval", "config.ApprovalArgument": "../internal/policy/approval",
	"config.ToolChanges": "internal/retool", "config.ToolChange": "internal/retool", "config.ArgumentChange": "internal/retool",
}

// A keyWalk compares the fields of types with what packages read.
type keyWalk struct {
	t     *testing.T
	read  map[string]map[string]bool // the fields that a package reads, by its folder
	seen  map[reflect.Type]bool
	found map[string]bool
}

func (w *keyWalk) walk(of reflect.Type) {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice || of.Kind() == reflect.Map {
		of = of.Elem()
	}
	folder := appliedIn[filepath.Base(of.PkgPath())]
	if own := appliedIn["config."+of.Name()]; own != "" {
		folder = own
	}
	if of.Kind() != reflect.Struct || folder == "" || w.seen[of] {
		return
	}
	w.seen[of] = true
	for i := range of.NumField() {
		f := of.Field(i)
		path := of.Name() + "." + f.Name
		switch {
		case f.Anonymous:
			w.walk(f.Type)
		case !f.IsExported() || f.Type.Kind() == reflect.Func || path == "Config.Digest" || path == "Config.URLs": // no keys
		case path == "Server.EnvFile": // config.Load adds its variables to Env
		case path == "Server.Auth": // the option Credentials applies it, and nothing starts the server otherwise
		case reported[path].key != "":
			if w.found == nil {
				w.found = map[string]bool{}
			}
			w.found[path] = true
		case !w.fieldsRead(folder)[f.Name]:
			w.t.Errorf("nothing in %s reads %s: apply it, or report it in programKeys", folder, path)
		default:
			w.walk(f.Type)
		}
	}
}

// fieldsRead returns the names of the fields that the code of a package reads.
func (w *keyWalk) fieldsRead(folder string) map[string]bool {
	if w.read[folder] != nil {
		return w.read[folder]
	}
	names := map[string]bool{}
	w.read[folder] = names
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(files) == 0 {
		w.t.Fatal(folder, err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || file == "unapplied.go" {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			w.t.Fatal(err)
		}
		calls := map[ast.Expr]bool{}
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				calls[n.Fun] = true
			case *ast.SelectorExpr:
				names[n.Sel.Name] = names[n.Sel.Name] || !calls[n]
			}
			return true
		})
	}
	return names
}

// A server whose values refer to secrets does not get the references in their place.
func TestReferencesThatNothingReads(t *testing.T) {
	file := `{"mcpServers": {"it": {"url": "http://127.0.0.1:9/mcp", "headers": {"X-Key": "${file:/etc/key}"}}}}`
	cfg, err := config.Parse("toolpost.json", []byte(file), func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.Start(t.Context(), cfg, &gateway.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if err := g.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := g.Status()[0]; s.Err == nil || !strings.Contains(s.Err.Error(), "Options.Resolve") {
		t.Errorf("the server is %s: %v", s.State, s.Err)
	}
}
