package accept

import (
	"bytes"
	_ "embed" // for the files
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

var (
	//go:embed testdata/schemas.jsonl
	schemas string
	//go:embed testdata/tools.jsonl
	tools string
	//go:embed testdata/torture.jsonl
	torture string
)

// A Record is one schema, with instances and what validators say of them.
type Record struct {
	Name    string            `json:"name"`
	Source  string            `json:"source"`
	Schema  json.RawMessage   `json:"schema"`
	Valid   []json.RawMessage `json:"valid"`
	Invalid []json.RawMessage `json:"invalid"`
}

// Schemas returns the schemas of generators and of public reports. They keep
// the order of their members.
func Schemas() []Record { return lines[Record](schemas) }

// A Sample is one tool as a server lists it.
type Sample struct {
	Server  string          `json:"server"`
	License string          `json:"license"` // of the server
	Why     string          `json:"why"`     // what is odd about it; "" for tools of real servers
	Raw     json.RawMessage `json:"tool"`    // all of the tool's object
}

// Name returns the tool's name.
func (s Sample) Name() string {
	var t struct{ Name string }
	decode(s.Raw, &t)
	return t.Name
}

// Input returns the tool's input schema, nil if it has none.
func (s Sample) Input() json.RawMessage {
	var t struct{ InputSchema json.RawMessage }
	decode(s.Raw, &t)
	return t.InputSchema
}

// Tools returns the tools of real servers.
func Tools() []Sample { return lines[Sample](tools) }

// Torture returns tools that are each odd in one way that has been seen to
// break a client, or to be lost on the way to one.
func Torture() []Sample { return lines[Sample](torture) }

func lines[T any](file string) []T {
	var all []T
	for line := range strings.Lines(file) {
		var one T
		decode([]byte(line), &one)
		all = append(all, one)
	}
	return all
}

// decode is for embedded files, all of which the tests of this package decode.
func decode(raw []byte, to any) {
	if err := json.Unmarshal(raw, to); err != nil {
		panic(err)
	}
}

// InputSchemas returns the names and schemas of everything in this package that a tool may
// take: those of [Schemas], [Tools], [Torture] and [Hostile], and random ones. Not all of
// the hostile ones are schemas.
func InputSchemas() []Record {
	var all []Record
	add := func(name string, schema json.RawMessage) { all = append(all, Record{Name: name, Schema: schema}) }
	for _, r := range Schemas() {
		add("schema_"+r.Name, r.Schema)
	}
	for i, s := range append(Tools(), Torture()...) {
		if input := s.Input(); bytes.HasPrefix(input, []byte("{")) { // else it is never a tool
			add(fmt.Sprintf("tool_%d_%s", i, s.Name()), input)
		}
	}
	for seed := range uint64(300) {
		add(fmt.Sprint("random_", seed), RandomSchema(rand.New(rand.NewPCG(seed, 11))))
	}
	for i, b := range Hostile() {
		add(fmt.Sprintf("hostile_%d", i), b.Schema)
	}
	return all
}
