package accept

import (
	_ "embed" // for the files
	"encoding/json"
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
