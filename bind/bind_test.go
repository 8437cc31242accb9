package bind_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/big"
	"net"
	"net/http"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/bind"
)

// An account has every kind of field that may be given by value.
type account struct {
	office
	*Limits
	Name    string            `json:"name"`
	ID      uint64            `json:"id"`
	Low     int64             `json:",omitzero"`
	Rate    float64           `json:"rate,string"`
	Key     []byte            `json:"key"`
	Sum     [4]byte           `json:"sum"`
	Tags    []string          `json:"tags"`
	Rights  map[string]bool   `json:"rights"`
	Days    map[int]time.Time `json:"days"`
	Created time.Time         `json:"created"`
	Wait    time.Duration     `json:"wait"`
	Balance *big.Int          `json:"balance"`
	Parent  *account          `json:"parent"`
	Next    []account         `json:"next"`
	_       int
}

type office struct{ Region string }

// Limits are embedded through a pointer.
type Limits struct{ Calls int }

func anAccount() account {
	return account{
		office: office{"north"}, Limits: &Limits{3},
		Name: "<&>\u2028", ID: math.MaxUint64, Low: math.MinInt64, Rate: 0.1, Key: []byte{0, 255}, Sum: [4]byte{1, 2, 3, 4},
		Tags: []string{}, Rights: map[string]bool{"": true}, Days: map[int]time.Time{-1: time.Unix(0, 1).UTC()},
		Created: time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600)), Wait: time.Nanosecond,
		Balance: new(big.Int).Lsh(big.NewInt(1), 100), Parent: &account{Name: "parent"}, Next: []account{{}},
	}
}

// exactly compares as a program would.
var exactly = cmp.Options{
	cmp.AllowUnexported(account{}),
	cmp.Comparer(func(a, b *big.Int) bool { return a == b || a != nil && b != nil && a.Cmp(b) == 0 }),
}

func TestDepsRoundTrip(t *testing.T) {
	want := anAccount()
	data, err := bind.Encode(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := bind.Decode[account](data)
	if diff := cmp.Diff(want, got, exactly); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	pointer, err := bind.Decode[*account](data)
	if diff := cmp.Diff(&want, pointer, exactly); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	for _, v := range []any{
		nil, true, -1, uint8(3), 1.5, "text", []int(nil), []int{}, map[string]int(nil), map[string]int{},
		map[int8]string{-1: "a"}, [2]bool{true}, time.Second, json.RawMessage(`{"a":1}`),
	} {
		data, err := bind.Encode(v)
		if err != nil {
			t.Errorf("%T: %v", v, err)
			continue
		}
		if v == nil {
			continue
		}
		back := reflect.New(reflect.TypeOf(v))
		if err := json.Unmarshal(data, back.Interface()); err != nil || !reflect.DeepEqual(back.Elem().Interface(), v) {
			t.Errorf("%#v became %s, %#v, %v", v, data, back.Elem(), err)
		}
	}
}

// FuzzDepsRoundTrip draws values: what is encoded comes back exactly.
func FuzzDepsRoundTrip(f *testing.F) {
	f.Add([]byte("name"), uint64(math.MaxUint64), 0.1, int64(1), []byte{1, 2})
	f.Add([]byte{0xff}, uint64(0), math.NaN(), int64(-1), []byte(nil))
	f.Add([]byte(`"`), uint64(1<<53+1), math.Copysign(0, -1), int64(math.MaxInt64), []byte{})
	f.Fuzz(func(t *testing.T, text []byte, n uint64, x float64, seconds int64, key []byte) {
		want := account{
			office: office{string(text)}, Name: string(text), ID: n, Low: seconds, Rate: x, Key: key,
			Rights: map[string]bool{string(text): true}, Created: time.Unix(seconds, int64(n%1e9)).UTC(),
			Days: map[int]time.Time{int(seconds): {}}, Tags: strings.Split(string(text), "a"),
		}
		if n%2 == 0 {
			want.Limits, want.Parent, want.Next = &Limits{int(n)}, &account{ID: n}, []account{{Key: key}}
		}
		binary.BigEndian.PutUint32(want.Sum[:], uint32(n))
		data, err := bind.Encode(want)
		var refused *bind.UnsupportedTypeError
		if errors.As(err, &refused) {
			return // invalid UTF-8, no number, a year of more than 4 digits
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := bind.Decode[account](data)
		if diff := cmp.Diff(want, got, exactly); diff != "" || err != nil {
			t.Errorf("%s\n%v\n%s", data, err, diff)
		}
	})
}

type (
	ownMethods struct{ n int }
	writesOnly struct{ n int }
	promoted   struct {
		time.Time
		Place string
	}
	omitting struct {
		List []int `json:",omitempty"`
	}
	leftOut struct {
		Hook func()     `json:"-"`
		Note string     `json:"-"`
		Err  error      `json:"-"`
		mu   sync.Mutex `json:"-"`
	}
	hidden struct {
		Name string
		note string
	}
	ring struct{ Next *ring }
	deep struct {
		Servers map[string][]struct{ Conn net.Conn }
	}
	unknown struct{ Shape fmt.Stringer }
	both    struct {
		Shape fmt.Stringer
		Done  chan int
	}
	loose struct{ Extra any }
)

func (o ownMethods) MarshalJSON() ([]byte, error)  { return json.Marshal(o.n) }
func (o *ownMethods) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &o.n) }
func (w writesOnly) MarshalText() ([]byte, error)  { return nil, nil }

