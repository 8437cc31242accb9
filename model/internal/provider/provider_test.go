package provider_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
	"github.com/toolpost/toolpost/schema"
)

func TestCache(t *testing.T) {
	var c provider.Cache[string, int]
	made := 0
	get := func(key *string) int {
		v, err := c.Get(key, func() (int, error) { made++; return made, nil })
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	one, other := new(string), new(string)
	*one, *other = "a", "a"
	if got := []int{get(one), get(other), get(one)}; got[0] != 1 || got[1] != 2 || got[2] != 1 {
		t.Errorf("got %v", got)
	}
	runtime.KeepAlive(one)
	runtime.KeepAlive(other)
	cause := errors.New("no")
	failed := new(string)
	if _, err := c.Get(failed, func() (int, error) { return 0, cause }); err != cause {
		t.Errorf("the error is %v", err)
	}
	if get(failed) != 3 {
		t.Error("an error is kept")
	}
}

func TestCallIDs(t *testing.T) {
	ids := provider.NewCallIDs("x_", 30)
	ids.Keep("kept")
	seen := map[string]bool{"kept": true}
	for _, id := range []string{"a", "a", "kept", "not valid", "not valid", "", strings.Repeat("l", 31)} {
		got := ids.Choose(id)
		if seen[got] || !provider.IsName(got, 30) {
			t.Errorf("the id of %q is %q", id, got)
		}
		if seen[id] == (got == id) && provider.IsName(id, 30) {
			t.Errorf("%q became %q", id, got)
		}
		if ids.Of(id) != got {
			t.Errorf("the result of %q has the id %q, want %q", id, ids.Of(id), got)
		}
		seen[got] = true
	}
	if got := ids.Of("unknown"); got != "unknown" {
		t.Errorf("an unknown id became %q", got)
	}
}

func TestObject(t *testing.T) {
	var empty, o provider.Object
	o.Add("none", nil)
	o.AddText("a\"", "<\n")
	o.Add("b", json.RawMessage("[ 1.0 ]"))
	more := provider.Extend(json.RawMessage("{ \"c\" : 1 }"))
	more.Add("d", provider.Array([]json.RawMessage{o.JSON(), json.RawMessage("2")}))
	first := provider.Extend(json.RawMessage("{ }"))
	first.AddText("e", "")
	for _, c := range [][2]string{
		{string(empty.JSON()), `{}`}, {string(provider.Array(nil)), `[]`}, {string(first.JSON()), `{"e":""}`},
		{string(more.JSON()), `{ "c" : 1,"d":[{"a\"":"<\n","b":[ 1.0 ]},2]}`},
	} {
		if c[0] != c[1] {
			t.Errorf("got %s, want %s", c[0], c[1])
		}
	}
}

func TestRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		later := time.Now().Add(time.Minute).UTC().Format(http.TimeFormat)
		for _, c := range []struct {
			name, value string
			want        time.Duration
		}{
			{"Retry-After", "1.5", 1500 * time.Millisecond}, {"Retry-After-Ms", "2.5", 2500 * time.Microsecond},
			{"Retry-After", later, time.Minute}, {"Retry-After", "Wed, 20 Oct 1999 07:28:00 GMT", 0},
			{"Retry-After", "-1", 0}, {"Retry-After", "NaN", 0}, {"Retry-After", "soon", 0}, {"Retry-After", "", 0},
			{"Retry-After", "1e300", 20 * 24 * time.Hour}, {"Retry-After", "Inf", 20 * 24 * time.Hour},
		} {
			h := http.Header{}
			h.Set(c.name, c.value)
			if got := provider.RetryAfter(h); got != c.want {
				t.Errorf("%s: %s: got %v, want %v", c.name, c.value, got, c.want)
			}
		}
	})
}

func TestKindOfStatus(t *testing.T) {
	for status, want := range map[int]model.ErrorKind{
		0: model.KindServer, 204: model.KindServer, 302: model.KindInvalid, 400: model.KindInvalid, 404: model.KindInvalid, 422: model.KindInvalid,
		401: model.KindAuth, 403: model.KindAuth, 402: model.KindQuota, 413: model.KindTooLong, 429: model.KindRateLimit,
		408: model.KindServer, 409: model.KindServer, 500: model.KindServer, 502: model.KindServer, 503: model.KindOverloaded, 529: model.KindOverloaded,
	} {
		if got := provider.KindOfStatus(status); got != want {
			t.Errorf("%d: got %s, want %s", status, got, want)
		}
	}
}

func TestWrapSchema(t *testing.T) {
	s := schema.MustParse(`{"$defs":{"n":{"type":"integer"}},"type":"array","items":{"$ref":"#/$defs/n"}}`)
	wrapped, err := provider.WrapSchema(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := wrapped.Validate([]byte(`{"answer":[1]}`)); err != nil {
		t.Error(err)
	}
	if wrapped.Validate([]byte(`{"answer":["x"]}`)) == nil {
		t.Errorf("the definition is lost: %s", wrapped.Raw())
	}
	if got := provider.UnwrapAnswer(json.RawMessage(`{"answer": [ 1 ]}`)); string(got) != "[ 1 ]" {
		t.Errorf("got %s", got)
	}
}

// TestForeignPart reports a part that is left out once, and its damage instead.
func TestForeignPart(t *testing.T) {
	p := &model.Part{Type: model.TypeOpaque, Text: "search", Origin: &model.Origin{Provider: "a", Model: "m"}}
	var l provider.Losses
	l.AddForeign(1, 2, p)
	l.AddDamaged(1, 3, p, errors.New("it is empty"))
	l.AddDamaged(1, 4, p, errors.New("it is empty"))
	l.AddForeign(1, 3, p)
	l.AddForeign(1, 4, p)
	want := []string{
		`message 1, part 2: the opaque part "search" of a/m is left out: only its provider understands it`,
		`message 1, part 3: the opaque part "search" cannot be sent back as it was received: it is empty`,
	}
	if len(l) != 3 || l[0].String() != want[0] || l[1].String() != want[1] {
		t.Errorf("got %v", l)
	}
}
