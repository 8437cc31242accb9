package mcpserver

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/budget"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/observe"
	"github.com/toolpost/toolpost/schema"
)

// senderFunc is a stream.
type senderFunc struct{ f func(message string) error }

func (s *senderFunc) send(_ context.Context, message []byte) error { return s.f(string(message)) }

// What a stream could not deliver, the next one does, also where each client
// has a list of its own.
func TestUndeliveredChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		live, err := toolpost.NewLive(t.Context(), toolpost.Tools{})
		if err != nil {
			t.Fatal(err)
		}
		now := &view{live: live}
		list := func(number int) { // of tools and prompts, other ones than before
			tools, prompts := collector{kind: wire.KindTool}, collector{kind: wire.KindPrompt}
			_ = tools.add("t", []byte(`{"name":"t","inputSchema":{"type":"object"},"n":`+strconv.Itoa(number)+`}`))
			_ = prompts.add("p", []byte(`{"name":"p","n":`+strconv.Itoa(number)+`}`))
			now.catalog.Store(&catalog{features: &features{lists: map[string]listing{listPrompts: prompts.listing("prompts")}}, tools: tools.listing("tools")})
		}
		list(0)
		v := &views{choose: func(observe.Client) (*toolpost.Live, error) { return live, nil }}
		v.all = map[weak.Pointer[toolpost.Live]]weak.Pointer[view]{weak.Make(live): weak.Make(now)}
		defer runtime.KeepAlive(now)
		topics := []topic{{method: toolsChanged}, {method: promptsChanged}, {resourceUpdated, "x://1"}}
		c := &changes{views: v, watched: newHolders(budget.Limit{}), listeners: map[*listener]bool{}, watching: map[string]map[*listener]bool{}}
		l := &listener{changes: c, client: &observe.Client{}, watched: c.watched.Of(quotaHolder{})}
		for _, t := range topics {
			_ = c.join(l, t)
		}
		l.look()
		l.begin()
		broken := &senderFunc{func(string) error { return errors.New("broken") }}
		for i := range 2 {
			l.open(broken)
			list(i + 1)
			for _, t := range topics {
				c.announce(t, now)
			}
			time.Sleep(time.Second)
			synctest.Wait()
		}
		got := map[string]int{}
		l.open(&senderFunc{func(m string) error { got[m]++; return nil }})
		time.Sleep(time.Second)
		synctest.Wait()
		for _, want := range []string{
			`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{}}`,
			`{"jsonrpc":"2.0","method":"notifications/prompts/list_changed","params":{}}`,
			`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"x://1"}}`,
		} {
			if got[want] != 1 {
				t.Errorf("%d times %s", got[want], want)
			}
		}
		if len(got) != 3 {
			t.Errorf("got %v", got)
		}
	})
}

// A client is notified of changes of the view that it has, also if that was
// replaced while its view was looked for, at its begin or in a review.
func TestViewsReplacedMeanwhile(t *testing.T) {
	for _, during := range []string{"the begin", "a review"} {
		synctest.Test(t, func(t *testing.T) {
			names := map[string]string{"a": "a", "b": "b", "c": "c"} // of the only tool, by the view
			lives := map[string]*toolpost.Live{}
			for id := range names {
				live, err := toolpost.NewLive(t.Context(), toolpost.ToolsetFunc(func(context.Context) ([]*toolpost.Tool, error) {
					return []*toolpost.Tool{{
						Definition: toolpost.Definition{Name: names[id], Input: schema.MustParse(`{"type":"object"}`)},
						Handler:    func(context.Context, *toolpost.Call) (*toolpost.Result, error) { return nil, nil },
					}}, nil
				}))
				if err != nil {
					t.Fatal(err)
				}
				lives[id] = live
			}
			var mu sync.Mutex // over these: views are looked for by requests and by reviews
			chosen, meanwhile := "a", func() {}
			v := &views{log: slog.New(slog.DiscardHandler), reports: reports{log: slog.New(slog.DiscardHandler)}, all: map[weak.Pointer[toolpost.Live]]weak.Pointer[view]{}}
			v.choose = func(observe.Client) (*toolpost.Live, error) {
				mu.Lock()
				live, replace := lives[chosen], meanwhile
				meanwhile = func() {}
				mu.Unlock()
				replace()
				return live, nil
			}
			c := &changes{views: v, listeners: map[*listener]bool{}}
			v.changed = c.announce
			defer v.close()
			sent := 0
			l := &listener{changes: c, client: &observe.Client{}}
			l.open(&senderFunc{func(string) error { sent++; return nil }})
			_ = c.join(l, topic{method: toolsChanged})
			replace := func() {
				mu.Lock()
				chosen = "c"
				mu.Unlock()
				c.review()
			}
			if during == "the begin" {
				meanwhile = replace
			}
			l.look()
			l.begin()
			if during == "a review" {
				mu.Lock()
				chosen, meanwhile = "b", replace
				mu.Unlock()
				c.review()
			}
			time.Sleep(time.Second)
			synctest.Wait()
			sent = 0
			names["c"] = "other"
			if err := lives["c"].Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			synctest.Wait()
			if sent != 1 {
				t.Errorf("a view replaced in %s: notified %d times of the change of its list", during, sent)
			}
		})
	}
}
