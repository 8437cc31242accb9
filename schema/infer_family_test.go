package schema_test

import (
	stdjson "encoding/json"
	"math/big"
	"net/netip"
	"net/url"
	"time"

	"github.com/toolpost/toolpost/schema"
)

// A family is a way in which Go types become JSON.
type family struct {
	name   string
	sample any    // a struct or map
	reject string // JSON that is near the sample's, and wrong; empty if nothing is
	strict bool   // its tags exclude the zero value
}

type (
	uuid     [16]byte
	level    int
	color    string
	grade    int
	answer   string
	custom   struct{ _ int }
	declared struct{ _ int }
	point    struct{ _, _ int }
	namedInt int16
	octet    byte
	base     struct {
		ID   int    `json:"id"`
		Name string `json:"name"`
	}
	pair [2]float64
	node struct {
		Value    int              `json:"value"`
		Next     *node            `json:"next"`
		Children []node           `json:"children"`
		ByName   map[string]*node `json:"byName,omitempty"`
	}
	folder struct {
		Name  string  `json:"name"`
		Files []*file `json:"files"`
	}
	file struct {
		In   *folder `json:"in,omitempty"`
		Size int     `json:"size"`
	}
	forest         []forest
	box[T any]     struct{ Value T }
	tree[K, V any] struct {
		Key   K
		Value V
		Left  *tree[K, V] `json:",omitempty"`
	}
	selfEmbedded struct {
		//lint:ignore U1000 only its type matters
		*selfEmbedded
		X int
	}
	hasSchema struct {
		Kind string `json:"kind"`
	}
	withSchema struct {
		hasSchema
		More int `json:"more"`
	}
	stamped struct {
		time.Time
		Note string
	}
	promoted struct {
		base
		*Other
		Title string `json:"title"`
	}
	shadowed struct {
		base
		Name int `json:"name"`
	}
	left      struct{ Same, Left string }
	ambiguous struct {
		left
		*Right
	}
	retagged struct {
		base
		Name string `json:"title"` // base.Name keeps its JSON name
	}
)

func (u uuid) MarshalText() ([]byte, error) {
	return []byte("00000000-0000-0000-0000-0000000000" + string("0123456789abcdef"[u[15]>>4]) + string("0123456789abcdef"[u[15]&15])), nil
}
func (u *uuid) UnmarshalText([]byte) error { u[15] = 1; return nil }

func (l level) MarshalText() ([]byte, error) { return []byte([]string{"low", "high"}[l]), nil }
func (l *level) UnmarshalText(b []byte) error {
	*l = 0
	if string(b) == "high" {
		*l = 1
	}
	return nil
}
func (level) Enum() []level { return []level{0, 1} }

func (grade) Enum() []grade { return []grade{0, 1, 2} }

func (answer) Enum() []answer { return []answer{"yes", "no"} }
func (a answer) MarshalJSON() ([]byte, error) {
	if a == "no" {
		return []byte("false"), nil
	}
	return []byte("true"), nil
}
func (a *answer) UnmarshalJSON(b []byte) error { *a = answer(b); return nil }

func (color) Enum() []any { return []any{"", "red", "green"} }

func (custom) MarshalJSON() ([]byte, error) { return []byte(`{"any":["thing",1]}`), nil }
func (*custom) UnmarshalJSON([]byte) error  { return nil }

func (declared) MarshalJSON() ([]byte, error) { return []byte(`"#1"`), nil }
func (*declared) UnmarshalJSON([]byte) error  { return nil }
func (declared) JSONSchema() *schema.Schema {
	return schema.MustParse(`{"$schema":"https://json-schema.org/draft/2020-12/schema","pattern":"^#[0-9]+$","type":"string"}`)
}

func (*point) MarshalJSON() ([]byte, error) { return []byte(`[[1],[2,[3]]]`), nil }
func (*point) UnmarshalJSON([]byte) error   { return nil }
func (*point) JSONSchema() stdjson.RawMessage {
	return stdjson.RawMessage(`{"$ref":"#/$defs/n","$defs":{"n":{"anyOf":[{"type":"array","items":{"$ref":"#/$defs/n"}},{"type":"integer"}]}}}`)
}

func (hasSchema) JSONSchema() []byte {
	return []byte(`{"type":"object","properties":{"kind":{"const":"a"}},"required":["kind"]}`)
}

var (
	noon = time.Date(2026, 1, 2, 12, 0, 0, 5, time.UTC)
	link = &url.URL{Scheme: "https", Host: "example.org", Path: "/a"}
	huge = new(big.Int).Lsh(big.NewInt(1), 100)
)

