package serve

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/schema/dialect"
)

// A counter counts what is shown.
type counter struct{ serving, settled, adapted int }

func (c *counter) Serving(*Access)           { c.serving++ }
func (c *counter) Updated(*gateway.Snapshot) {}
func (c *counter) Settled()                  { c.settled++ }
func (c *counter) Adapted(*dialect.Adapted)  { c.adapted++ }

// A dialect is shown once, and again when what is lost in it has changed.
func TestAdaptedOnce(t *testing.T) {
	var out bytes.Buffer
	shown := &counter{}
	s := &Endpoint{log: slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})), options: Options{View: shown}}
	a := &dialect.Adapted{Dialect: &dialect.Dialect{ID: "claude-desktop"}, Withheld: []dialect.Withheld{{Name: "b"}},
		Tools: []*dialect.Tool{{Tool: whoTool("a"), Losses: []dialect.Loss{{Pointer: "/x", Keyword: "anyOf", Kind: "encoded", Detail: "text"}}}}}
	report := s.adaptationReporter()
	report(a)
	report(a)
	if shown.adapted != 1 || strings.Count(out.String(), "msg=loss") != 1 || !strings.Contains(out.String(), "pointer=/x keyword=anyOf kind=encoded detail=text") {
		t.Errorf("%d times: %s", shown.adapted, &out)
	}
	fewer := *a
	fewer.Withheld = nil
	if report(&fewer); shown.adapted != 2 {
		t.Error("a change is not shown")
	}
}
