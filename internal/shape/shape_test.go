package shape_test

import (
	"testing"

	"github.com/toolpost/toolpost/internal/shape"
)

func TestShape(t *testing.T) {
	for _, test := range []struct {
		keyword            string
		want               shape.Shape
		annotates, inPlace bool
	}{
		{"items", shape.Items, false, false},
		{"anyOf", shape.Schemas, false, true},
		{"title", shape.Text, true, false},
		{"contentSchema", shape.Schema, true, false},
		{"x-other", 0, false, false},
	} {
		k := test.keyword
		if shape.Of(k) != test.want || shape.Annotates(k) != test.annotates || shape.InPlace(k) != test.inPlace {
			t.Errorf("%s: %d, annotates %t, in place %t", k, shape.Of(k), shape.Annotates(k), shape.InPlace(k))
		}
	}
}
