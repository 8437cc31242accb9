package jsontree_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolpost/toolpost/internal/jsontree"
)

func parse(t *testing.T, raw string) *jsontree.Value {
	t.Helper()
	v, broken := jsontree.Parse([]byte(raw), 100)
	if broken != nil {
		t.Fatalf("%s: %+v", raw, broken)
	}
	return v
}

func TestParse(t *testing.T) {
	v := parse(t, ` {"a":[1,2.0,2.5,"\u00e9"], "b/c":{"~":null}, "a":true} `)
	if v.Start != 1 || v.Get("a").Kind != jsontree.KindBoolean || len(v.Kids) != 3 {
		t.Errorf("start %d, a %v of %d members", v.Start, v.Get("a"), len(v.Kids))
	}
	var kinds []string
	for _, item := range v.Kids[0].Items() {
		kinds = append(kinds, item.Kind.String())
	}
	if want := []string{"integer", "integer", "number", "string"}; !slices.Equal(kinds, want) {
		t.Errorf("kinds %v, want %v", kinds, want)
	}
	if got := v.At("/b~1c/~0"); got == nil || got.Kind != jsontree.KindNull {
		t.Errorf("at /b~1c/~0: %v", got)
	}
	if v.At("/b~1c/x") != nil || v.At("x") != nil || v.Kids[0].At("/4") != nil {
		t.Error("a pointer leads where there is nothing")
	}
}

func TestParseRefuses(t *testing.T) {
	for raw, want := range map[string]string{
		``: "a value", `[1`: `"," or "]"`, `{"a" 1}`: `":"`, `1 2`: "the end", `01`: "a number without leading zeros",
		`[[[]]]`: "no deeper nesting", "\"\xff\"": "valid UTF-8 in a string", `"\ud800"`: "a valid escape in a string",
		strings.Repeat("1", 1001): "a number of at most 1000 characters", `{1:2}`: "a quoted name", `nul`: "a value",
	} {
		if v, broken := jsontree.Parse([]byte(raw), 2); broken == nil || broken.Expected != want {
			t.Errorf("%.20s: %v, %+v, want %s", raw, v, broken, want)
		}
	}
}

// Half of a surrogate pair is U+FFFD wherever it stands, and takes no place of what
// follows it.
func TestHalves(t *testing.T) {
	for raw, want := range map[string]string{
		`a\ud83d`: "a\ufffd", `\ude00\ud83db`: "\ufffd\ufffdb", `\ud83d\ud83d\ude00`: "\ufffd😀", `\\ud83d`: `\ud83d`, `\ud83d\n`: "\ufffd\n", `\uD83D\uDE00`: "😀",
	} {
		if got := string(jsontree.Unescape([]byte(raw))); got != want {
			t.Errorf("%s is unescaped as %q, want %q", raw, got, want)
		}
		data := []byte(`{"` + raw + `":"` + raw + `"}`)
		jsontree.ReplaceHalves(data)
		if v, err := jsontree.Parse(data, 2); err != nil || v.Kids[0].Name != want || v.Kids[0].Text != want {
			t.Errorf("%s is replaced by %s", raw, data)
		}
		s := jsontree.Scanner{Data: []byte(`"` + raw + `"`), Lenient: true}
		if _, _, ok := s.Text(); !ok || s.Broken != strings.ContainsRune(want, '\ufffd') {
			t.Errorf("%s: read %v, with halves %v", raw, ok, s.Broken)
		}
	}
}

