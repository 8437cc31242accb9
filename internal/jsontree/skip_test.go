package jsontree

import "testing"

func TestSkip(t *testing.T) {
	for _, tt := range []struct {
		data string
		end  int // 0 if there is no value
	}{
		{`1, 2`, 1}, {` true}`, 5}, {`"a\"]" x`, 6}, {`"\\" ,`, 4}, {`{"a":[1,{"b":"}"}]} ]`, 19}, {`[ ]`, 3},
		{``, 0}, {`,`, 0}, {`]`, 0}, {`"a`, 0}, {`"a\"`, 0}, {`[1,`, 0}, {`{"a":{}`, 0}, {`:1`, 0},
	} {
		s := Scanner{Data: []byte(tt.data)}
		if ok := s.Skip(); ok != (tt.end > 0) || ok && s.Pos != tt.end {
			t.Errorf("%s: %v at %d, want the end at %d", tt.data, ok, s.Pos, tt.end)
		}
	}
}

func TestExactKind(t *testing.T) {
	for data, want := range map[string]Kinds{
		`1`: KindInteger, `1.0`: KindInteger, `1e2`: KindInteger, `1.5`: KindFraction, `1e-2`: KindFraction,
		`"1"`: KindString, `null`: KindNull, `{}`: KindObject, ``: 0, `1x`: 0, `x`: 0, `01`: 0, `-`: 0,
	} {
		if got := ExactKind([]byte(data)); got != want {
			t.Errorf("%s: %v, want %v", data, got, want)
		}
	}
}
