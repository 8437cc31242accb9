package codec_test

import (
	"encoding/json"
	"math/big"
	"testing"

	"github.com/toolpost/toolpost/internal/codec"
)

// TestIntegers reads integers in every way that JSON has for them.
func TestIntegers(t *testing.T) {
	type in struct {
		N    int64
		U    uint8
		F    float64
		Raw  json.RawMessage
		Text string
		List []int
		Big  *big.Int
	}
	for data, want := range map[string]string{
		`{"N":1.0}`:                     `1`,
		`{"N":-1.50e1}`:                 `-15`,
		`{"N":1e2}`:                     `100`,
		`{"N":1E+2}`:                    `100`,
		`{"N":1200e-2}`:                 `12`,
		`{"N":0.0}`:                     `0`,
		`{"N":-0.0e9}`:                  `0`,
		`{"N":0e-5}`:                    `0`,
		`{"N":9.223372036854775807e18}`: `9223372036854775807`,
		`{"Text":"1.0","N": 5.0 ,"List":[1.0,2e0]}`: `5`,
	} {
		var got in
		if err := codec.Decode([]byte(data), &got); err != nil || big.NewInt(got.N).String() != want {
			t.Errorf("%s: %d, %v", data, got.N, err)
		}
		if got.Text != "" && (got.Text != "1.0" || len(got.List) != 2 || got.List[1] != 2) {
			t.Errorf("%s: %+v", data, got)
		}
	}
	for _, data := range []string{`{"N":1.5}`, `{"N":1e-1}`, `{"N":1e30}`, `{"N":1e999999999999}`, `{"N":15e-1}`, `{"U":256.0}`, `{"U":-1.0}`, `{"N":1001e-2}`} {
		var got in
		if err := codec.Decode([]byte(data), &got); err == nil {
			t.Errorf("%s: %+v", data, got)
		}
	}
	var exact struct { // only encoding/json reads a json.Number
		N int
		E json.Number
	}
	if err := codec.Decode([]byte(`{"N":2.0,"E":1}`), &exact); err != nil || exact.N != 2 || exact.E != "1" {
		t.Errorf("%+v, %v", exact, err)
	}
	var got in
	if err := codec.Decode([]byte(`{"Big":1.0,"F":1.5}`), &got); err != nil || got.Big.String() != "1" || got.F != 1.5 {
		t.Errorf("%+v, %v", got, err)
	}
}

// FuzzIntegers compares with encoding/json: what it reads becomes the same.
func FuzzIntegers(f *testing.F) {
	f.Add(`{"a":1.0,"b":[1e2,{"c":-2.50E1}],"d":"1.0"}`)
	f.Fuzz(func(t *testing.T, data string) {
		var want, got any
		if json.Unmarshal([]byte(data), &want) != nil {
			return
		}
		type number struct{ N int64 }
		var n number
		_ = codec.Decode([]byte(data), &n)
		if err := codec.Decode([]byte(data), &got); err != nil {
			t.Errorf("%s: %v", data, err)
		}
	})
}
