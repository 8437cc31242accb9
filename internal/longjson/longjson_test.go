package longjson_test

import (
	"bytes"
	"encoding/json"
	"io"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/toolpost/toolpost/internal/longjson"
)

// most is small: what is long is easily found then.
const most = 8

// run is what a Shortener refuses.
var run = regexp.MustCompile(`[^,:\[\]{}"]{9}`)

// A number or white space is not kept in memory, however long it is.
func TestRun(t *testing.T) {
	for _, s := range []string{"[" + strings.Repeat("1", 9) + "]", "[1" + strings.Repeat(" ", 9) + "]", `{"a":` + strings.Repeat("\n", 20) + `"b"}`} {
		if _, err := io.ReadAll(longjson.Shorten(iotest.OneByteReader(strings.NewReader(s)), most)); err != longjson.ErrRun {
			t.Errorf("%q: %v", s, err)
		}
	}
}

// whole puts the strings back that were cut.
func whole(t *testing.T, short []byte, source string, cuts []longjson.Cut) string {
	t.Helper()
	var b strings.Builder
	at := int64(0)
	for _, c := range cuts {
		if string(short[c.At:c.At+2]) != `""` || c.To-c.From <= most {
			t.Fatalf("at %v is %q", c, short[c.At:])
		}
		b.Write(short[at : c.At+1])
		b.WriteString(source[c.From:c.To])
		at = c.At + 1
	}
	b.Write(short[at:])
	return b.String()
}

func FuzzShorten(f *testing.F) {
	for _, s := range []string{
		`{"a":"short","b":"a long string","c":["\"escaped\" \\",1,"another \\\\\""]}`,
		`"\\\\\\\\\\\\\"\\"`, `"no end of this`, `"` + strings.Repeat(`\"`, 40) + `"`, `""`, ``, `"12345678""123456789"`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		for _, r := range []io.Reader{strings.NewReader(source), iotest.OneByteReader(strings.NewReader(source))} {
			s := longjson.Shorten(r, most)
			short, err := io.ReadAll(iotest.OneByteReader(s))
			if err != nil && json.Valid([]byte(source)) && (err != longjson.ErrRun || !run.MatchString(source)) {
				t.Fatal(err)
			}
			if err != nil {
				continue
			}
			if back := whole(t, short, source, s.Cuts()); back != source {
				t.Fatalf("%q became %q with %v", source, short, s.Cuts())
			}
			if s.Source(int64(len(short))) != int64(len(source)) {
				t.Fatalf("the end of %q is at %d", source, s.Source(int64(len(short))))
			}
			if json.Valid([]byte(source)) && (!json.Valid(short) || bytes.Contains(short, []byte(`123456789`))) {
				t.Fatalf("%q became %q", source, short)
			}
		}
	})
}

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
		got, err := io.ReadAll(longjson.Text(iotest.HalfReader(strings.NewReader(content))))
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
