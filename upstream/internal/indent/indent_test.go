package indent_test

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/toolpost/toolpost/upstream/internal/indent"
)

func FuzzReader(f *testing.F) {
	for _, s := range []string{`{"a":[1,{"b":[]},{}],"c":"d,[\"{"}`, `[[[]]]`, `"a"`, ` [ 1 , 2 ] `} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		got, err := io.ReadAll(indent.Reader(iotest.HalfReader(strings.NewReader(source))))
		if err != nil {
			t.Fatal(err)
		}
		var want, compact bytes.Buffer
		if json.Indent(&want, []byte(source), "", "\t") != nil || strings.Count(source, "[")+strings.Count(source, "{") > 32 {
			return
		}
		if text := strings.TrimSpace(want.String()); string(got) != text {
			t.Fatalf("%q became %q, not %q", source, got, text)
		}
		if json.Compact(&compact, got) != nil {
			t.Fatalf("%q is no JSON", got)
		}
	})
}
