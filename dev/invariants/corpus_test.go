package invariants_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/toolpost/toolpost/dev/accept"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/dialect"
)

// An item is a schema that is lowered for every dialect.
type item struct {
	name   string
	raw    json.RawMessage
	valid  []json.RawMessage // known ones
	parsed *schema.Schema
	judge  *accept.Schema // nil if it judges in another way than the schema is meant
}

// A class is where items come from.
type class struct {
	name  string
	items []*item
}

// corpus is read once: nothing changes it.
var corpus = sync.OnceValue(func() []class {
	var real, odd, random []*item
	for _, s := range accept.Tools() {
		real = append(real, &item{name: s.Server + "/" + s.Name(), raw: s.Input()})
	}
	for _, r := range accept.Schemas() {
		odd = append(odd, &item{name: r.Name, raw: r.Schema, valid: r.Valid})
	}
	for i, s := range accept.Torture() {
		odd = append(odd, &item{name: fmt.Sprintf("torture %d, %s", i, s.Why), raw: s.Input()})
	}
	for seed := range uint64(200) {
		random = append(random, &item{name: fmt.Sprint("random ", seed), raw: accept.RandomSchema(rand.New(rand.NewPCG(seed, 1)))})
	}
	for seed := range uint64(200) {
		random = append(random, &item{name: fmt.Sprint("union ", seed), raw: accept.RandomUnion(rand.New(rand.NewPCG(seed, 2)))})
	}
	classes := []class{{"real", real}, {"odd", odd}, {"random", random}}
	for i := range classes {
		classes[i].items = slices.DeleteFunc(classes[i].items, func(it *item) bool { return !it.prepare() })
	}
	return classes
})

// prepare reads the schema. It returns false if it cannot be read.
func (it *item) prepare() bool {
	if len(it.raw) == 0 {
		return false
	}
	var err error
	if it.parsed, err = schema.Parse(it.raw); err != nil {
		return false
	}
	it.judge, _ = accept.Compile(it.raw)
	it.valid = slices.DeleteFunc(slices.Clone(it.valid), func(v json.RawMessage) bool {
		return it.judge == nil || len(failing(it.judge, v)) > 0
	})
	return true
}

// draws is how many values are drawn of each schema for each dialect, as
// TOOLPOST_DRAWS says; 0 if nothing but a quick look is asked for.
var draws = sync.OnceValue(func() int {
	n, _ := strconv.Atoi(os.Getenv("TOOLPOST_DRAWS"))
	return n
})

// some returns a part of the items, unless values are drawn for all.
func some(all []*item) []*item {
	if draws() > 0 {
		return all
	}
	var part []*item
	for i, it := range all {
		if i%6 == 0 {
			part = append(part, it)
		}
	}
	return part
}

func items() []*item {
	var all []*item
	for _, c := range corpus() {
		all = append(all, c.items...)
	}
	return all
}

// targets are the dialects that package accept has rules for.
func targets(t testing.TB) []*dialect.Dialect {
	t.Helper()
	var all []*dialect.Dialect
	for _, name := range accept.Targets() {
		d, err := dialect.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
	return all
}

// few are dialects of every kind, unless values are drawn for all.
func few(t testing.TB) []*dialect.Dialect {
	t.Helper()
	all := targets(t)
	if draws() > 0 {
		return all
	}
	kinds := []string{"mcp", "openai-strict", "gemini-schema", "claude-desktop"}
	return slices.DeleteFunc(all, func(d *dialect.Dialect) bool { return !slices.Contains(kinds, d.ID) })
}

// strict reports whether a dialect's schemas are held against the rules for strict
// tools.
func strict(d *dialect.Dialect) bool {
	return strings.HasSuffix(d.ID, "-strict") || d.ID == "bedrock" || d.ID == "xai"
}

func failing(s *accept.Schema, v json.RawMessage) []accept.Failure {
	failures, err := s.Failing(v)
	if err != nil {
		return []accept.Failure{{Detail: err.Error()}}
	}
	return failures
}

func has(losses []dialect.Loss, kind dialect.LossKind) bool {
	return slices.ContainsFunc(losses, func(l dialect.Loss) bool { return l.Kind == kind })
}

func exact(losses []dialect.Loss) bool {
	return !slices.ContainsFunc(losses, func(l dialect.Loss) bool { return !l.Kind.Exact() })
}

func short(v []byte) string {
	if len(v) > 300 {
		return string(v[:300]) + "…"
	}
	return string(v)
}
