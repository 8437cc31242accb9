package upstream_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/upstream"
)

// A gatedServer is a server over HTTP that answers nothing before it is released.
type gatedServer struct {
	tools atomic.Value // the JSON of its list
	gate  chan struct{}
}

func (g *gatedServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // then the context ends with the connection
	select {
	case <-g.gate:
	case <-r.Context().Done():
		return
	}
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct{ Name string }
	}
	_ = json.Unmarshal(body, &m)
	result := ""
	switch m.Method {
	case "initialize":
		w.Header().Set("Mcp-Session-Id", "s")
		result = `{"protocolVersion":"2025-11-25","capabilities":{ "tools":{}, "prompts":{}, "resources":{} },"serverInfo":{"name":"gated","version":"1"},"instructions":"Use it."}`
	case "tools/list":
		result = `{"tools":` + g.tools.Load().(string) + `}`
	case "prompts/list":
		result = `{"prompts":[{"name":"p"}]}`
	case "resources/list":
		result = `{"resources":[{"uri":"test://r","name":"r"}]}`
	case "resources/templates/list":
		result = `{"resourceTemplates":[{"uriTemplate":"test://{x}","name":"t"}]}`
	case "tools/call":
		result = `{"content":[{"type":"text","text":"called ` + m.Params.Name + `"}]}`
	default:
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

const oddList = `[{"name":"a", "description":"<a> & b",  "inputSchema":{"type":"object" }},{"name":"b","inputSchema":{"type":"object"}}]`

// listed returns what such a server lists.
func (g *gatedServer) listed(t *testing.T, url string) *upstream.Known {
	t.Helper()
	s := start(t, &upstream.Config{URL: url, Transport: upstream.HTTP}).ready(t)
	k := s.Known()
	s.Close()
	raw, err := json.Marshal(k)
	if err != nil {
		t.Fatal(err)
	}
	var again *upstream.Known
	if err := json.Unmarshal(raw, &again); err != nil || !reflect.DeepEqual(k, again) {
		t.Fatalf("what is stored is not what was known: %s %v", raw, err)
	}
	return again
}

func newGated(t *testing.T) (*gatedServer, string) {
	g := &gatedServer{gate: make(chan struct{})}
	g.tools.Store(oddList)
	web := httptest.NewServer(g)
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
	})
	return g, web.URL
}

// known starts an upstream with what is known of a server that does not answer yet.
func (g *gatedServer) known(t *testing.T, url string, vet func(*toolpost.Tool) error) *server {
	t.Helper()
	close(g.gate)
	k := g.listed(t, url)
	g.gate = make(chan struct{})
	opts := &upstream.Options{Known: k, Patience: 5 * time.Second}
	if vet != nil {
		hidden.UpstreamOptionsOf(opts).Vet = func(t any) error { return vet(t.(*toolpost.Tool)) }
	}
	u, err := upstream.Start(&upstream.Config{Name: "srv", URL: url, Transport: upstream.HTTP}, opts)
	if err != nil {
		t.Fatal(err)
	}
	return (&server{changed: make(chan struct{}, 1), uris: make(chan string, 100)}).watch(t, u)
}

// An upstream lists what is known before the server answers. Calls wait, and what
// the server lists again stays the same.
func TestKnown(t *testing.T) {
	g, url := newGated(t)
	s := g.known(t, url, nil)
	before, _ := s.Tools(t.Context())
	features := s.Features()
	if s.names(t) != "a b" || s.Status().State != upstream.Connecting || s.Status().Tools != 2 || features.Incomplete ||
		features.Instructions != "Use it." || len(features.Prompts) != 1 || len(features.Resources) != 2 {
		t.Errorf("got %q, %+v, %+v", s.names(t), s.Status(), features)
	}
	answer := make(chan string, 1)
	go func() { answer <- s.text(t, "a", "{}", nil) }()
	close(g.gate)
	if got := <-answer; got != "called a" {
		t.Errorf("got %q", got)
	}
	after, _ := s.ready(t).Tools(t.Context())
	if before[0] != after[0] || before[1] != after[1] || s.Features() != features {
		t.Error("the lists are others although the server lists the same")
	}
}

