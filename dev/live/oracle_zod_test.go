//go:build unix

package live

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dev/accept"
	"github.com/toolpost/toolpost/schema/dialect"
)

// A sample is a schema that zod wrote, and what zod says of values.
type sample struct {
	Name           string
	More, Less     bool // zod takes more values than the schema says, or fewer
	Schema         json.RawMessage
	Valid, Invalid []json.RawMessage
}

// exceptions are samples, by the end of their name, of which values come back
// changed though no loss says so, each with the reason.
var exceptions = map[string]string{
	"null default": "null is the default: to leave it out means the same",
}

// TestZod says that what zod writes is adapted for every reader, that its
// readers can write every value that zod takes or the loss is told, and that
// no value comes back that the schema does not take.
func TestZod(t *testing.T) {
	t.Parallel()
	library := peer(t, "zod", "", ".")
	var samples []sample
	var tools []*toolpost.Tool
	for i, line := range oracle(t, nil, "zod.mjs", library) {
		var s sample
		if err := json.Unmarshal(line, &s); err != nil {
			t.Fatal(err)
		}
		samples = append(samples, s)
		tools = append(tools, takes(t, fmt.Sprint("t", i), s.Schema))
	}
	if len(samples) < 150 {
		t.Fatalf("%d schemas", len(samples))
	}
	judge(t, samples, tools)
	var needed sync.Map
	var ran atomic.Int32
	t.Cleanup(func() {
		for part, why := range exceptions {
			if _, ok := needed.Load(part); !ok && int(ran.Load()) == len(dialect.All()) {
				t.Errorf("the exception for %q is not needed any more: %s", part, why)
			}
		}
	})
	for _, d := range dialect.All() {
		t.Run(d.ID, func(t *testing.T) {
			t.Parallel()
			ran.Add(1)
			for i, s := range samples {
				s.adapt(t, d, tools[i], &needed)
			}
		})
	}
}

// judge holds zod and our validator against each other, by the schema.
func judge(t *testing.T, samples []sample, tools []*toolpost.Tool) {
	values := 0
	for i, s := range samples {
		v := tools[i].Input
		for _, value := range s.Valid {
			if err := v.Validate(value); err != nil && !s.More {
				t.Errorf("%s: zod takes %s: %v\n\t%s", s.Name, value, err, s.Schema)
			}
		}
		for _, value := range s.Invalid {
			if err := v.Validate(value); err == nil && !s.Less {
				t.Errorf("%s: zod refuses %s\n\t%s", s.Name, value, s.Schema)
			}
		}
		values += len(s.Valid) + len(s.Invalid)
	}
	t.Logf("%d schemas, %d values", len(samples), values)
}

// adapt adapts the schema for one reader and sends it all values.
func (s sample) adapt(t *testing.T, d *dialect.Dialect, original *toolpost.Tool, needed *sync.Map) {
	a := d.Adapt([]*toolpost.Tool{original}, nil)
	if len(a.Tools) == 0 {
		t.Errorf("%s: withheld: %v\n\t%s", s.Name, a.Withheld, s.Schema)
		return
	}
	tool := a.Tools[0]
	sent := accept.Tool{Name: tool.Name, Description: tool.Description, Strict: tool.Strict}
	if tool.Input != nil {
		sent.Input = tool.Input.Raw()
	}
	if slices.Contains(accept.Targets(), d.ID) {
		for _, v := range accept.Check(d.ID, []accept.Tool{sent}) {
			t.Errorf("%s: %s\n\tbefore %s\n\tafter  %s", s.Name, v, s.Schema, sent.Input)
		}
	}
	reader, err := accept.CompileFor(d.ID, drafted(d, sent.Input))
	if err != nil {
		t.Errorf("%s: %v", s.Name, err)
		return
	}
	encode := func(v json.RawMessage) (json.RawMessage, bool) { return v, true }
	if original.Input != tool.Input {
		encode = d.Lower(original.Input).Encode
	}
	narrowed := slices.ContainsFunc(tool.Losses, func(l dialect.Loss) bool { return l.Kind == "narrowed" })
	closed := tool.Input == nil || slices.ContainsFunc(tool.Losses, func(l dialect.Loss) bool { return l.Keyword == "additionalProperties" })
	check := original.Input
	for _, value := range slices.Concat(s.Valid, s.Invalid) {
		fine := check.Validate(value) == nil
		written, ok := encode(value)
		if !ok {
			if fine && !narrowed {
				t.Errorf("%s: %s cannot be written, and no loss says so\n\tbefore %s\n\tafter  %s", s.Name, value, s.Schema, sent.Input)
			}
			continue
		}
		failing, err := reader.Failing(written)
		if err != nil {
			t.Fatal(err)
		}
		if fine && failing != nil && !narrowed && !(closed && slices.ContainsFunc(failing, undeclared)) {
			t.Errorf("%s: %s is written %s, which the adapted schema refuses: %v\n\tbefore %s\n\tafter  %s", s.Name, value, written, failing, s.Schema, sent.Input)
		}
		back, err := tool.Decode(written)
		switch {
		case err == nil && !fine && same(t, back, value):
			t.Errorf("%s: %s comes back, and is not valid\n\tbefore %s", s.Name, value, s.Schema)
		case err == nil && check.Validate(back) != nil:
			t.Errorf("%s: %s is decoded as %s, which is not valid", s.Name, written, back)
		case fine && (err != nil || !same(t, back, value)) && !narrowed && !s.excepted(needed):
			t.Errorf("%s: %s is written %s, decoded as %s (%v)\n\tbefore %s\n\tafter  %s", s.Name, value, written, back, err, s.Schema, sent.Input)
		}
	}
}

// excepted says that an exception is for s, and notes that it is needed.
func (s sample) excepted(needed *sync.Map) bool {
	for part := range exceptions {
		if name, _, _ := strings.Cut(s.Name, " ("); strings.HasSuffix(name, part) {
			needed.Store(part, true)
			return true
		}
	}
	return false
}

// undeclared says that a member fails of which the schema says nothing: readers
// that take only declared ones are told so.
func undeclared(f accept.Failure) bool {
	return strings.HasSuffix(f.KeywordLocation, "/additionalProperties") || slices.ContainsFunc(f.Causes, undeclared)
}

// drafted tells the draft, for validation.
func drafted(d *dialect.Dialect, schema json.RawMessage) json.RawMessage {
	if d.Draft() != "draft-07" {
		return schema
	}
	return append(json.RawMessage(`{"$schema":"http://json-schema.org/draft-07/schema#",`), schema[1:]...)
}
