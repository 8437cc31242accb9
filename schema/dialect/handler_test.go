package dialect_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/dialect"
	"github.com/toolpost/toolpost/schema/internal/lower"
)

// plain renames get.user, so that it is adapted.
var plain = dialect.Name{Pattern: "^[a-z0-9_]+$"}

// record is a tool that tells what it was called with.
func record(raw string, policy toolpost.Policy) (*toolpost.Tool, *toolpost.Call) {
	got := new(toolpost.Call)
	return &toolpost.Tool{
		Definition: toolpost.Definition{Name: "get.user", Input: schema.MustParse(raw)},
		Policy:     policy,
		Handler: func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
			*got = *call
			return toolpost.TextResult("done"), nil
		},
	}, got
}

// through calls the tool as a reader of d does.
func through(t *testing.T, d *dialect.Dialect, tool *toolpost.Tool, arguments string) *toolpost.Result {
	t.Helper()
	set, err := toolpost.NewSet(t.Context(), d.Layer(toolpost.Tools{tool}, nil))
	if err != nil {
		t.Fatal(err)
	}
	tools, _ := set.Tools(t.Context())
	r, err := set.Call(t.Context(), &toolpost.Call{
		ID: "7", Name: tools[0].Name, Arguments: json.RawMessage(arguments), Params: json.RawMessage(`{"_meta":{}}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const userSchema = `{"type":"object","properties":{"id":{"type":"integer"},"tags":{"type":"array"},"filter":{"type":"object"},
	"note":{"type":"string"},"limit":{"type":"integer","default":5}},"required":["id"],"additionalProperties":false}`

func TestCall(t *testing.T) {
	d := dialect.Make("x", dialect.Form{Name: plain})
	tests := []struct {
		what, arguments, want string
		notes                 []string
	}{
		{"plain", `{"id":1}`, `{"id":1,"limit":5}`, nil},
		{"whole arguments in a string", ` "{\"id\":1}"`, `{"id":1,"limit":5}`,
			[]string{"the arguments were a string that contains JSON; they are read as that JSON"}},
		{"a list in a string", `{"id":1,"tags":"[\"a\"]","limit":1}`, `{"id":1,"tags":["a"],"limit":1}`,
			[]string{"/tags was a string that contains JSON; it is read as that JSON"}},
		{"two parts", `{"filter":" {\"a\":2}","id":1,"limit":1, "tags":"[]"}`, `{"filter":{"a":2},"id":1,"limit":1, "tags":[]}`,
			[]string{"/filter was a string that contains JSON; it is read as that JSON", "/tags was a string that contains JSON; it is read as that JSON"}},
		{"text that looks like JSON", `{"id":1,"note":"[1]","limit":1}`, `{"id":1,"note":"[1]","limit":1}`, nil},
	}
	for _, test := range tests {
		tool, got := record(userSchema, toolpost.Policy{})
		r := through(t, d, tool, test.arguments)
		if r.IsError() || string(got.Arguments) != test.want || got.Name != "get.user" || got.ID != "7" || got.Params == nil {
			text, _ := r.FirstText()
			t.Errorf("%s: called with %s %s; %s", test.what, got.Name, got.Arguments, text)
		}
		if !slices.Equal(r.Notes(), test.notes) {
			t.Errorf("%s: notes %q", test.what, r.Notes())
		}
	}
}

func TestCallWithWrongArguments(t *testing.T) {
	d := dialect.Make("x", dialect.Form{Name: plain})
	for arguments, want := range map[string]string{
		`{"id":"1"}`:              "/id: expected integer",
		`{"id":1,"tags":"[1"}`:    "/tags: expected array",
		`{"id":1,"tags":"[1]x"}`:  "/tags: expected array",
		`{"id":1,"tags":"{}"}`:    `/tags: expected array, got string "{}"`,
		`"{\"id\":1"`:             "expected object",
		`"[1]"`:                   "expected object",
		`{"id":1`:                 "",
		`{"id":1,"tagz":["[1]"]}`: "valid names: tags",
	} {
		tool, got := record(userSchema, toolpost.Policy{})
		r := through(t, d, tool, arguments)
		text, _ := r.FirstText()
		if !r.IsError() || r.Outcome() != toolpost.Retry || got.Name != "" || !strings.Contains(text, want) ||
			!strings.HasPrefix(text, "invalid arguments for get_user_") {
			t.Errorf("%s: %s", arguments, text)
		}
	}
}

// TestUncheckedStaysUnchecked: what a foreign server takes beyond its schema
// reaches it, where the reader saw that schema. It is repaired only if that
// makes it fit.
func TestUncheckedStaysUnchecked(t *testing.T) {
	for _, d := range []*dialect.Dialect{dialect.Make("x", dialect.Form{Name: plain}), dialect.Make("y", dialect.Form{})} {
		for in, want := range map[string]string{
			`{"id":"1","tags":["[1]"]}`:            `{"id":"1","tags":["[1]"]}`,
			`{"id":"1","tags":"[1]"}`:              `{"id":"1","tags":"[1]"}`,
			`{"id":1,"tags":"[1]"}`:                `{"id":1,"tags":[1]}`,
			`{"id":1, "tags":"\u005b1]"}`:          `{"id":1, "tags":[1]}`,
			`{"id":1, "note":"[1]", "extra":"{}"}`: `{"id":1, "note":"[1]", "extra":"{}"}`,
			`"{\"id\":\"1\"}"`:                     `{"id":"1"}`,
			``:                                     `{}`,
		} {
			tool, got := record(userSchema, toolpost.Policy{SkipValidation: true})
			if r := through(t, d, tool, in); r.IsError() || string(got.Arguments) != want || (want == in) != (r.Notes() == nil) && in != "" {
				t.Errorf("%s, %s: called with %s; %q", d.ID, in, got.Arguments, r.Notes())
			}
		}
	}
}

// TestEveryDialectRepairs: what is repaired does not depend on what else was
// to be adapted.
func TestEveryDialectRepairs(t *testing.T) {
	const in = `{"type":"object","properties":{"a":{"type":"array","items":{"type":"integer"}}},"required":["a"]}`
	for _, d := range dialect.All() {
		for _, description := range []string{"plain", "has_underscore"} {
			for _, unchecked := range []bool{false, true} {
				for arguments, want := range map[string]string{
					`{"a":[1, 2]}`:      `{"a":[1, 2]}`,
					`{"a":"[1,2]"}`:     `{"a":[1,2]}`,
					`"{\"a\":[1]}"`:     `{"a":[1]}`,
					`"{\"a\":\"[1]\"}"`: `{"a":[1]}`,
				} {
					tool, got := record(in, toolpost.Policy{SkipValidation: unchecked})
					tool.Description = description
					r := through(t, d, tool, arguments)
					var values []byte
					if values = got.Arguments; arguments != want {
						values = []byte(strings.ReplaceAll(string(values), " ", ""))
					}
					if r.IsError() || string(values) != want || (arguments == want) != (len(r.Notes()) == 0) {
						text, _ := r.FirstText()
						t.Errorf("%s, %s, unchecked %v: %s: called with %s, notes %q; %s", d.ID, description, unchecked, arguments, values, r.Notes(), text)
					}
				}
			}
		}
	}
}

// TestEveryDialectReadsDurations: a typed tool takes "5m" from every reader, also
// where the arguments need another repair, and says what to write instead of "soon".
func TestEveryDialectReadsDurations(t *testing.T) {
	type step struct {
		Wait  time.Duration `json:"wait"`
		Notes []string      `json:"notes"`
	}
	type waits struct {
		Steps   []step                   `json:"steps"`
		Limits  map[string]time.Duration `json:"limits,omitempty"`
		Timeout *time.Duration           `json:"timeout,omitempty"`
	}
	var got waits
	tool := toolpost.New("wait_for", "Waits.", func(_ context.Context, in waits) (string, error) {
		got = in
		return "done", nil
	}, nil)
	minute := time.Minute
	for _, d := range dialect.All() {
		for arguments, want := range map[string]waits{
			`{"steps":[{"wait":"1h30m","notes":["a"]}],"timeout":"1m"}`:  {Steps: []step{{90 * minute, []string{"a"}}}, Timeout: &minute},
			`{"steps":[{"wait":60000000000,"notes":[]}],"timeout":"1m"}`: {Steps: []step{{minute, []string{}}}, Timeout: &minute},
			`{"steps":"[{\"wait\":\"1m\",\"notes\":\"[]\"}]"}`:           {Steps: []step{{minute, []string{}}}},
			`{"steps":[],"limits":{"a":"1m"}}`:                           {Steps: []step{}, Limits: map[string]time.Duration{"a": minute}},
		} {
			got = waits{}
			if r := through(t, d, tool, arguments); r.IsError() || !cmp.Equal(got, want) {
				text, _ := r.FirstText()
				t.Errorf("%s: %s: %+v; %s", d.ID, arguments, got, text)
			}
		}
		r := through(t, d, tool, `{"steps":[{"wait":"1m","notes":[]}],"timeout":"soon"}`)
		const want = `/timeout: expected a duration (write "5m", "1h30m" or a number of nanoseconds), got string "soon"`
		if text, _ := r.FirstText(); !r.IsError() || !strings.Contains(text, want) || strings.Contains(text, "/wait") {
			t.Errorf("%s: %s", d.ID, text)
		}
	}
}

func TestRepairOfCase(t *testing.T) {
	const in = `{"type":"object","$defs":{"S":{"anyOf":[{"const":"Open"},{"enum":["Done",3]}]}},"properties":{
		"state":{"$ref":"#/$defs/S"},"states":{"type":"array","items":{"$ref":"#/$defs/S"}},"twice":{"enum":["Ab","AB"]},
		"by/name":{"additionalProperties":{"enum":["high"]}},"text":{"type":"string","pattern":"^[a-z]+$"},"number":{"type":"integer"}}}`
	d := dialect.Make("x", dialect.Form{})
	for arguments, want := range map[string]string{
		`{"state":"Open"}`:               "",
		`{"state":"OPEN"}`:               `/state was "OPEN"; it is read as "Open"`,
		`{"states":["done", "open", 3]}`: `/states/0 was "done"; it is read as "Done"` + "\n" + `/states/1 was "open"; it is read as "Open"`,
		`{"states":"[\"done\"]"}`:        `/states was a string that contains JSON; it is read as that JSON` + "\n" + `/states/0 was "done"; it is read as "Done"`,
		`{"by/name":{"a":"HIGH"}}`:       `/by~1name/a was "HIGH"; it is read as "high"`,
		`{"twice":"ab"}`:                 "refused",
		`{"text":"HIGH"}`:                "refused",
		`{"number":"7"}`:                 "refused",
		`{"state":"OPEN","number":"7"}`:  "refused",
	} {
		for _, unchecked := range []bool{false, true} {
			tool, got := record(in, toolpost.Policy{SkipValidation: unchecked})
			r := through(t, d, tool, arguments)
			switch notes := strings.Join(r.Notes(), "\n"); {
			case want != "refused" && (r.IsError() || notes != want):
				t.Errorf("%s: %v, notes %s", arguments, r.IsError(), notes)
			case want == "refused" && unchecked && string(got.Arguments) != arguments:
				t.Errorf("%s: called with %s", arguments, got.Arguments)
			case want == "refused" && !unchecked && (!r.IsError() || got.Name != ""):
				t.Errorf("%s: it is not refused", arguments)
			}
		}
	}
}

// TestApprovalSeesRepairedArguments: nobody is asked about arguments that do
// not fit.
func TestApprovalSeesRepairedArguments(t *testing.T) {
	var asked []string
	tool, got := record(userSchema, toolpost.Policy{Approve: func(_ context.Context, call *toolpost.Call) error {
		asked = append(asked, string(call.Arguments))
		return nil
	}})
	d := dialect.Make("x", dialect.Form{})
	through(t, d, tool, `{"id":1,"tags":"[2]","limit":1}`)
	if !slices.Equal(asked, []string{`{"id":1,"tags":[2],"limit":1}`}) || string(got.Arguments) != asked[0] {
		t.Errorf("asked for %q, called with %s", asked, got.Arguments)
	}
}

// TestHandlerRunsOnce: an error about arguments that the handler makes itself
// is no reason to repair.
func TestHandlerRunsOnce(t *testing.T) {
	runs := 0
	tool, _ := record(userSchema, toolpost.Policy{})
	tool.Handler = func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
		runs++
		return nil, &toolpost.ArgumentsError{Tool: "get.user", Err: errors.New("no such user")}
	}
	if r := through(t, dialect.Make("x", dialect.Form{}), tool, `{"id":1,"note":"{}"}`); !r.IsError() || runs != 1 {
		t.Errorf("%d runs", runs)
	}
}

// TestManyRepairs: a model is told of ten, and of how many more there are.
func TestManyRepairs(t *testing.T) {
	tool, _ := record(`{"type":"object","properties":{"a":{"type":"array","items":{"enum":["red","green",1]}}}}`, toolpost.Policy{})
	d, err := dialect.Find("openai-strict")
	if err != nil {
		t.Fatal(err)
	}
	for d, arguments := range map[*dialect.Dialect]string{
		{ID: "x"}: `{"a":[` + strings.Repeat(`"RED",`, 29) + `"RED"]}`,
		d:         `{"a":[` + strings.Repeat(`"RED",`, 4999) + `"RED"]}`,
	} {
		r := through(t, d, tool, arguments)
		notes := r.Notes()
		want := fmt.Sprintf("and %d more", strings.Count(arguments, "RED")-10)
		if r.IsError() || len(notes) != 11 || notes[10] != want {
			t.Errorf("%s: %d notes, %q", d.ID, len(notes), notes[max(0, len(notes)-1):])
		}
	}
}

func TestPolicyOfAdaptedTool(t *testing.T) {
	asked := ""
	tool, _ := record(userSchema, toolpost.Policy{Timeout: time.Second, Polled: true, Approve: func(_ context.Context, call *toolpost.Call) error {
		asked = call.Name + string(call.Arguments)
		return errors.New("no")
	}})
	d := dialect.Make("x", dialect.Form{Name: plain})
	p := d.Adapt([]*toolpost.Tool{tool}, nil).Tools[0].Policy
	if p.Timeout != time.Second || !p.Polled || !p.SkipValidation || p.Approve != nil {
		t.Errorf("policy %+v", p)
	}
	r := through(t, d, tool, `{"id":1}`)
	if asked != `get.user{"id":1,"limit":5}` || r.Outcome() != toolpost.Denied {
		t.Errorf("asked for %s; %v", asked, r.Outcome())
	}
}

func TestErrorsOfTheHandlerStay(t *testing.T) {
	d := dialect.Make("x", dialect.Form{Name: plain})
	mine := &toolpost.ArgumentsError{Tool: "another", Err: errors.New("wrong")}
	for _, want := range []error{errors.New("broken"), toolpost.Denied.Errorf("no"), mine, fmt.Errorf("x: %w", toolpost.ErrNotFound)} {
		tool, _ := record(userSchema, toolpost.Policy{})
		tool.Handler = func(context.Context, *toolpost.Call) (*toolpost.Result, error) { return nil, want }
		adapted := d.Adapt([]*toolpost.Tool{tool}, nil).Tools[0]
		if _, got := adapted.Handler(t.Context(), &toolpost.Call{Arguments: json.RawMessage(`{"id":1}`)}); got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

func TestCallWithoutResult(t *testing.T) {
	tool, _ := record(userSchema, toolpost.Policy{})
	tool.Handler = func(context.Context, *toolpost.Call) (*toolpost.Result, error) { return nil, nil }
	d := dialect.Make("x", dialect.Form{Name: plain})
	if r := through(t, d, tool, `"{\"id\":1}"`); r.IsError() || len(r.Notes()) != 1 {
		t.Errorf("result %+v", r)
	}
	if r := through(t, d, tool, `{"id":1}`); r.IsError() {
		t.Errorf("result %+v", r)
	}
}

func TestDecode(t *testing.T) {
	tool, _ := record(userSchema, toolpost.Policy{SkipValidation: true})
	adapted := dialect.Make("x", dialect.Form{Name: plain}).Adapt([]*toolpost.Tool{tool}, nil).Tools[0]
	got, err := adapted.Decode(json.RawMessage(`{"id":1,"tags":"[2]"}`))
	if err != nil || string(got) != `{"id":1,"tags":[2]}` {
		t.Errorf("got %s, %v", got, err)
	}
	_, err = adapted.Decode(json.RawMessage(`{"id":"x"}`))
	var wrong *toolpost.ArgumentsError
	if !errors.As(err, &wrong) || wrong.Tool != adapted.Name || !strings.Contains(err.Error(), "/id: expected integer") {
		t.Errorf("error %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(`{"id":1,"tags":"[2]","filter":"{\"a\":\"[]\"}"}`)
	f.Add(`"\"{}\""`)
	tool, _ := record(userSchema, toolpost.Policy{})
	adapted := dialect.Make("x", dialect.Form{Name: plain}).Adapt([]*toolpost.Tool{tool}, nil).Tools[0]
	f.Fuzz(func(t *testing.T, arguments string) {
		got, err := adapted.Decode(json.RawMessage(arguments))
		if err == nil && tool.Input.Validate(got) != nil {
			t.Errorf("%s becomes %s", arguments, got)
		}
		if tool.Input.Validate([]byte(arguments)) == nil && (err != nil || string(got) != arguments) {
			t.Errorf("%s is valid, and becomes %s, %v", arguments, got, err)
		}
	})
}

// TestCallInAnotherShape: arguments come back in the shape of the original,
// and errors name what the reader knows.
func TestCallInAnotherShape(t *testing.T) {
	const was = `{"type":"object","properties":{"id":{"type":["integer","string"]},"filter[name]":{"type":"string","maxLength":3},
		"labels":{"type":"object","additionalProperties":{"type":"integer"}}},"required":["id"],"additionalProperties":false}`
	d := dialect.Make("x", dialect.Form{
		Input: lower.Rules{
			Keywords: []string{"type", "properties", "required", "additionalProperties", "items", "description"},
			Union:    lower.Union{None: true, NoList: true},
			Object:   lower.Object{Name: "^[a-z_]+$", Maps: "pairs"},
		}})
	tool, got := record(was, toolpost.Policy{SkipValidation: true}) // another shape is checked all the same
	adapted := d.Adapt([]*toolpost.Tool{tool}, nil).Tools[0]
	renamed := regexp.MustCompile(`"(filter_[^"]*)"`).FindStringSubmatch(string(adapted.Input.Raw()))
	if renamed == nil {
		t.Fatalf("schema: %s", adapted.Input.Raw())
	}
	name := renamed[1]
	for arguments, want := range map[string]string{
		`{"id":"7"}`:                      `{"id":7}`,
		`{"id":"x"}`:                      `{"id":"x"}`,
		`{"id":"x","` + name + `":"abc"}`: `{"id":"x","filter[name]":"abc"}`,
		`{"id":"x","labels":[{"key":"a","value":1}]}`:   `{"id":"x","labels":{"a":1}}`,
		`"{\"id\":\"7\"}"`:                              `{"id":7}`,
		`{"id":"x","` + name + `":"abcd"}`:              "/" + name + ": expected string with at most 3 characters",
		`{"id":"x","filter_nam":"a"}`:                   "valid names: " + name + ", id, labels",
		`{}`:                                            "/id: expected",
		`{"id":"x","labels":[{"key":"a","value":"b"}]}`: "/labels",
	} {
		*got = toolpost.Call{}
		r := through(t, d, tool, arguments)
		text, _ := r.FirstText()
		if !strings.HasPrefix(want, "{") {
			if !r.IsError() || got.Name != "" || !strings.Contains(text, want) {
				t.Errorf("%s: want %s, got %s", arguments, want, text)
			}
		} else if r.IsError() || string(got.Arguments) != want {
			t.Errorf("%s: called with %s; %s", arguments, got.Arguments, text)
		}
	}
}

// TestReservedMember: a client that adds members of its own to the arguments
// can call tools that refuse members they do not know.
func TestReservedMember(t *testing.T) {
	d, err := dialect.Find("gemini-cli")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ what, schema, arguments, want string }{
		{"closed", `{"type":"object","properties":{"q":{"type":"string"}},"additionalProperties":false}`, `{"q":"a","wait_for_previous":true}`, `{"q":"a"}`},
		{"first", `{"type":"object","properties":{"q":{"type":"string"}},"additionalProperties":false}`, `{ "wait_for_previous" : true , "q":"a" }`, `{ "q":"a" }`},
		{"alone", `{"type":"object","additionalProperties":false}`, `{"wait_for_previous":false}`, `{}`},
		{"open", `{"type":"object"}`, `{"wait_for_previous":true,"n":9007199254740993}`, `{"n":9007199254740993}`},
		{"inside", `{"type":"object","properties":{"o":{"type":"object"}}}`, `{"o":{"wait_for_previous":true}}`, `{"o":{"wait_for_previous":true}}`},
		{"declared", `{"type":"object","properties":{"wait_for_previous":{"type":"integer"}},"additionalProperties":false}`, `{"wait_for_previous_2":3,"wait_for_previous":true}`, `{"wait_for_previous":3}`},
		{"as text", `{"type":"object","additionalProperties":false}`, `"{\"wait_for_previous\":true}"`, `{}`},
	} {
		for _, policy := range []toolpost.Policy{{}, {SkipValidation: true}} {
			tool, got := record(c.schema, policy)
			through(t, d, tool, c.arguments)
			if string(got.Arguments) != c.want {
				t.Errorf("%s: the tool got %s, want %s", c.what, got.Arguments, c.want)
			}
		}
	}
}