// A call of a tool that has changed or gone meanwhile does not reach the server
// unseen. The tools that have not changed stay the same.
func TestKnownChanges(t *testing.T) {
	g, url := newGated(t)
	s := g.known(t, url, func(tool *toolpost.Tool) error { return errors.New("vetted " + tool.Description) })
	before, _ := s.Tools(t.Context())
	g.tools.Store(strings.Replace(oddList, "& b", "& c", 1))
	close(g.gate)
	s.ready(t)
	after, _ := s.Tools(t.Context())
	if before[1] != after[1] || before[0] == after[0] {
		t.Error("want only the tool replaced that has changed")
	}
	run := func(tool *toolpost.Tool) string {
		r, err := tool.Handler(context.Background(), &toolpost.Call{Name: tool.Name, Arguments: json.RawMessage("{}")})
		if err != nil {
			return err.Error()
		}
		text, _ := r.FirstText()
		return text
	}
	if got := run(before[0]) + ", " + run(after[0]) + ", " + run(before[1]); got != "vetted <a> & c, called a, called b" {
		t.Errorf("got %q", got)
	}
}

func TestKnownToolThatIsGone(t *testing.T) {
	g, url := newGated(t)
	s := g.known(t, url, nil)
	tools, _ := s.Tools(t.Context())
	g.tools.Store(`[]`)
	close(g.gate)
	_, err := tools[0].Handler(t.Context(), &toolpost.Call{Name: "a", Arguments: json.RawMessage("{}")})
	if err == nil || !strings.Contains(err.Error(), `server "srv" no longer has a tool "a"; list the tools again`) {
		t.Errorf("got %v", err)
	}
}

// A call of a server that does not answer ends within its time, and says so.
func TestKnownServerThatHangs(t *testing.T) {
	g, url := newGated(t)
	close(g.gate)
	k := g.listed(t, url)
	g.gate = make(chan struct{})
	u, err := upstream.Start(&upstream.Config{Name: "srv", URL: url, Transport: upstream.HTTP}, &upstream.Options{Known: k, Patience: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	s := (&server{changed: make(chan struct{}, 1), uris: make(chan string, 100)}).watch(t, u)
	if got := s.text(t, "a", "{}", nil); !strings.Contains(got, `server "srv" is not connected yet`) || !strings.Contains(got, "It was not carried out") {
		t.Errorf("got %q", got)
	}
}

// An upstream with a delayed start is listed, sends nothing, and connects when a call
// needs it. One on demand is not waited for either.
func TestStartDelay(t *testing.T) {
	for _, tt := range []struct {
		name  string
		opts  upstream.Options
		state upstream.State
		ready error
	}{
		{"delay", delayed(time.Hour), upstream.Connecting, context.DeadlineExceeded},
		{"on demand", upstream.Options{OnDemand: true}, upstream.Waiting, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, _ := newGated(t)
			close(g.gate)
			var requests atomic.Int64
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				requests.Add(1)
				g.ServeHTTP(w, r)
			}))
			defer web.Close()
			tt.opts.Known = g.listed(t, web.URL)
			requests.Store(0)
			u, err := upstream.Start(&upstream.Config{Name: "srv", URL: web.URL, Transport: upstream.HTTP}, &tt.opts)
			if err != nil {
				t.Fatal(err)
			}
			defer u.Close()
			soon, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			if err := u.Ready(soon); !errors.Is(err, tt.ready) || requests.Load() != 0 {
				t.Errorf("%d requests, ready: %v", requests.Load(), err)
			}
			tools, err := u.Tools(t.Context())
			if err != nil || len(tools) != 2 || u.Status().State != tt.state {
				t.Fatalf("%d tools, %v, %+v", len(tools), err, u.Status())
			}
			result, err := tools[1].Handler(t.Context(), &toolpost.Call{Name: "b", Arguments: json.RawMessage("{}")})
			if err != nil || result.Message("").Text != "called b" || requests.Load() == 0 {
				t.Errorf("%v, %v, %d requests", result, err, requests.Load())
			}
		})
	}
}

// delayed returns options with a delay of the first connection.
func delayed(by time.Duration) (o upstream.Options) {
	hidden.UpstreamOptionsOf(&o).StartDelay = by
	return o
}