func TestUnsupportedDeps(t *testing.T) {
	cycle := new(ring)
	cycle.Next = cycle
	for name, test := range map[string]struct {
		value  any
		path   string
		reason string
	}{
		"function":                 {func() {}, "", "JSON cannot represent"},
		"field that is a function": {struct{ A struct{ F func() } }{}, "A.F", "JSON cannot represent"},
		"channel":                  {map[string]chan int{}, "[]", "JSON cannot represent"},
		"lock":                     {struct{ mu sync.Mutex }{}, "mu", "lock"},
		"unsafe pointer":           {[]unsafe.Pointer{}, "[]", "JSON cannot represent"},
		"complex number":           {[1]complex64{}, "[]", "JSON cannot represent"},
		"file":                     {struct{ F *os.File }{}, "F", "opened and closed"},
		"connection":               {deep{}, "Servers[][].Conn", "opened and closed"},
		"client":                   {struct{ Client *http.Client }{}, "Client.CheckRedirect", "JSON cannot represent"},
		"reader that closes":       {struct{ R io.ReadCloser }{}, "R", "opened and closed"},
		"context":                  {struct{ C context.Context }{}, "C", "belongs to a call"},
		"unexported field":         {hidden{note: "x"}, "note", "not exported"},
		"methods for one way":      {writesOnly{n: 1}, "n", "not exported"},
		"key":                      {map[float64]int{}, "[key]", "cannot be a key"},
		"before a type hint":       {both{}, "Done", "JSON cannot represent"},
		"not a number":             {struct{ X float64 }{math.NaN()}, "X", "NaN"},
		"invalid UTF-8":            {struct{ S string }{"\xff"}, "", "UTF-8"},
		"cycle":                    {cycle, strings.TrimSuffix(strings.Repeat("Next.", 8), "."), "cycle"},
		"promoted methods":         {promoted{Place: "here"}, "Place", "changes when it is written as JSON"},
		"empty list left out":      {omitting{[]int{}}, "List", "changes when it is written as JSON"},
		"value left out":           {leftOut{Note: "x"}, "Note", "changes when it is written as JSON"},
		"interface left out":       {&leftOut{Err: &toolpost.ToolError{}}, "Err", "changes when it is written as JSON"},
		"function left out":        {&leftOut{Hook: func() {}, mu: sync.Mutex{}}, "Hook", "changes when it is written as JSON"},
		"pointer to nothing":       {new(*int), "", "changes when it is written as JSON"},
		"function in any":          {loose{func() {}}, "Extra", "JSON cannot represent"},
		"unexported in any in any": {loose{map[string]any{"a": hidden{}}}, "Extra[a].note", "not exported"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := bind.Encode(test.value)
			var refused *bind.UnsupportedTypeError
			if !errors.As(err, &refused) {
				t.Fatalf("got %v", err)
			}
			if refused.Path != test.path || !strings.Contains(refused.Reason, test.reason) {
				t.Errorf("got %q: %v", refused.Path, err)
			}
		})
	}
	for _, v := range []any{ownMethods{7}, &leftOut{}, promoted{}, omitting{}, ring{&ring{}}, hiddenIn{}} {
		if _, err := bind.Encode(v); err != nil {
			t.Errorf("%T: %v", v, err)
		}
	}
	if _, err := bind.Decode[*http.Client]([]byte(`{}`)); !errors.As(err, new(*bind.UnsupportedTypeError)) {
		t.Errorf("decode: got %v", err)
	}
}

type hiddenIn struct{ At time.Time } // its unexported fields are its own affair

func TestTypeHint(t *testing.T) {
	_, err := bind.Encode(unknown{})
	var hint *bind.TypeHintError
	if !errors.As(err, &hint) || hint.Path != "Shape" || hint.Type != reflect.TypeFor[fmt.Stringer]() {
		t.Errorf("got %v", err)
	}
	if _, err := bind.Decode[unknown]([]byte(`{}`)); !errors.As(err, &hint) {
		t.Errorf("decode: got %v", err)
	}
}

