package gateway_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/upstream"
)

// TestReported: a gateway has servers that another one reported as that one has them, waits for
// none of them, and starts the others.
func TestReported(t *testing.T) { synctest.Test(t, testReported) }

func testReported(t *testing.T) {
	cfg := servers("a", "x", "b", "x", "c", "x")
	g, f := openWith(t, cfg, nil)
	f.last("a").connect("t")
	f.last("a").set(func(f *fake) { f.status.Skipped = []toolpost.Finding{{Message: "odd"}} })
	f.last("b").fail(errors.New("refused"))
	synctest.Wait()
	raw, err := json.Marshal(g.Report())
	var reports []gateway.ServerReport
	if err != nil || json.Unmarshal(raw, &reports) != nil || len(reports) != 3 {
		t.Fatalf("%s, %v", raw, err)
	}
	if b, c := reports[1], reports[2]; b.Reason != "refused" || b.Known != nil || c.Status.State != upstream.Connecting || c.Known != nil {
		t.Errorf("got %+v and %+v", b, c)
	}
	other, o := openWith(t, cfg, &gateway.Options{Reported: reports})
	if opts := o.last("a").opts; !opts.OnDemand || o.last("b").opts.OnDemand || o.last("c").opts.OnDemand {
		t.Errorf("got %+v", opts)
	}
	o.last("b").fail(errors.New("refused here"))
	o.last("c").connect()
	if err := other.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	if s := other.Status()[0]; s.State != upstream.Ready || len(s.Skipped) != 1 || s.Tools != 1 {
		t.Errorf("got %+v", s)
	}
	if got := names(other); !slices.Equal(got, []string{"a__t"}) {
		t.Errorf("got %q", got)
	}
	if again := other.Report(); len(again) != 2 || again[0].Known == nil || again[1].Reason != "refused here" {
		t.Errorf("got %+v", again)
	}
}
