package gateway_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dialect"
	"github.com/toolpost/toolpost/gateway"
)

const longName = "a_tool_with_a_long_name"

// parse reads a toolpost.json.
func parse(t *testing.T, text string) *gateway.Config {
	t.Helper()
	cfg, err := gateway.ParseConfig("toolpost.json", []byte(text), lookup(""))
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// short is a configuration with a dialect whose names are short, and the
// client of that name that gets it.
const short = `{"mcpServers": {}, "dialects": {"short": {"extends": "mcp", "name": {"max": 15}, "clients": [{"name": "shorty"}]}}}`

// A viewed is a toolset behind views.
type viewed struct {
	*gateway.Views
	live    *toolpost.Live
	mu      sync.Mutex
	tools   toolpost.Tools
	reports map[string]int // of a dialect's id
}

func (v *viewed) set(t *testing.T, names ...string) {
	t.Helper()
	v.mu.Lock()
	v.tools = nil
	for _, name := range names {
		v.tools = append(v.tools, tool(name, "called"))
	}
	v.mu.Unlock()
	if err := v.live.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func newViewed(t *testing.T, cfg *gateway.Config, id string) *viewed {
	t.Helper()
	v := &viewed{reports: map[string]int{}}
	live, err := toolpost.NewLive(t.Context(), toolpost.ToolsetFunc(func(context.Context) ([]*toolpost.Tool, error) {
		v.mu.Lock()
		defer v.mu.Unlock()
		return v.tools, nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	v.live = live
	v.set(t, longName, "b")
	v.Views, err = gateway.NewViews(live, cfg, &gateway.ViewOptions{Dialect: id, Report: func(a *dialect.Adapted) {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.reports[a.Dialect.ID]++
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	})
	return v
}

// seen returns the names that a client sees, after each was called.
func (v *viewed) seen(t *testing.T, r gateway.Reader) []string {
	t.Helper()
	live, err := v.View(r)
	if err != nil {
		t.Fatalf("%+v: %v", r, err)
	}
	var names, answers []string
	tools, _ := live.Set().Tools(t.Context()) // a Set never fails
	for _, tool := range tools {
		text, err := live.Set().CallText(t.Context(), tool.Name, nil)
		if err != nil {
			t.Error(err)
		}
		names, answers = append(names, tool.Name), append(answers, text)
	}
	originals, _ := v.live.Set().Tools(t.Context())
	for i, o := range originals {
		if i >= len(answers) || answers[i] != "called "+o.Name {
			t.Errorf("%+v: %s is called as %q", r, o.Name, answers)
		}
	}
	return names
}

func isShort(names []string) bool {
	return len(names) == 2 && names[0] != longName && len(names[0]) <= 15 && names[1] == "b"
}

func TestViews(t *testing.T) {
	v := newViewed(t, parse(t, short), "")
	first, err := v.View(gateway.Reader{Name: "shorty", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	second, err := v.View(gateway.Reader{Name: "stranger", View: "short"})
	if err != nil || first != second {
		t.Errorf("one dialect has two views: %v", err)
	}
	if got := v.seen(t, gateway.Reader{Name: "shorty"}); !isShort(got) {
		t.Errorf("a client of the dialect sees %q", got)
	}
	if v.reports["short"] != 1 {
		t.Errorf("the dialect was reported %d times", v.reports["short"])
	}
	for _, r := range []gateway.Reader{{}, {Name: "stranger"}, {Name: "shorty", View: "mcp"}, {Name: "shorty", View: gateway.NoDialect}} {
		if got := v.seen(t, r); !slices.Equal(got, []string{longName, "b"}) {
			t.Errorf("%+v sees %q", r, got)
		}
	}
	stranger, _ := v.View(gateway.Reader{Name: "stranger"})
	if stranger.Set().Lookup("b") != v.live.Set().Lookup("b") {
		t.Error("a tool that needs no adapting is another for a stranger")
	}
	if live, _ := v.View(gateway.Reader{View: gateway.NoDialect}); live != v.live {
		t.Error("no dialect is another toolset")
	}
	_, err = v.View(gateway.Reader{View: "shorter"})
	for _, want := range []string{"shorter", "short", "claude-desktop", gateway.NoDialect} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a dialect that there is not: %v, want %q in it", err, want)
		}
	}
	huge := strings.Repeat("x", 5000)
	if got := v.seen(t, gateway.Reader{Name: huge, UserAgent: huge}); got[0] != longName {
		t.Errorf("a client with a huge name sees %q", got)
	}
}

func TestViewsFollow(t *testing.T) {
	v := newViewed(t, parse(t, short), "")
	shorty := gateway.Reader{Name: "shorty"}
	live, err := v.View(shorty)
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	defer live.Watch(func(*toolpost.Set) { told++ })()
	v.set(t, "another_tool_with_a_long_name", "b")
	if got := v.seen(t, shorty); !isShort(got) || told != 2 {
		t.Errorf("after a change: %q, told %d times", got, told)
	}

	// Another configuration: the view of the same dialect is another.
	longer := parse(t, strings.Replace(short, "15", "50", 1))
	if err := v.Configure(longer); err != nil {
		t.Fatal(err)
	}
	v.set(t, longName, "b")
	if got := v.seen(t, shorty); got[0] != longName {
		t.Errorf("after names may be longer: %q", got)
	}
	if same, _ := v.View(shorty); same != live || told != 3 {
		t.Errorf("who has the view was told %d times, want 3", told)
	}

	// Without the dialect, its client is a stranger, and its address is none.
	if err := v.Configure(&gateway.Config{}); err != nil {
		t.Fatal(err)
	}
	v.set(t, longName, "b")
	if got := v.seen(t, shorty); got[0] != longName {
		t.Errorf("without its dialect: %q", got)
	}
	if _, err := v.View(gateway.Reader{View: "short"}); err == nil {
		t.Error("a dialect that is gone still has a view")
	}
	if err := v.Configure(parse(t, short)); err != nil {
		t.Fatal(err)
	}
	if got := v.seen(t, shorty); !isShort(got) {
		t.Errorf("with its dialect again: %q", got)
	}
}

func TestOneDialectForAll(t *testing.T) {
	all := strings.Replace(short, "{", `{"dialect": "short", `, 1)
	for _, tt := range []struct {
		name, config, option string
		reader               gateway.Reader
		short                bool
	}{
		{"configuration", all, "", gateway.Reader{Name: "stranger"}, true},
		{"option before configuration", all, gateway.NoDialect, gateway.Reader{Name: "shorty"}, false},
		{"option before client", short, "short", gateway.Reader{Name: "stranger"}, true},
		{"address before option", short, "mcp", gateway.Reader{View: "short"}, true},
		{"address before configuration", all, "", gateway.Reader{View: "mcp"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := newViewed(t, parse(t, tt.config), tt.option).seen(t, tt.reader); isShort(got) != tt.short {
				t.Errorf("got %q", got)
			}
		})
	}
	if _, err := gateway.NewViews(newViewed(t, nil, "").live, nil, &gateway.ViewOptions{Dialect: "short"}); err == nil {
		t.Error("a dialect that there is not is taken")
	}
}

// Clients come while tools and the configuration change.
func TestViewsTogether(t *testing.T) {
	v := newViewed(t, parse(t, short), "")
	var wg sync.WaitGroup
	for _, name := range []string{"shorty", "stranger", "claude-ai", "cursor"} {
		wg.Go(func() {
			for range 20 {
				live, err := v.View(gateway.Reader{Name: name})
				if err != nil {
					t.Error(err)
					return
				}
				if tools, _ := live.Set().Tools(t.Context()); len(tools) != 2 {
					t.Errorf("%s sees %d tools", name, len(tools))
				}
			}
		})
	}
	wg.Go(func() {
		for range 20 {
			v.set(t, longName, "b")
		}
	})
	longer := parse(t, strings.Replace(short, "15", "50", 1))
	for range 20 {
		if err := v.Configure(longer); err != nil {
			t.Error(err)
		}
	}
	wg.Wait()
	v.set(t, longName, "b")
	if got := v.seen(t, gateway.Reader{Name: "shorty"}); got[0] != longName {
		t.Errorf("in the end: %q", got)
	}
}

// The gateway's views follow a reload.
func TestReloadOfDialects(t *testing.T) {
	cfg := prefixed(servers("a", "x"), "")
	g, f := open(t, cfg)
	f.last("a").connect(longName)
	if err := g.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	view := func() string {
		t.Helper()
		live, err := g.Views().View(gateway.Reader{Name: "shorty"})
		if err != nil {
			t.Fatal(err)
		}
		tools, _ := live.Set().Tools(t.Context())
		return tools[0].Name
	}
	if got := view(); got != longName {
		t.Errorf("got %q", got)
	}
	changed := *cfg
	changed.Dialects = parse(t, short).Dialects
	if err := g.Reload(t.Context(), &changed); err != nil {
		t.Fatal(err)
	}
	if got := view(); got == longName || len(got) > 15 {
		t.Errorf("after the reload: %q", got)
	}
	wrong := changed
	wrong.Dialect, wrong.Servers = "nowhere", nil
	if err := g.Reload(t.Context(), &wrong); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("a dialect that there is not: %v", err)
	}
	if got := view(); got == longName || f.last("a").isClosed() {
		t.Errorf("after a wrong reload: %q", got)
	}
	if f.count() != 1 {
		t.Errorf("dialects restarted a server: %d starts", f.count())
	}
}

// BenchmarkView is what choosing a dialect adds to each request.
func BenchmarkView(b *testing.B) {
	live, err := toolpost.NewLive(b.Context(), toolpost.Tools{tool("a", "called")})
	if err != nil {
		b.Fatal(err)
	}
	v, err := gateway.NewViews(live, nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer v.Close()
	r := gateway.Reader{Name: "claude-code", Version: "2.1.197", UserAgent: "claude-code/2.1.197 (cli)"}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := v.View(r); err != nil {
			b.Fatal(err)
		}
	}
}
