package pins_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost/internal/policy/pins"
)

// list returns tools with these descriptions: name, description, name…
func list(pairs ...string) (listed []pins.Listed) {
	for i := 0; i < len(pairs); i += 2 {
		raw, _ := json.Marshal(map[string]string{"name": pairs[i], "description": pairs[i+1]})
		listed = append(listed, pins.Listed{Name: pairs[i], Definition: pins.NewDefinition(raw)})
	}
	return listed
}

// A process is one that looks at a server, with the memory that it has.
type process struct{ pins.Memory }

func (p process) look(t *testing.T, before pins.Tools, withholdNew bool, listed []pins.Listed) *pins.Reviewed {
	t.Helper()
	keep := maps.Clone(before)
	r := p.Review(before, listed, withholdNew)
	if !reflect.DeepEqual(keep, before) {
		t.Error("the pins before have changed")
	}
	if r.Dirty == (len(before) == len(r.Pins) && reflect.DeepEqual(before, r.Pins)) {
		t.Errorf("dirty: %v", r.Dirty)
	}
	p.Remember(listed)
	return r
}

func withheld(r *pins.Reviewed) (all []string) {
	for _, name := range slices.Sorted(maps.Keys(r.Withheld)) {
		all = append(all, name+": "+string(r.Withheld[name]))
	}
	return all
}

func TestReview(t *testing.T) {
	p := process{pins.Memory{}}
	r := p.look(t, nil, false, list("a", "1", "b", "1"))
	if !r.First || len(r.Withheld)+len(r.Added) > 0 || len(r.Pins) != 2 {
		t.Fatalf("first sight: %+v", r)
	}
	if r = p.look(t, r.Pins, false, list("b", "1", "a", "1")); r.Dirty || r.First {
		t.Fatalf("another order: %+v", r)
	}
	r = p.look(t, r.Pins, false, list("a", "2", "c", "1"))
	if diff := cmp.Diff([]string{"a: its definition has changed"}, withheld(r)); diff != "" || !slices.Equal(r.Added, []string{"c"}) {
		t.Fatalf("a change and a new tool: %s %v", diff, r.Added)
	}
	if got := r.Pins.Waiting(); !slices.Equal(got, []string{"a"}) {
		t.Fatalf("waiting: %v", got)
	}
	// A tool that was away for a while is still pinned.
	r = p.look(t, r.Pins, false, list("a", "2", "b", "2"))
	if len(r.Withheld) != 2 {
		t.Fatalf("after it was away: %v", withheld(r))
	}
	// What is not said any more need not be approved.
	r = p.look(t, r.Pins, false, list("a", "1", "b", "2"))
	if got := r.Pins.Waiting(); !slices.Equal(got, []string{"b"}) || len(r.Withheld) != 1 {
		t.Fatalf("waiting: %v", got)
	}
	hash := r.Pins["b"].Pending.Hash
	if others := r.Pins.Approve(map[string]string{"b": "other", "a": hash, "none": hash}); len(others) != 3 || len(r.Pins.Waiting()) != 1 {
		t.Errorf("what is not pending: %v", others)
	}
	if others := r.Pins.Approve(map[string]string{"b": hash}); others != nil || r.Pins["b"].Approved.Hash != hash {
		t.Errorf("approved: %v", others)
	}
	if r = p.look(t, r.Pins, false, list("a", "1", "b", "2")); r.Dirty || len(r.Withheld) > 0 {
		t.Errorf("after the approval: %+v", r)
	}
	if r = p.look(t, r.Pins, false, list("b", "1")); len(r.Withheld) != 1 {
		t.Error("what was approved before the last approval is still approved")
	}
}

func TestReviewWithholdsNewTools(t *testing.T) {
	p := process{pins.Memory{}}
	r := p.look(t, nil, true, list("a", "1"))
	if len(r.Withheld) > 0 {
		t.Fatalf("first sight: %v", withheld(r))
	}
	r = p.look(t, r.Pins, true, list("a", "1", "b", "1"))
	if diff := cmp.Diff([]string{"b: it is new"}, withheld(r)); diff != "" {
		t.Fatal(diff)
	}
	r = p.look(t, r.Pins, true, list("a", "1", "b", "2"))
	if len(r.Withheld) != 1 || !strings.Contains(string(r.Pins["b"].Pending.JSON), `"2"`) {
		t.Fatalf("a new tool that changes: %v", withheld(r))
	}
	if allowed := p.look(t, r.Pins, false, list("b", "2")); len(allowed.Withheld) > 0 || allowed.Pins["b"].Approved == nil {
		t.Error("it is not served when new tools are allowed")
	}
	r.Pins.Approve(map[string]string{"b": r.Pins["b"].Pending.Hash})
	if r = p.look(t, r.Pins, true, list("a", "1", "b", "2")); len(r.Withheld) > 0 {
		t.Errorf("after the approval: %v", withheld(r))
	}
}

