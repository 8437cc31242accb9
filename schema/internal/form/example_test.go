package form_test

import (
	"fmt"

	"github.com/toolpost/toolpost/schema/internal/form"
)

// Alternatives of different types are one form.
func ExampleRead() {
	d := form.Read([]byte(`{"anyOf": [{"type": "string", "minLength": 2}, {"allOf": [{"type": "integer"}, {"minimum": 3}]}]}`))
	fmt.Println(d.Root.Kinds, d.Root.Text.MinLength, d.Root.Number.Minimum)
	for _, c := range d.Changes {
		fmt.Printf("%q %s: %s\n", c.At, c.Keyword, c.Detail)
	}
	// Output:
	// string or integer 2 3
	// "/anyOf/1" allOf: merged into one schema
	// "" anyOf: alternatives are merged
}
