package mcpserver

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/schema"
)

// TestStrictList lists tools that strict clients refuse among a good one, without
// a dialect.
func TestStrictList(t *testing.T) {
	const good = `{"name":"good","inputSchema":{ "type":"object" },"outputSchema":{ "type":"object","$id":"x","properties":{"a":{"type":"string","pattern":"^a"}}}}`
	for _, test := range []struct{ tool, want string }{ // "" is not listed
		{`{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"b":{"type":"string","pattern":"(?i)b"}}}}`,
			`{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"b":{"type":"string","description":"Pattern: (?i)b ."}}}}`},
		{`{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"type":"array"}}`, `{"name":"a","inputSchema":{"type":"object"}}`},
		{`{"name":"a","inputSchema":{"type":"object","properties":null}}`, `{"name":"a","inputSchema":{"type":"object"}}`},
		{`{"name":"a","inputSchema":{"type":"array"}}`, ""},
		// The id of another tool.
		{`{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"type":"object","$id":"x"}}`,
			`{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}`},
		{`{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"b":{"$id":"x","type":"string"}}}}`,
			`{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"b":{"type":"string"}}}}`},
		{`{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"type":"object","$id":"y"}}`,
			`{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"type":"object","$id":"y"}}`},
	} {
		var log bytes.Buffer
		lister := &strictLister{&reports{log: slog.New(slog.NewTextHandler(&log, nil))}, map[string][sha256.Size]byte{}}
		listed := collector{kind: wire.KindTool, log: lister.log}
		for _, raw := range []string{good, test.tool} {
			var d struct {
				Name                      string
				InputSchema, OutputSchema *schema.Schema
			}
			if err := json.Unmarshal([]byte(raw), &d); err != nil {
				t.Fatal(err)
			}
			tool := &toolpost.Tool{Definition: toolpost.Definition{Name: d.Name, Input: d.InputSchema, Output: d.OutputSchema}}
			if err := lister.add(&listed, tool); err != nil && raw == good {
				t.Fatal(err)
			}
		}
		got := ""
		if len(listed.items) > 1 {
			got = string(listed.items[1].session)
		}
		if string(listed.items[0].session) != good || got != test.want {
			t.Errorf("%s\n\tgot  %s\n\twant %s\n\tand  %s", test.tool, got, test.want, listed.items[0].session)
		}
		if reported := strings.Contains(log.String(), "schema is"); reported != (got != "" && got != test.tool) {
			t.Errorf("%s: logged %q", test.tool, log.String())
		}
	}
}

// TestIDsOverTime: a client keeps the schemas of tools that are gone.
func TestIDsOverTime(t *testing.T) {
	lister := &strictLister{&reports{log: slog.New(slog.DiscardHandler)}, map[string][sha256.Size]byte{}}
	for range 2 {
		if !lister.claim(schema.MustParse(`{"type":"object","$id":"x"}`)) {
			t.Error("a schema cannot have its own id")
		}
	}
	if lister.claim(schema.MustParse(`{"type":"object","$id":"x","required":["a"]}`)) {
		t.Error("a second schema has the id of the first")
	}
	for i := range 2 * maxIDs {
		lister.claim(schema.MustParse(fmt.Sprintf(`{"type":"object","$id":"x%d"}`, i)))
	}
	if len(lister.ids) != maxIDs {
		t.Errorf("%d ids are kept", len(lister.ids))
	}
}

// A schema is repaired once for all views and listings, and reported once.
func TestRepairsAreRemembered(t *testing.T) {
	var log bytes.Buffer
	all := &reports{log: slog.New(slog.NewTextHandler(&log, nil))}
	tool := &toolpost.Tool{Definition: toolpost.Definition{
		Name:  "a",
		Input: schema.MustParse(`{"type":"object","properties":null}`), Output: schema.MustParse(`{"type":"object","properties":{"a":{"enum":[]}}}`),
	}}
	var before *toolpost.Tool
	for range 3 {
		lister := &strictLister{all, map[string][sha256.Size]byte{}}
		now, err := lister.tool(tool)
		if err != nil {
			t.Fatal(err)
		}
		if before != nil && (before.Input != now.Input || before.Output != now.Output) {
			t.Error("the schemas are repaired again")
		}
		before = now
	}
	if n := strings.Count(log.String(), "is repaired"); n != 2 {
		t.Errorf("logged %d times: %s", n, log.String())
	}
	tool = nil
	for deadline := time.Now().Add(time.Minute); ; runtime.Gosched() {
		runtime.GC()
		all.repairs.mu.Lock()
		left := len(all.repairs.made)
		all.repairs.mu.Unlock()
		if left == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d repairs are kept for schemas that are gone", left)
		}
	}
}
