package schema_test

import (
	"math/big"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/schema"
)

// Types of one name have definitions of their own.
func TestInferDefinitionNames(t *testing.T) {
	type node struct {
		Other *node
		Float *big.Float
	}
	type cookies struct {
		A tree[url.URL, http.Cookie]
		B tree[map[string]*node, [2]node]
		C *node
	}
	s, err := schema.ForInput[struct {
		A *node
		B node
		C cookies
		D *struct{ Next []forest }
		E outside
	}]()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		`"node":{`, `"node_2":{`, `"tree_url.URL_http.Cookie":{`, `"forest":{`, `"Object":{`,
	} {
		if n := strings.Count(string(s.Raw()), name); n != 1 {
			t.Errorf("%s is defined %d times in %s", name, n, s.Raw())
		}
	}
	compileRaw(t, s.Raw())
}

// An outside contains a local type of a name that is taken, and one without a name.
type outside struct {
	Node    *node
	Nowhere nowhere
}

type nowhere *struct{ Next nowhere }

// Findings point to where the schema has the part, which is $defs in a recursive type.
func TestInferFindingsInDefinitions(t *testing.T) {
	type list struct {
		Value custom `json:"a/b"`
		Next  *list
	}
	s, err := schema.ForInput[struct {
		First  list
		Second custom
		Third  oneWay
	}]()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range s.Findings() {
		path, _, _ := strings.Cut(f.Message, ":")
		got = append(got, f.Pointer+" "+path)
	}
	want := []string{"/$defs/list/properties/a~1b First.Value", "/properties/Second Second", "/properties/Third Third"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A oneWay is written as text, and read by its kind.
type oneWay int

func (oneWay) MarshalText() ([]byte, error) { return []byte("1"), nil }

// A root that declares its schema has that schema.
func TestInferDeclaredRoot(t *testing.T) {
	for _, tt := range []struct {
		typ  reflect.Type
		want string
	}{
		{reflect.TypeFor[*declared](), `{"pattern":"^#[0-9]+$","type":"string"}`},
		{reflect.TypeFor[point](), `{"$ref":"#/$defs/n","$defs":{"n":{"anyOf":[{"type":"array","items":{"$ref":"#/$defs/n"}},{"type":"integer"}]}}}`},
		{reflect.TypeFor[foreign](), `{"type":"object","description":"from another library"}`},
	} {
		s, err := schema.ForOutputType(tt.typ)
		if err != nil || len(s.Findings()) > 0 {
			t.Fatal(err, s)
		}
		if string(s.Raw()) != tt.want {
			t.Errorf("%v: got %s, want %s", tt.typ, s.Raw(), tt.want)
		}
	}
}

type foreign struct{}

func (foreign) JSONSchema() any {
	return struct {
		Type        string `json:"type"`
		Description string `json:"description"`
	}{"object", "from another library"}
}

// A null that a model sends for a part it leaves out is no error on input, and is one on output.
func TestInferNull(t *testing.T) {
	type query struct {
		Limit int    `json:"limit,omitempty"`
		Text  string `json:"text"`
	}
	in, out := compiled(t, reflect.TypeFor[query](), schema.ForInputType), compiled(t, reflect.TypeFor[query](), schema.ForOutputType)
	optional, required := []byte(`{"limit":null,"text":"a"}`), []byte(`{"text":null}`)
	if err := in.schema.Validate(optional); err != nil {
		t.Error(err)
	}
	if in.schema.Validate(required) == nil {
		t.Error("input: null is accepted for a required property")
	}
	if out.schema.Validate(optional) == nil {
		t.Error("output: null is accepted where it is never written")
	}
}
