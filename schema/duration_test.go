package schema_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/toolpost/toolpost/schema"
)

// A waits has a time.Duration wherever one may stand.
type waits struct {
	Field   time.Duration             `json:"field,omitempty" desc:"longest wait" min:"1s" max:"1h"`
	Pointer *time.Duration            `json:"pointer,omitempty"`
	Quoted  time.Duration             `json:"quoted,string,omitempty"`
	List    []time.Duration           `json:"list,omitempty"`
	Pair    [2]*time.Duration         `json:"pair,omitzero"`
	ByName  map[string]time.Duration  `json:"by/name,omitempty"`
	Steps   map[string][]*waitingStep `json:"steps,omitempty"`
	Note    string                    `json:"note,omitempty"`
	waitingBase
}

type waitingBase struct {
	Promoted time.Duration `json:"promoted,omitempty"`
}

type waitingStep struct {
	Wait time.Duration  `json:"wait"`
	Next []*waitingStep `json:"next,omitempty"`
	At   time.Time      `json:"at,omitzero"`
}

func TestDurationAsText(t *testing.T) {
	s, err := schema.ForInput[waits]()
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		`{"field":5000000000}`: `{"field":5000000000}`,
		`{"field":"5m"}`:       `{"field":300000000000}`,
		`{ "note":"5m", "field" : "1h0m" , "pointer":"-1.5s"}`: `{ "note":"5m", "field" : 3600000000000 , "pointer":-1500000000}`,
		`{"quoted":"2ms"}`: `{"quoted":"2000000"}`,
		`{"list":["1us",2,"\u0033µs"],"pair":["1ns","0"]}`:         `{"list":[1000,2,3000],"pair":[1,0]}`,
		`{"promoted":"1s","by/name":{"a":"1s","b":"2s"}}`:          `{"promoted":1000000000,"by/name":{"a":1000000000,"b":2000000000}}`,
		`{"steps":{"x":[{"wait":"1ns","next":[{"wait":"2ns"}]}]}}`: `{"steps":{"x":[{"wait":1,"next":[{"wait":2}]}]}}`,
	} {
		got, err := s.ValidateInput([]byte(in))
		if err != nil || string(got) != want {
			t.Errorf("%s is read as %s: %v", in, got, err)
			continue
		}
		var v waits
		if err := json.Unmarshal(got, &v); err != nil {
			t.Errorf("Go does not read %s: %v", got, err)
		}
	}
}

func TestNotADuration(t *testing.T) {
	s, err := schema.ForInput[waits]()
	if err != nil {
		t.Fatal(err)
	}
	const want = `expected a duration (write "5m", "1h30m" or a number of nanoseconds), got `
	for in, want := range map[string]string{
		`{"field":"5 minutes","list":["1s","PT5M"]}`: `/field: ` + want + `string "5 minutes"` + "\n" + `/list/1: ` + want + `string "PT5M"`,
		`{"by/name":{"a":"300"},"note":1}`:           `/by~1name/a: ` + want + `string "300"` + "\n" + `/note: expected string, got integer 1`,
		`{"quoted":"5"}`:                             "",
		`{"field":"9999999h"}`:                       `/field: ` + want + `string "9999999h"`,
		`{"field":"2h"}`:                             `/field: expected integer from 1000000000 up to 3600000000000, got integer 7200000000000`,
		`{"field":1.5}`:                              `/field: expected integer from 1000000000 up to 3600000000000, got number 1.5`,
		`{"field":"5m","field":"6m"}`:                `/field: expected one property of this name, got a duplicate`,
		`{"field":"5m"`:                              `expected "," or "}", got the end`,
		`{"steps":{"x":[{"wait":"1s","at":"5m"}]}}`:  "",
		`{"waits":"5m"}`:                             `/waits: unknown property; valid names: `,
	} {
		got, err := s.ValidateInput([]byte(in))
		switch {
		case want == "" && err != nil, want != "" && (err == nil || got != nil || !strings.HasPrefix(err.Error(), want)):
			t.Errorf("%s: %s, %v", in, got, err)
		}
	}
}

// TestDurationLeftAlone: only an inferred input has durations, and layers that
// rewrite its schema keep them.
func TestDurationLeftAlone(t *testing.T) {
	input, err := schema.ForInput[waitingBase]()
	if err != nil {
		t.Fatal(err)
	}
	output, err := schema.ForOutput[waitingBase]()
	if err != nil {
		t.Fatal(err)
	}
	other, err := input.With([]byte(`{"type":"object","properties":{"promoted":{"type":"integer","description":"how long"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		s    *schema.Schema
		ok   bool
	}{{"input", input, true}, {"output", output, false}, {"rewritten", other, true}, {"parsed", schema.MustParse(string(input.Raw())), false}} {
		if _, err := c.s.ValidateInput([]byte(`{"promoted":"1s"}`)); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestDurationInTags(t *testing.T) {
	s, err := schema.ForInput[struct {
		A time.Duration   `json:"a" desc:"5m" default:"90s" min:"1s" max:"1h" example:"5m"`
		B []time.Duration `json:"b" enum:"1s,2"`
		C time.Duration   `json:"c,string" default:"1ms"`
	}]()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":"object","properties":{"a":{"type":"integer","description":"5m (nanoseconds)","default":90000000000,"examples":[300000000000],"minimum":1000000000,"maximum":3600000000000},` +
		`"b":{"type":"array","items":{"type":"integer","description":"nanoseconds","enum":[1000000000,2]}},` +
		`"c":{"type":"string","description":"nanoseconds","default":"1000000","pattern":"^-?(0|[1-9][0-9]*)$"}},"required":["b"],"additionalProperties":false}`
	if diff := cmp.Diff(want, string(s.Raw())); diff != "" {
		t.Error(diff)
	}
}