func TestDepsOfTypeAnyAreWarnedOf(t *testing.T) {
	log := new(bytes.Buffer)
	before := slog.Default()
	defer slog.SetDefault(before)
	slog.SetDefault(slog.New(slog.NewTextHandler(log, nil)))

	if _, err := bind.Encode(loose{}); err != nil || log.Len() > 0 {
		t.Errorf("no value: %v, log %q", err, log)
	}
	data, err := bind.Encode(loose{map[string]any{"a": 1, "b": []any{nil, "c"}}})
	if err != nil || string(data) != `{"Extra":{"a":1,"b":[null,"c"]}}` {
		t.Errorf("got %s, %v", data, err)
	}
	if strings.Count(log.String(), "level=WARN") != 1 || !strings.Contains(log.String(), "field=Extra") {
		t.Errorf("log %q", log)
	}
	got, err := bind.Decode[loose](data)
	if want := (loose{map[string]any{"a": 1.0, "b": []any{nil, "c"}}}); !cmp.Equal(got, want) || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestDecodeDepsRefuses(t *testing.T) {
	for _, data := range []string{``, `{`, `[]`, `{"Calls":1} 2`, `{"Calls":"1"}`, `{"calls":1}`, `{"Calls":1,"Calls":2}`, `{"Other":1}`, `{"Calls":1.5}`} {
		if got, err := bind.Decode[Limits]([]byte(data)); err == nil || got != (Limits{}) {
			t.Errorf("%s: got %v, %v", data, got, err)
		}
	}
}

type prices struct {
	Currency string
	Of       map[string]int
}

// priceTool changes what it was given.
func priceTool() *bind.Tool[prices] {
	type query struct{ Item string }
	return bind.New("price", "Tells a price.", func(_ context.Context, c *bind.Context[prices], in query) (string, error) {
		p := c.Deps()
		p.Of[in.Item]++
		return fmt.Sprintf("%d %s", p.Of[in.Item], p.Currency), nil
	}, nil)
}

func ask(t *testing.T, tool *toolpost.Tool, want ...string) {
	t.Helper()
	set, err := toolpost.NewSet(t.Context(), toolpost.Tools{tool})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range want {
		if got, err := set.CallText(t.Context(), tool.Name, map[string]any{"Item": "tea"}); got != w || err != nil {
			t.Errorf("got %q, %v, want %q", got, err, w)
		}
	}
}

func TestBindGivesACopy(t *testing.T) {
	p := prices{"EUR", map[string]int{"tea": 2}}
	tool, err := priceTool().Bind(p)
	if err != nil {
		t.Fatal(err)
	}
	p.Of["tea"] = 90
	ask(t, tool, "3 EUR", "3 EUR")
	if p.Of["tea"] != 90 {
		t.Errorf("the handler reached %v", p)
	}
}

func TestBindManyTimes(t *testing.T) {
	u := priceTool()
	one, err1 := u.Bind(prices{"EUR", map[string]int{"tea": 1}})
	two, err2 := u.Bind(prices{"USD", map[string]int{"tea": 5}})
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	ask(t, one, "2 EUR")
	ask(t, two, "6 USD")
	ask(t, one, "2 EUR")
}

func TestBindRefuses(t *testing.T) {
	type in struct{ Item string }
	u := bind.New("get", "Gets it.", func(_ context.Context, c *bind.Context[*http.Client], _ in) (string, error) {
		return fmt.Sprint(c.Deps().Timeout), nil
	}, nil)
	_, err := u.Bind(&http.Client{})
	var refused *bind.UnsupportedTypeError
	if !errors.As(err, &refused) || refused.Path != "CheckRedirect" || !strings.Contains(err.Error(), "bind tool get") {
		t.Errorf("got %v", err)
	}
	if _, err := u.Bind(nil); !errors.As(err, &refused) {
		t.Errorf("nil: got %v", err)
	}
	ask(t, u.BindLocal(&http.Client{Timeout: time.Second}), "1s")
}

func TestBindLocalSharesTheValue(t *testing.T) {
	p := prices{"EUR", map[string]int{"tea": 2}}
	ask(t, priceTool().BindLocal(p), "3 EUR", "4 EUR")
	if p.Of["tea"] != 4 {
		t.Errorf("got %v", p)
	}
}

func ExampleNew() {
	type config struct{ Greeting string }
	type in struct {
		Name string `json:"name"`
	}
	greet := bind.New("greet", "Greets somebody.", func(_ context.Context, c *bind.Context[config], in in) (string, error) {
		return c.Deps().Greeting + ", " + in.Name, nil
	}, nil)
	tool, err := greet.Bind(config{"Hello"})
	if err != nil {
		fmt.Println(err)
		return
	}
	set, err := toolpost.NewSet(context.Background(), toolpost.Tools{tool})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(set.CallText(context.Background(), "greet", in{"Ada"}))
	// Output: Hello, Ada <nil>
}

// TestSharedPointers: JSON does not say that two pointers are one.
func TestSharedPointers(t *testing.T) {
	type pair struct{ A, B *int }
	seven := new(7)
	data, err := bind.Encode(pair{seven, seven})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := bind.Decode[pair](data); err != nil || *got.A != 7 || *got.B != 7 || got.A == got.B {
		t.Errorf("got %+v, %v", got, err)
	}
}