func TestParseLenient(t *testing.T) {
	raw := "{\"\xff\":\"a\\ud800\\\"b\"}"
	v, broken := jsontree.ParseLenient([]byte(raw), 2)
	if broken != nil || v.Get("\ufffd") == nil || v.Get("\ufffd").Text != "a\ufffd\"b" {
		t.Errorf("%v, %+v", v, broken)
	}
	for _, raw := range []string{`"\x"`, "\"\x01\"", `"\`, `"\ud800`, `["\ud800`} {
		if v, broken := jsontree.ParseLenient([]byte(raw), 2); broken == nil {
			t.Errorf("%q is read as %v", raw, v)
		}
	}
}

// TestLargeObject: the index of a large object follows its changes.
func TestLargeObject(t *testing.T) {
	var b strings.Builder
	for i := range 50 {
		fmt.Fprintf(&b, `"k%d":%d,`, i, i)
	}
	v := parse(t, `{`+b.String()+`"k7":"again"}`)
	if got := v.Get("k7").Text; got != "again" {
		t.Errorf("k7 is %q", got)
	}
	v.Rename(v.Get("k1"), "x")
	v.Set("k2", `"new"`)
	v.Drop("k3")
	if v.Get("k1") != nil || v.Get("x") == nil || v.Get("k2").Text != "new" || v.Get("k3") != nil {
		t.Errorf("k1 %v, x %v, k2 %v, k3 %v", v.Get("k1"), v.Get("x"), v.Get("k2"), v.Get("k3"))
	}
	var dropped []string
	v.KeepLast(func(name string) { dropped = append(dropped, name) })
	if !slices.Equal(dropped, []string{"k7"}) || v.Get("k7").Text != "again" {
		t.Errorf("dropped %v, k7 is %v", dropped, v.Get("k7"))
	}
}

func TestEqual(t *testing.T) {
	for _, test := range []struct {
		a, b string
		same bool
	}{
		{`1`, `1.0`, true}, {`100`, `1e2`, true}, {`9007199254740993`, `9007199254740992`, false}, {`-0`, `0`, true},
		{`{"a":1,"b":[2]}`, `{"b":[2.0],"a":1}`, true}, {`[1,2]`, `[2,1]`, false}, {`"1"`, `1`, false}, {`"\u0061"`, `"a"`, true},
	} {
		a, b := parse(t, test.a), parse(t, test.b)
		if a.Equal(b) != test.same || (jsontree.Key(a) == jsontree.Key(b)) != test.same {
			t.Errorf("%s and %s: want the same %v", test.a, test.b, test.same)
		}
	}
	if i, j := jsontree.Repeated(parse(t, `[1,"1",{"a":1},{"a":1e0}]`)); i != 2 || j != 3 {
		t.Errorf("items %d and %d are the same", i, j)
	}
}

func TestString(t *testing.T) {
	for raw, want := range map[string]string{
		`{ "a" : [ 1, null ] }`:             `{"a":[1,null]}`,
		`"` + strings.Repeat("é", 60) + `"`: `"` + strings.Repeat("é", 39) + "…",
	} {
		if got := parse(t, raw).String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// FuzzParse compares both ways of reading with jsontext.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{"a":[1,-0.5e3,"\ud83d\ude00"]}`, "\"\xff\"", `"\ud800"`, `"\ud800\u0041"`, `[1,]`, `{"a":1,"a":2}`, ``} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1000 { // so that no number is too long
			return
		}
		strict, broken := jsontree.Parse(data, math.MaxInt)
		if want := jsontext.Value(data).IsValid(jsontext.AllowDuplicateNames(true)); want != (broken == nil) {
			t.Fatalf("%q: want valid %v, got %+v", data, want, broken)
		}
		lenient, broken := jsontree.ParseLenient(data, math.MaxInt)
		if want := jsontext.Value(data).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); want != (broken == nil) {
			t.Fatalf("%q, leniently: want valid %v, got %+v", data, want, broken)
		}
		if strict != nil && !strict.Equal(lenient) && len(data) > 0 && !strings.Contains(string(data), `:`) {
			t.Fatalf("%q: %v and %v", data, strict, lenient)
		}
		if lenient != nil && string(data[lenient.Start:lenient.Start+len(lenient.Raw)]) != string(lenient.Raw) {
			t.Fatalf("%q begins at %d", data, lenient.Start)
		}
	})
}