var families = []family{
	{name: "raw message", sample: struct{ F stdjson.RawMessage }{stdjson.RawMessage(`[1,"a",null]`)}},
	{name: "bytes", sample: struct{ F []byte }{[]byte("a\x00b")}, reject: `{"F":[1,2]}`},
	{name: "text marshaler array", sample: struct{ F uuid }{uuid{15: 1}}, reject: `{"F":[0]}`},
	{name: "netip.Addr", sample: struct{ F netip.Addr }{netip.MustParseAddr("::1")}, reject: `{"F":1}`},
	{name: "int enum with text", sample: struct{ F level }{1}, reject: `{"F":"middle"}`},
	{name: "string enum", sample: struct{ F color }{"red"}, reject: `{"F":"blue"}`},
	{name: "number enum", sample: struct {
		F grade
		Q grade `json:",string"`
	}{1, 2}, reject: `{"F":1,"Q":2}`},
	{name: "marshaler with enum", sample: struct {
		F answer
		G *answer
	}{"yes", ptr(answer("no"))}, reject: `{"F":"yes"}`},
	{name: "enum by tag", sample: struct {
		F int      `enum:"0,1,2"`
		G []string `enum:"a,b"`
	}{1, []string{"b"}}, reject: `{"F":3,"G":[]}`},
	{name: "marshaler", sample: struct{ F custom }{}},
	{name: "marshaler with schema", sample: struct{ F declared }{}, reject: `{"F":"1"}`},
	{name: "schema with references", sample: struct{ F, G *point }{&point{}, &point{}}, reject: `{"F":"x"}`},
	{name: "schema of an embedded field", sample: withSchema{hasSchema{"a"}, 1}, reject: `{"kind":"a"}`},
	{name: "pointer to big.Int", sample: struct{ F *big.Int }{huge}, reject: `{"F":"1"}`},
	{name: "big.Int", sample: struct{ F big.Int }{*huge}, reject: `{"F":"1"}`},
	{name: "big.Float", sample: struct{ F *big.Float }{big.NewFloat(1.5)}, reject: `{"F":1.5}`},
	{name: "json.Number", sample: struct{ F stdjson.Number }{"1.5"}, reject: `{"F":"1.5"}`},
	{name: "quoted numbers", sample: struct {
		I int           `json:",string"`
		U uint8         `json:",string"`
		F float64       `json:",string"`
		P *int          `json:",string,omitempty"`
		D time.Duration `json:",string" desc:"wait"`
	}{-7, 8, 1e30, new(int), 5}, reject: `{"I":7,"U":"8","F":"1.5","D":"5"}`},
	{name: "quoted bool and string", sample: struct {
		B bool   `json:",string"`
		S string `json:",string"`
	}{true, `a"b`}, reject: `{"B":true,"S":"\"a\""}`},
	{name: "map", sample: struct{ F map[string]int }{map[string]int{"a": 1}}, reject: `{"F":{"a":"1"}}`},
	{name: "embedded time.Time", sample: struct{ F stamped }{stamped{noon, "n"}}},
	{name: "map with integer keys", sample: struct {
		F map[int]string
		U map[uint8]string
	}{map[int]string{-1: "a"}, map[uint8]string{200: "b"}}, reject: `{"F":{"a":"a"},"U":{}}`},
	{name: "map with text keys", sample: struct {
		F map[netip.Addr]int
		L map[level]int
	}{map[netip.Addr]int{netip.MustParseAddr("::1"): 1}, map[level]int{1: 1}}, reject: `{"F":{},"L":{"middle":1}}`},
	{name: "map of structs", sample: struct{ F map[string]base }{map[string]base{"a": {1, "n"}}}, reject: `{"F":{"a":{"id":1}}}`},
	{name: "map as root", sample: map[string]box[int]{"a": {1}}, reject: `{"a":{"Value":"1"}}`},
	{name: "recursion", sample: node{1, &node{Value: 2, Children: []node{}}, []node{{Value: 3, Children: []node{}}}, map[string]*node{"a": {Children: []node{}}}},
		reject: `{"value":1,"children":[{"value":"3","children":[]}]}`},
	{name: "mutual recursion", sample: folder{"a", []*file{{In: &folder{"b", []*file{}}, Size: 1}}}, reject: `{"name":"a","files":[{"size":1,"in":{"name":"b"}}]}`},
	{name: "recursive slice", sample: struct{ F forest }{forest{{}, {{}}}}, reject: `{"F":[[1]]}`},
	{name: "recursive generic", sample: tree[string, []int]{"a", []int{1}, &tree[string, []int]{Value: []int{}}}, reject: `{"Key":"a","Value":[],"Left":{"Key":1,"Value":[]}}`},
	{name: "time.Time", sample: struct{ F time.Time }{noon}, reject: `{"F":1}`},
	{name: "time.Duration", sample: struct{ F time.Duration }{time.Second}, reject: `{"F":"1s"}`},
	{name: "url.URL", sample: struct{ F *url.URL }{link}, reject: `{"F":"https://example.org"}`},
	{name: "slices", sample: struct {
		F []string
		G [][]int
	}{[]string{"a"}, [][]int{{1}}}, reject: `{"F":["a"],"G":[1]}`},
	{name: "pointers", sample: struct {
		F *string
		G **int
		H []*int
		I *bool `json:",omitempty"`
	}{new(string), ptr(new(int)), []*int{new(int)}, new(bool)}, reject: `{"H":[],"F":1}`},
	{name: "array", sample: struct{ F pair }{pair{1, 2}}, reject: `{"F":[1]}`},
	{name: "byte array", sample: struct{ F [3]byte }{[3]byte{1, 2, 3}}, reject: `{"F":"AQID"}`},
	{name: "named bytes", sample: struct{ F []octet }{[]octet{1, 2}}, reject: `{"F":[1]}`},
	{name: "embedded structs", sample: promoted{base{1, "a"}, &Other{Note: "n"}, "t"}, reject: `{"id":1,"title":"t","name":"n"}`},
	{name: "embedded by name", sample: struct {
		base `json:"base"`
		//lint:ignore SA5008 the tag of a member called "-"
		Plain int `json:"-,"`
		Gone  int `json:"-"`
	}{base: base{1, "a"}}, reject: `{"base":{"id":1,"name":"a"},"-":1,"Gone":1}`},
	{name: "shadowed field", sample: shadowed{base{1, "a"}, 2}, reject: `{"id":1,"name":"a"}`},
	{name: "ambiguous fields", sample: ambiguous{left{"a", "b"}, &Right{"a", "c"}}, reject: `{"Left":"b","Right":"c","Same":"a"}`},
	{name: "renamed field beside its namesake", sample: retagged{base{1, "a"}, "b"}, reject: `{"id":1,"title":"b"}`},
	{name: "embedded in itself", sample: selfEmbedded{X: 1}, reject: `{}`},
	{name: "embedded non-struct", sample: struct{ namedInt }{}, reject: `{"namedInt":1}`},
	{name: "embedded exported non-struct", sample: struct{ Exported }{"a"}, reject: `{"Exported":1}`},
	{name: "generic", sample: box[box[[]string]]{box[[]string]{[]string{"a"}}}, reject: `{"Value":{"Value":"a"}}`},
	{name: "interface", sample: struct{ F any }{map[string]any{"a": []any{1, nil}}}},
	{name: "sized integers", sample: struct {
		A int8
		B int16
		C int32
		D int64
		E uint8
		F uint16
		G uint32
		H uint64
		I uintptr
	}{-128, -32768, -1 << 31, -1 << 63, 255, 65535, 1<<32 - 1, 1<<64 - 1, 0}, reject: `{"A":128,"B":0,"C":0,"D":0,"E":0,"F":0,"G":0,"H":0,"I":0}`},
	{name: "floats", sample: struct {
		F float32
		G float64
	}{1.5, 1e300}, reject: `{"F":"1","G":2}`},
	{name: "bool", sample: struct{ F bool }{true}, reject: `{"F":"true"}`},
	{name: "omitzero", sample: struct {
		F time.Time `json:",omitzero"`
		G int       `json:"g,omitempty"`
	}{noon, 1}, reject: `{"g":"1"}`},
	{name: "anonymous struct", sample: struct {
		F struct {
			G []struct{ H int }
		}
	}{struct{ G []struct{ H int } }{[]struct{ H int }{{1}}}}, reject: `{"F":{"G":[{"h":1}]}}`},
	{name: "no fields", sample: struct{}{}, reject: `{"a":1}`},
	{name: "described", strict: true, sample: order{Customer: "a", Count: 1, Tags: []string{}, Ratio: .5, Code: "AB", Kind: "x"}, reject: `{"customer":"a","tags":[],"ratio":2}`},
}

