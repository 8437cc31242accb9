package longjson_test

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/toolpost/toolpost/internal/longjson"
)

func FuzzText(f *testing.F) {
	for _, s := range []string{"plain", "\"\\/\b\f\n\r\t\u0000", "😀 \u2028", strings.Repeat("long\n", 30_000)} {
		b, _ := json.Marshal(s)
		f.Add(string(b[1 : len(b)-1]))
	}
	for _, s := range []string{`😀`, `\ud83d`, `\udc00\ud83d`, `\ud83dA`, `\ud83d\n`, `\/`, `\u00e9`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, content string) {
		var want string
		if json.Unmarshal([]byte(`"`+content+`"`), &want) != nil {
			want = "" // no string: it must only end
		}
		got, err := io.ReadAll(longjson.Text(iotest.HalfReader(strings.NewReader(content)), new(longjson.Buffers)))
		if err != nil {
			t.Fatal(err)
		}
		if valid := strings.ToValidUTF8(string(got), "�"); want != "" && strings.ReplaceAll(valid, "�", "") != strings.ReplaceAll(want, "�", "") {
			t.Fatalf("%q is %q, not %q", content, got, want)
		}
	})
}

func FuzzLines(f *testing.F) {
	for _, s := range []string{`{"a":[1,{"b":[]},{}],"c":"d,[\"{"}`, `[[[]]]`, `"a"`, ` [ 1 , 2 ] `} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		got, err := io.ReadAll(longjson.Lines(iotest.HalfReader(strings.NewReader(source))))
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
