package toolpost_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"testing"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/schema"
)

type (
	octet    byte
	Exported string
	base     struct{ ID int }
	code     string
)

func (*code) UnmarshalText(text []byte) error {
	if len(text) != 2 {
		return errors.New("want two letters")
	}
	return nil
}

// echo returns its input, so a call reads and writes JSON.
func echo[T any](t *testing.T, args string) *toolpost.Result {
	t.Helper()
	opts := &toolpost.Options{Input: schema.MustParse(`{"type":"object"}`)}
	tool := toolpost.New("echo", "", func(_ context.Context, in T) (*toolpost.Result, error) { return toolpost.JSONResult(in) }, opts)
	return call(t, newSet(t, toolpost.Tools{tool}), "echo", args)
}

func roundTrip[T any](t *testing.T, v T) {
	t.Helper()
	want, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if r := echo[T](t, string(want)); text(r) != string(want) {
		t.Errorf("%T: got  %s\nwant %s", v, text(r), want)
	}
}

// Types are read and written as encoding/json does it.
func TestCodecIsThatOfEncodingJSON(t *testing.T) {
	roundTrip(t, struct {
		N json.Number
		Q json.Number `json:",string"`
		P *json.Number
		M map[json.Number][]json.Number
	}{"1.50", "7", nil, map[json.Number][]json.Number{"1.0": {"12345678901234567890.10"}}})
	roundTrip(t, struct {
		B bool     `json:",string"`
		S string   `json:",string"`
		I int      `json:",string"`
		P *float64 `json:",string"`
		//lint:ignore SA5008 encoding/json ignores it, and so must we
		L []int `json:",string"`
	}{true, `a"b`, -1, new(float64), []int{1}})
	roundTrip(t, struct {
		Named []octet
		Plain []byte
		Array [2]byte
		Wait  time.Duration
		Zero  int `json:",omitempty"`
	}{[]octet{1, 2}, []byte("a"), [2]byte{1, 2}, time.Second, 0})
	roundTrip(t, struct {
		Exported
		base `json:"base"`
		//lint:ignore SA5008 the tag of a member called "-"
		Dash int `json:"-,"`
	}{"a", base{1}, 2})
	roundTrip(t, struct{ U *url.URL }{&url.URL{Host: "example.org", User: url.User("u")}})
}

// What differs from encoding/json is meant to.
func TestCodecForModels(t *testing.T) {
	for _, tt := range []struct {
		v    any
		want string
	}{
		{struct {
			S []int
			M map[string]int
			B []byte
		}{}, `{"S":[],"M":{},"B":""}`},
		{"<a> & \u2028 \xff", "\"<a> & \u2028 \ufffd\""},
		{map[string]any{"b": json.Number("1e2"), "a": nil}, `{"a":null,"b":1e2}`},
	} {
		r, err := toolpost.JSONResult(tt.v)
		if err != nil || text(r) != tt.want {
			t.Errorf("got %s, %v, want %s", text(r), err, tt.want)
		}
	}
	for _, v := range []any{json.Number("x"), make(chan int), func() {}} {
		if r, err := toolpost.JSONResult(v); err == nil {
			t.Errorf("%T: no error, but %s", v, text(r))
		}
	}
}

// A model is told where its arguments are wrong.
func TestDecodeErrors(t *testing.T) {
	type in struct {
		Small int8
		List  []struct{ Code code }
		Exact json.Number
		At    []time.Time
	}
	for args, want := range map[string]string{
		`{"Small":300}`:             `/Small: expected an integer of 8 bits, got 300`,
		`{"List":[{"Code":"abc"}]}`: `/List/0/Code: want two letters`,
		`{"Small":1.0,"List":5}`:    `/List: expected a value for []struct { Code toolpost_test.code }, got number`,
		`{"Small":1.5}`:             `/Small: expected an integer of 8 bits, got 1.5`,
		`{"At":["2026-01-02"]}`:     `/At/0: expected a time as RFC 3339 writes it, such as 2026-01-02T15:04:05Z, got "2026-01-02"`,
		`{"Exact":1,"Small":"a"}`:   `/Small: expected an integer of 8 bits, got string`,
	} {
		r := echo[in](t, args)
		if want = "invalid arguments for echo:\n" + want + "\nFix them and call echo again."; text(r) != want || !r.IsError() {
			t.Errorf("%s: got %s\nwant %s", args, text(r), want)
		}
	}
}
