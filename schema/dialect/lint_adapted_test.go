package dialect_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dev/accept"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/dialect"
)

// TestAdaptedToolsAreFine says that what Adapt writes breaks no rule that Lint
// knows, and that it writes nothing where Lint finds nothing.
func TestAdaptedToolsAreFine(t *testing.T) {
	var list []*toolpost.Tool
	torture := accept.Torture()
	for i, s := range slices.Concat(torture, accept.Tools()) {
		if i < len(torture) || i%3 == 0 { // the loss table has them all
			list = append(list, sample(t, s))
		}
	}
	for i, r := range accept.Schemas() {
		s, err := schema.Parse(r.Schema)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, tool("schema_"+string(rune('a'+i%26)), s))
	}
	for seed := range uint64(60) {
		list = append(list, tool(fmt.Sprint("random_", seed), schema.MustParse(string(accept.RandomSchema(rand.New(rand.NewPCG(seed, 3)))))),
			tool(fmt.Sprint("union_", seed), schema.MustParse(string(accept.RandomUnion(rand.New(rand.NewPCG(seed, 3)))))))
	}
	for _, d := range dialect.All() {
		t.Run(d.ID, func(t *testing.T) {
			t.Parallel()
			for _, one := range list {
				before := d.Lint([]*toolpost.Tool{one}, nil)
				a := d.Adapt([]*toolpost.Tool{one}, nil)
				if len(a.Tools) == 0 {
					continue
				}
				adapted := a.Tools[0]
				if len(before) == 0 && adapted.Changed() && d.Form().Input.Dialect != "openapi" {
					t.Errorf("%s: adapted, and nothing is wrong with it", one.Name)
				}
				for _, f := range d.Lint([]*toolpost.Tool{adapted.Tool}, nil) {
					if f.Rule == "all/poison-output" && !d.Form().Output.Object {
						continue // readers of this dialect never see output schemas
					}
					if f.Rule == "all/hidden-characters" {
						continue // the gateway removes them, for all dialects
					}
					input := ""
					if adapted.Input != nil {
						input = string(adapted.Input.Raw())
					}
					t.Errorf("%s: after adapting, %s at %s %s: %s\n\tbefore %.600s\n\tafter  %.600s", one.Name, f.Rule, f.Pointer, f.Keyword, f.Message, one.Input.Raw(), input)
				}
			}
		})
	}
}

// TestHostileSchemas says that no schema costs much: it is read in a moment,
// and what is too much of it is one finding.
func TestHostileSchemas(t *testing.T) {
	const limit = slowdown * 250 * time.Millisecond // a busy machine needs 60 ms; quadratic time, seconds
	var dialects []*dialect.Dialect                 // that demand the most, each of another kind
	for _, id := range []string{"mcp", "openai-strict", "gemini-schema", "claude-desktop", "kimi", "cursor", "draft-07"} {
		d, err := dialect.Find(id)
		if err != nil {
			t.Fatal(err)
		}
		dialects = append(dialects, d)
	}
	for _, b := range accept.Hostile() {
		s, err := schema.Parse(b.Schema)
		if err != nil {
			continue
		}
		one := []*toolpost.Tool{tool("x", s)}
		for _, d := range dialects {
			best := time.Hour
			for range 12 { // collecting garbage of others counts too
				start := cpu()
				d.Lint(one, nil)
				if best = min(best, cpu()-start); best < limit {
					break
				}
			}
			if best > limit {
				t.Errorf("%s: %s takes %v", d.ID, b.Name, best)
			}
		}
	}
}
