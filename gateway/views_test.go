package gateway_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/observe"
	"github.com/toolpost/toolpost/schema/dialect"
)

const longName = "a_tool_with_a_long_name"

// parse reads a toolpost.json.
func parse(t *testing.T, text string) *config.Config {
	t.Helper()
	cfg, err := config.Parse("toolpost.json", []byte(text), noVariables)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// short is a configuration with a dialect whose names are short, and the
// client of that name that gets it.
const clipClaim = `{"mcpServers": {}, "dialects": {"short": {"extends": "mcp", "name": {"max": 15}, "clients": [{"name": "shorty"}]}}}`

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
	if v.Views != nil {
		v.Refresh()
	}
}

func newViewed(t *testing.T, cfg *config.Config, id string) *viewed {
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
	v.Views, err = gateway.NewViews(live, cfg, &gateway.Options{Dialect: id, Adapted: func(a *dialect.Adapted) {
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
func (v *viewed) seen(t *testing.T, r observe.Client) []string {
	t.Helper()
	live, err := v.View(r)
	if err != nil {
		t.Fatalf("%+v: %v", r, err)
	}
	var names, answers []string
	tools, _ := live.Set().Tools(t.Context()) // a Set never fails
	for _, tool := range tools {
		text, err := live.CallText(t.Context(), tool.Name, nil)
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
	v := newViewed(t, parse(t, clipClaim), "")
	first, err := v.View(observe.Client{Name: "shorty", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	second, err := v.View(observe.Client{Name: "stranger", View: "short"})
	if err != nil || first != second {
		t.Errorf("one dialect has two views: %v", err)
	}
	if got := v.seen(t, observe.Client{Name: "shorty"}); !isShort(got) {
		t.Errorf("a client of the dialect sees %q", got)
	}
	if v.reports["short"] != 1 {
		t.Errorf("the dialect was reported %d times", v.reports["short"])
	}
	for _, r := range []observe.Client{{}, {Name: "stranger"}, {Name: "shorty", View: "mcp"}, {Name: "shorty", View: "none"}} {
		if got := v.seen(t, r); !slices.Equal(got, []string{longName, "b"}) {
			t.Errorf("%+v sees %q", r, got)
		}
	}
	stranger, _ := v.View(observe.Client{Name: "stranger"})
	if stranger.Lookup("b").Input != v.live.Lookup("b").Input {
		t.Error("a schema that needs no adapting is another for a stranger")
	}
	if live, _ := v.View(observe.Client{View: "none"}); live != v.live {
		t.Error("no dialect is another toolset")
	}
	huge := strings.Repeat("x", 5e5)
	for _, c := range []struct {
		view string
		want []string
	}{
		{"Shorter", []string{`"Shorter"`, `did you mean "short"?`}},
		{"None", []string{`did you mean "none"?`}},
		{"something", []string{`"something"`, "claude-desktop, ", "short, ", `"none" adapts nothing`}},
		{huge, []string{"xxx"}},
	} {
		_, err = v.View(observe.Client{View: c.view})
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 1000 {
				t.Errorf("a dialect that there is not: %.2000v, want %q in it", err, want)
			}
		}
	}
}

// What a client claims counts as far as it is of a length that one may have.
func TestHugeClaims(t *testing.T) {
	huge := strings.Repeat("x", 5e5)
	v := newViewed(t, parse(t, `{"mcpServers": {}, "dialects": {"short": {"extends": "mcp", "name": {"max": 15},
		"clients": [{"name": "x{1,256}"}, {"userAgent": "x{1,256}"}, {"name": "y", "since": "1"}]}}}`), "")
	for _, r := range []observe.Client{{Name: huge}, {UserAgent: huge}, {Name: "y", Version: strings.Repeat("1", 5e5)}} {
		if got := v.seen(t, r); !isShort(got) {
			t.Errorf("%.20s %.20s %.20s: sees %q", r.Name, r.Version, r.UserAgent, got)
		}
	}
}

func TestViewsFollow(t *testing.T) {
	v := newViewed(t, parse(t, clipClaim), "")
	shorty := observe.Client{Name: "shorty"}
	live, err := v.View(shorty)
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	defer live.Watch(func(toolpost.Event) { told++ })()
	v.set(t, "another_tool_with_a_long_name", "b")
	if got := v.seen(t, shorty); !isShort(got) || told != 1 {
		t.Errorf("after a change: %q, told %d times", got, told)
	}

	// Another configuration: the view of the same dialect is another.
	longer := parse(t, strings.Replace(clipClaim, "15", "50", 1))
	if err := v.Configure(longer); err != nil {
		t.Fatal(err)
	}
	v.set(t, longName, "b")
	if got := v.seen(t, shorty); got[0] != longName {
		t.Errorf("after names may be longer: %q", got)
	}
	if same, _ := v.View(shorty); same != live || told != 2 {
		t.Errorf("who has the view was told %d times, want 2", told)
	}

	// Without the dialect, its client is a stranger, and its address is none.
	if err := v.Configure(&config.Config{}); err != nil {
		t.Fatal(err)
	}
	v.set(t, longName, "b")
	if got := v.seen(t, shorty); got[0] != longName {
		t.Errorf("without its dialect: %q", got)
	}
	if _, err := v.View(observe.Client{View: "short"}); err == nil {
		t.Error("a dialect that is gone still has a view")
	}
	if err := v.Configure(parse(t, clipClaim)); err != nil {
		t.Fatal(err)
	}
	if got := v.seen(t, shorty); !isShort(got) {
		t.Errorf("with its dialect again: %q", got)
	}
}

func TestOneDialectForAll(t *testing.T) {
	all := strings.Replace(clipClaim, "{", `{"dialect": "short", `, 1)
	for _, tt := range []struct {
		name, config, option string
		reader               observe.Client
		short                bool
	}{
		{"configuration", all, "", observe.Client{Name: "stranger"}, true},
		{"option before configuration", all, "none", observe.Client{Name: "shorty"}, false},
		{"option before client", clipClaim, "short", observe.Client{Name: "stranger"}, true},
		{"address before option", clipClaim, "mcp", observe.Client{View: "short"}, true},
		{"address before configuration", all, "", observe.Client{View: "mcp"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := newViewed(t, parse(t, tt.config), tt.option).seen(t, tt.reader); isShort(got) != tt.short {
				t.Errorf("got %q", got)
			}
		})
	}
	if _, err := gateway.NewViews(newViewed(t, nil, "").live, nil, &gateway.Options{Dialect: "short"}); err == nil {
		t.Error("a dialect that there is not is taken")
	}
}

// A change of the toolset reaches its views without being waited for.
func TestViewsFollowByThemselves(t *testing.T) {
	v := newViewed(t, parse(t, clipClaim), "")
	live, err := v.View(observe.Client{Name: "shorty"})
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan string, 9)
	defer live.Watch(func(toolpost.Event) {
		tools, _ := live.Tools(t.Context())
		told <- tools[len(tools)-1].Name
	})()
	v.mu.Lock()
	v.tools = toolpost.Tools{tool("c", "called")}
	v.mu.Unlock()
	if err := v.live.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := <-told; after != "c" {
		t.Errorf("told %q", after)
	}
}

// What did not change is not adapted again.
func TestViewsOfTheSame(t *testing.T) {
	v := newViewed(t, parse(t, clipClaim), "")
	reports := func(want int) {
		t.Helper()
		v.Refresh()
		v.mu.Lock()
		defer v.mu.Unlock()
		if got := v.reports["short"]; got != want {
			t.Errorf("%d listings, want %d", got, want)
		}
	}
	v.seen(t, observe.Client{Name: "shorty"})
	if err := v.live.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	reports(1)
	v.set(t, longName, "b") // the same names, other handlers
	reports(2)
	same := parse(t, clipClaim)
	same.Name = "us" // the room for names is another once
	for range 2 {
		if err := v.Configure(same); err != nil {
			t.Fatal(err)
		}
		reports(3)
	}
}

// What is listed again as it was is not adapted again.
func TestViewKeepsTools(t *testing.T) {
	v := newViewed(t, parse(t, clipClaim), "")
	first := func() *toolpost.Tool {
		t.Helper()
		live, err := v.View(observe.Client{Name: "shorty"})
		if err != nil {
			t.Fatal(err)
		}
		tools, _ := live.Set().Tools(t.Context())
		return tools[0]
	}
	before := first()
	v.mu.Lock()
	v.tools = toolpost.Tools{v.tools[0], tool("c", "called")}
	v.mu.Unlock()
	if err := v.live.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	v.Refresh()
	if first() != before {
		t.Error("a tool that is the same was adapted again")
	}
	if names := v.seen(t, observe.Client{Name: "shorty"}); names[1] != "c" {
		t.Errorf("the client sees %q", names)
	}
	v.set(t, longName)
	if first() == before {
		t.Error("a tool that is another was not adapted again")
	}
}

// A configuration that comes while a client is looked at leaves no view behind
// that fails for good.
func TestDialectGoesWhileItIsChosen(t *testing.T) {
	source := newViewed(t, nil, "")
	full, empty := parse(t, clipClaim), parse(t, `{"mcpServers": {}}`)
	var v *gateway.Views
	var once sync.Once
	log := slog.New(handlerFunc(func() {
		once.Do(func() {
			if err := v.Configure(empty); err != nil {
				t.Error(err)
			}
		})
	}))
	v, err := gateway.NewViews(source.live, full, &gateway.Options{Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	look := func() string {
		t.Helper()
		live, err := v.View(observe.Client{Name: "shorty"})
		if err != nil {
			t.Fatal(err)
		}
		tools, _ := live.Set().Tools(t.Context())
		return tools[0].Name
	}
	if got := look(); got != longName {
		t.Errorf("while its dialect goes, the client sees %q", got)
	}
	if err := v.Configure(full); err != nil {
		t.Fatal(err)
	}
	if got := look(); len(got) > 15 {
		t.Errorf("with its dialect again, the client sees %q", got)
	}
}

// A handlerFunc is a log that calls it for each line.
type handlerFunc func()

func (f handlerFunc) Enabled(context.Context, slog.Level) bool  { return true }
func (f handlerFunc) Handle(context.Context, slog.Record) error { f(); return nil }
func (f handlerFunc) WithAttrs([]slog.Attr) slog.Handler        { return f }
func (f handlerFunc) WithGroup(string) slog.Handler             { return f }

// A listing that fails, here by a panic, is tried again.
func TestViewFailsOnce(t *testing.T) {
	source := newViewed(t, nil, "")
	var fail atomic.Bool
	fail.Store(true)
	v, err := gateway.NewViews(source.live, parse(t, clipClaim), &gateway.Options{
		Logger: slog.New(slog.DiscardHandler),
		Adapted: func(*dialect.Adapted) {
			if fail.Load() {
				panic("a defect")
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	r := observe.Client{Name: "shorty"}
	if live, err := v.View(r); err == nil || live != nil || !strings.Contains(err.Error(), "short") {
		t.Errorf("got %v", err)
	}
	fail.Store(false)
	live, err := v.View(r)
	if err != nil {
		t.Fatal(err)
	}
	fail.Store(true)
	source.set(t, "c")
	v.Refresh()
	if live.Lookup("b") == nil {
		t.Error("the list before does not stay")
	}
	fail.Store(false)
	v.Refresh()
	if live.Lookup("c") == nil {
		t.Error("the new list did not come")
	}
}

// Refresh waits for a view that is being opened, which may have listed before the
// change.
func TestRefreshOfAViewThatOpens(t *testing.T) {
	source := newViewed(t, nil, "")
	listing, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	v, err := gateway.NewViews(source.live, parse(t, clipClaim), &gateway.Options{Adapted: func(*dialect.Adapted) {
		once.Do(func() {
			close(listing)
			<-goOn
		})
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	opened := make(chan error, 1)
	go func() {
		_, err := v.View(observe.Client{Name: "shorty"})
		opened <- err
	}()
	<-listing
	refreshed := make(chan struct{})
	go func() {
		v.Refresh()
		close(refreshed)
	}()
	select {
	case <-refreshed:
		t.Error("it does not wait")
	case <-time.After(50 * time.Millisecond): // it waits for as long as the view needs
	}
	close(goOn)
	if err := <-opened; err != nil {
		t.Error(err)
	}
	<-refreshed
}

// Some clients put the server's name before those of tools.
func TestNameInViews(t *testing.T) {
	long := strings.Repeat("a", 50)
	room := `{"mcpServers": {}, %s "dialects": {"short": {"extends": "mcp", "name": {"prefix": "mcp__{server}__", "max": 64}}}}`
	for _, tt := range []struct {
		config, option string
		fits           bool
	}{
		{"", "", false}, // toolpost
		{`"name": "tool-srv",`, "", false},
		{`"name": "tools",`, "", true},
		{`"name": "toolpost2",`, "tools", true},
		{`"name": "tools",`, "toolpost2", false},
	} {
		source := newViewed(t, nil, "")
		source.set(t, long)
		v, err := gateway.NewViews(source.live, parse(t, fmt.Sprintf(room, tt.config)), &gateway.Options{Name: tt.option})
		if err != nil {
			t.Fatal(err)
		}
		live, err := v.View(observe.Client{View: "short"})
		if err != nil {
			t.Fatal(err)
		}
		if fits := live.Lookup(long) != nil; fits != tt.fits {
			t.Errorf("%s %s: the name fits: %t", tt.config, tt.option, fits)
		}
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Clients come while tools and the configuration change.
func TestViewsTogether(t *testing.T) {
	v := newViewed(t, parse(t, clipClaim), "")
	var wg sync.WaitGroup
	for _, name := range []string{"shorty", "stranger", "claude-ai", "cursor"} {
		wg.Go(func() {
			for range 20 {
				live, err := v.View(observe.Client{Name: name})
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
	longer := parse(t, strings.Replace(clipClaim, "15", "50", 1))
	for range 20 {
		for _, cfg := range []*config.Config{{}, longer} {
			if err := v.Configure(cfg); err != nil {
				t.Error(err)
			}
		}
	}
	wg.Wait()
	v.set(t, longName, "b")
	if got := v.seen(t, observe.Client{Name: "shorty"}); got[0] != longName {
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
		live, err := g.Views().View(observe.Client{Name: "shorty"})
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
	changed.Dialects = parse(t, clipClaim).Dialects
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

// What one server changes is adapted; what another one tells of itself is not.
func TestServersAndViews(t *testing.T) {
	listings := make(chan int, 99)
	cfg := servers("a", "x", "b", "x")
	g, f := openWith(t, cfg, &gateway.Options{Adapted: func(a *dialect.Adapted) { listings <- len(a.Tools) }})
	f.last("a").connect("one")
	f.last("b").connect("two", "three")
	if err := g.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Views().View(observe.Client{View: "mcp"}); err != nil {
		t.Fatal(err)
	}
	g.Views().Refresh()
	for len(listings) > 0 {
		<-listings
	}
	if err := g.Ready(t.Context()); err != nil { // joins again
		t.Fatal(err)
	}
	if err := g.Reload(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	if len(listings) > 0 {
		t.Errorf("nothing changed, and %d tools were adapted", <-listings)
	}
	f.last("b").connect("two")
	if got := <-listings; got != 2 {
		t.Errorf("%d tools were adapted", got)
	}
}

// A server that a reload replaces serves until no view calls it any more.
func TestViewsBeforeRetirement(t *testing.T) {
	var listed atomic.Pointer[func()]
	g, f := openWith(t, prefixed(servers("a", "old"), ""), &gateway.Options{Adapted: func(*dialect.Adapted) {
		if f := listed.Load(); f != nil {
			(*f)()
		}
	}})
	old := f.last("a")
	old.connect("one")
	if err := g.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	live, err := g.Views().View(observe.Client{View: "mcp"})
	if err != nil {
		t.Fatal(err)
	}
	g.Views().Refresh()
	answers := make(chan string, 9)
	call := func() {
		text, err := live.CallText(context.Background(), "one", nil)
		answers <- fmt.Sprint(text, " ", err, " ", old.isClosed())
	}
	listed.Store(&call)
	if err := g.Reload(t.Context(), prefixed(servers("a", "new"), "")); err != nil {
		t.Fatal(err)
	}
	if got := <-answers; got != "a old one <nil> false" {
		t.Errorf("while views are listed: %s", got)
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
	r := observe.Client{Name: "claude-code", Version: "2.1.197", UserAgent: "claude-code/2.1.197 (cli)"}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := v.View(r); err != nil {
			b.Fatal(err)
		}
	}
}