// These are embedded, by their own names or as pointers.
type (
	Exported string
	Other    struct {
		Name string `json:"name"`
		Note string
	}
	Right struct{ Same, Right string }
)

// An order has a tag of every sort.
type order struct {
	Customer string         `json:"customer" desc:"who pays" minlen:"1" maxlen:"20"`
	Count    int            `json:"count" description:"how many" min:"1" max:"10" default:"2" example:"3"`
	Tags     []string       `json:"tags" jsonschema:"required,title=Tags,minItems=0,maxItems=3,uniqueItems,pattern=^[a-z\\,]*$,example=[\"a\"]"`
	Ratio    float64        `json:"ratio" jsonschema:"exclusiveMinimum=0,maximum=1.5,multipleOf=0.5"`
	Code     string         `json:"code,omitempty" jsonschema:"the code, as printed" pattern:"^[A-Z]{2}$" format:"x-code"`
	Kind     string         `json:"kind" jsonschema:"enum=x,enum=y\\,z,default=x,deprecated"`
	Timeout  *time.Duration `json:"timeout" desc:"longest wait" min:"0"`
	Options  struct {
		Depth int `json:"depth" default:"5"`
	} `json:"options,omitzero"`
	Extra map[string]any `json:"extra,omitempty" maxlen:"4" jsonschema:"readOnly,writeOnly=false"`
}

func ptr[T any](v T) *T { return &v }