// Two processes whose servers say different things come to rest, and neither
// hides what the other waits for.
// A new tool that a client could take for a pinned one waits for an approval.
func TestReviewOfNamesThatAreAlike(t *testing.T) {
	p := process{pins.Memory{}}
	r := p.look(t, nil, false, list("get_user", "1", "get-user", "1", "日本", "1", "add", "1"))
	if len(r.Withheld) > 0 {
		t.Fatalf("at first sight: %v", withheld(r))
	}
	listed := list("get_user", "1", "get.user", "2", "Get_User", "2", "getUser", "2", "中国", "2", "add_", "2", "a.d.d", "2", "_a__dd", "2", "addd", "2")
	for range 2 {
		r = p.look(t, r.Pins, false, listed)
		var want []string
		for _, name := range []string{"Get_User", "_a__dd", "a.d.d", "add_", "get.user", "getUser"} {
			want = append(want, name+": it is new, and its name is almost that of a pinned tool")
		}
		if diff := cmp.Diff(want, withheld(r)); diff != "" {
			t.Fatal(diff)
		}
	}
	r.Pins.Approve(map[string]string{"get.user": r.Pins["get.user"].Pending.Hash})
	if r = p.look(t, r.Pins, false, listed); len(r.Withheld) != 5 {
		t.Errorf("after the approval: %v", withheld(r))
	}
}

// A server that had no tools when it was first seen has new ones later.
func TestReviewOfEmptyFirstList(t *testing.T) {
	p := process{pins.Memory{}}
	r := p.look(t, nil, true, nil)
	if r.Pins == nil || !r.Dirty {
		t.Fatal("that the server was seen is not kept")
	}
	if r = p.look(t, r.Pins, true, list("a", "1")); len(r.Withheld) != 1 {
		t.Errorf("got %v", withheld(r))
	}
	p = process{pins.Memory{}}
	if r = p.look(t, nil, true, list("a", "1")); len(r.Withheld) != 0 {
		t.Errorf("at first sight: %v", withheld(r))
	}
}

func TestReviewOfTwoProcesses(t *testing.T) {
	one, two := process{pins.Memory{}}, process{pins.Memory{}}
	shared := one.look(t, nil, false, list("a", "1")).Pins
	shared = one.look(t, shared, false, list("a", "2")).Pins
	shared = two.look(t, shared, false, list("a", "3")).Pins
	for range 3 {
		r1 := one.look(t, shared, false, list("a", "2"))
		r2 := two.look(t, r1.Pins, false, list("a", "3"))
		if r1.Dirty || r2.Dirty || len(r1.Withheld) != 1 || len(r2.Withheld) != 1 {
			t.Fatalf("they write again and again: %v %v", r1.Dirty, r2.Dirty)
		}
		shared = r2.Pins
	}
	// A third process, whose server says what is approved, clears it once; the
	// others ask again.
	three := process{pins.Memory{}}
	shared = three.look(t, shared, false, list("a", "1")).Pins
	shared = two.look(t, shared, false, list("a", "3")).Pins
	if r := three.look(t, shared, false, list("a", "1")); r.Dirty || len(r.Pins.Waiting()) != 1 {
		t.Error("what another process waits for is cleared again")
	}
	shared.Approve(map[string]string{"a": shared["a"].Pending.Hash})
	if r := one.look(t, shared, false, list("a", "2")); len(r.Pins.Waiting()) != 1 {
		t.Error("the definition of the first process cannot be approved any more")
	}
}

