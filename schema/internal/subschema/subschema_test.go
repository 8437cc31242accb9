package subschema_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/schema/internal/subschema"
)

// Each schema keeps the URI that its references start from: together they would
// be gigabytes, if a long one were the base of many.
func TestLongIDs(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"$id":"https://a.example/` + strings.Repeat("a/", 100_000) + `","$defs":{`)
	for i := range 9000 {
		fmt.Fprintf(&b, `"d%d":{"$id":"d%d.json"},`, i, i)
	}
	b.WriteString(`"last":{}},"$ref":"#/$defs/last"}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	g := subschema.Read([]byte(b.String()))
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; g.Root == nil || used > 100<<20 {
		t.Errorf("%v; %d bytes were allocated", g.Findings, used)
	}
	if g.Target(g.Root) == nil {
		t.Error("the reference leads nowhere")
	}
}