// No server makes the pins grow without end.
func TestReviewLimits(t *testing.T) {
	p := process{pins.Memory{}}
	long := strings.Repeat("x", 257)
	r := p.look(t, nil, false, list(long, "1", "a", "1"))
	if diff := cmp.Diff([]string{long + ": its name is too long to be pinned"}, withheld(r)); diff != "" {
		t.Error(diff)
	}
	var tools pins.Tools
	for i := range 3 {
		var many []pins.Listed
		for j := range 9_000 {
			many = append(many, pins.Listed{Name: fmt.Sprintf("t%d-%d", i, j), Definition: pins.NewDefinition([]byte("{}"))})
		}
		r = p.Review(tools, many, false)
		tools = r.Pins
	}
	if len(tools) != 20_000 || len(r.Withheld) != 7_000 {
		t.Errorf("%d pins, %d withheld", len(tools), len(r.Withheld))
	}

	text := strings.Repeat("x", 1<<20)
	r = p.look(t, nil, false, list("a", text, "b", text, "c", text, "d", text, "e", "short"))
	kept := 0
	for _, pin := range r.Pins {
		if kept += len(pin.Approved.JSON); pin.Approved.Hash == "" {
			t.Error("a tool without a hash")
		}
	}
	if kept > 4<<20 || r.Pins["d"].Approved.JSON != nil || r.Pins["e"].Approved.JSON == nil {
		t.Errorf("%d bytes are kept", kept)
	}
	if r = p.look(t, r.Pins, false, list("d", text+"y")); len(r.Withheld) != 1 || r.Pins["d"].Pending.JSON == nil {
		t.Errorf("a tool of which only the hash is kept: %v", withheld(r))
	}
}

func TestNewDefinition(t *testing.T) {
	same := []string{
		`{"name":"a","description":"d","inputSchema":{"type":"object","x":9007199254740993}}`,
		"{ \"description\":\"\\u0064\", \"inputSchema\": {\"x\":9007199254740993,\n\"type\":\"object\"}, \"name\":\"a\"}",
		`{"icons":[{"src":"https://a.example/?expires=1"}],"name":"a","description":"d","inputSchema":{"type":"object","x":9007199254740993}}`,
	}
	for _, s := range same {
		if got, want := pins.NewDefinition([]byte(s)), pins.NewDefinition([]byte(same[0])); got.Hash != want.Hash {
			t.Errorf("%s differs: %s", s, got.JSON)
		}
	}
	seen := map[string]string{pins.NewDefinition([]byte(same[0])).Hash: same[0]}
	for _, s := range []string{
		`{"name":"a","description":"e","inputSchema":{"type":"object","x":9007199254740993}}`,
		`{"name":"a","description":"d","inputSchema":{"type":"object","x":9007199254740992}}`,
		`{"name":"a","description":"d","inputSchema":{"type":"object","x":9007199254740993},"title":""}`,
		`{"name":"a","description":"d","inputSchema":{"type":"object","x":9007199254740993},"title":"d"}`,
		`{"name":"a","description":"d","inputSchema":{"type":"object","x":9007199254740993},"outputSchema":{"type":"object"}}`,
		`{"name":"a","description":"d","inputSchema":{"type":"object","x":9007199254740993},"annotations":{"readOnlyHint":true}}`,
		`{"name":"a","description":"d","inputSchema":{"type":"object","x":9007199254740993},"_meta":{"x":1}}`,
		`{"name":"a","description":"d\u200b","inputSchema":{"type":"object","x":9007199254740993}}`,
		`{"name":"a","inputSchema":{"x":"good","x":"evil"}}`,
		`{"name":"a","inputSchema":{"x":"evil","x":"good"}}`,
		`{"name":"a","inputSchema":{"x":"good"}}`,
		`{"name":"a","icons":[],"x":"good","x":"evil"}`,
		`{"name":"a","icons":[],"x":"evil","x":"good"}`,
		`{"name":"a","icons":[],"x":"good"}`,
		`not JSON`,
	} {
		d := pins.NewDefinition([]byte(s))
		if other, ok := seen[d.Hash]; ok {
			t.Errorf("%s is the same as %s", s, other)
		}
		seen[d.Hash] = s
	}
}

// A definition that is short, but long once it is indented in the file, does not
// keep the pins of all servers from being stored.
func TestReviewCountsIndentation(t *testing.T) {
	text := `{"name":"a\"[b","x":` + strings.Repeat("[", 50) + strings.Repeat("0,", 200_000) + "0" + strings.Repeat("]", 50) + "}"
	small := pins.NewDefinition([]byte(`{"name":"b","a":{"c":["x, y",1,{"z":null}],"d":"{\\\""}}`))
	r := pins.Memory{}.Review(nil, []pins.Listed{{Name: "a", Definition: pins.NewDefinition([]byte(text))}, {Name: "b", Definition: small}}, false)
	if r.Pins["a"].Approved.JSON != nil || r.Pins["b"].Approved.JSON == nil {
		t.Error("the long definition is kept, or the short one is not")
	}
	file := pins.At(filepath.Join(t.TempDir(), "x.toolpost-pins"), false)
	_, err := file.Update(t.Context(), func(l *pins.Lock) bool {
		l.Servers["s"] = r.Pins
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file.Path()); err != nil || info.Size() > 10_000 {
		t.Error(info, err)
	}
}
