package output_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/output"
)

var base64Data = regexp.MustCompile(`"(data|blob)":"[A-Za-z0-9+/=]*"`)

// cost is how many characters of JSON the parts are, without the data of media.
func cost(t *testing.T, parts []toolpost.Part) int {
	t.Helper()
	sum := 0
	for _, p := range parts {
		raw, err := p.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Data) > 0 {
			raw = base64Data.ReplaceAll(raw, nil)
		}
		sum += utf8.RuneCount(raw)
	}
	return sum
}

func content(parts ...string) *toolpost.Result {
	return toolpost.RawResult(json.RawMessage(`{"content":[` + strings.Join(parts, ",") + `]}`))
}

func repeated(n int, part func(int) string) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = part(i)
	}
	return all
}

// Whatever a result is made of, its reader gets no more than the limit, is told
// how to read the rest, and finds it there.
func TestNoPartFloods(t *testing.T) {
	long := strings.Repeat("long/", 40_000)
	data := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("data", 50_000)))
	for name, test := range map[string]struct {
		parts []string
		kinds string // of the view's parts
		find  string // a line of the rest has it
	}{
		"links":           {repeated(5000, func(i int) string { return fmt.Sprintf(`{"type":"resource_link","uri":"file:///%d","name":"n"}`, i) }), "text", `{"type":"resource_link","uri":"file:///2500","name":"n"}`},
		"uri":             {[]string{`{"type":"resource_link","uri":"file:///` + long + `end","name":"n"}`}, "text", `end","name":"n"}`},
		"resource":        {[]string{`{"type":"resource","resource":{"uri":"file:///` + long + `end","text":"needle"}}`}, "text", "needle"},
		"document":        {[]string{`{"type":"resource","resource":{"uri":"file:///` + long + `","blob":"QUJD"}}`, `{"type":"text","text":"t"}`}, "text text", `"blob":"QUJD"`},
		"embedded text":   {[]string{`{"type":"resource","resource":{"uri":"file:///a","text":"` + long + `needle` + long + `"},"_meta":{"kept":1}}`}, "resource", "needle"},
		"unknown":         {repeated(3, func(i int) string { return fmt.Sprintf(`{"type":"new","data":"%s","n":%d}`, data, i) }), "text text text", `"n":1}`},
		"untyped":         {[]string{`{"data":"` + data + `needle"}`}, "text", "needle"},
		"empty":           {append(repeated(20_000, func(int) string { return `{"type":"text","text":""}` }), `{"type":"text","text":"needle"}`), "text", "needle"},
		"metadata":        {[]string{`{"type":"image","data":"` + data + `","mimeType":"image/png","_meta":{"x":"` + long + `needle"}}`}, "image text", "needle"},
		"type of data":    {[]string{`{"type":"image","data":"` + data + `","mimeType":"` + long + `needle"}`}, "text", "needle"},
		"annotations":     {[]string{`{"type":"text","text":"t","annotations":{"x":"` + long + `needle"}}`}, "text", "needle"},
		"no base64":       {[]string{`{"type":"image","data":"-` + data + `needle","mimeType":"image/png"}`}, "text", "needle"},
		"malformed":       {[]string{`{"type":"text","text":"` + long + `needle","mimeType":5}`}, "text", "needle"},
		"twice":           {[]string{`{"type":"text","text":"` + long + `needle","text":"short"}`}, "text", "needle"},
		"text in a link":  {[]string{`{"type":"resource_link","text":"` + long + `needle"}`}, "text", "needle"},
		"many images":     {repeated(5000, func(i int) string { return fmt.Sprintf(`{"type":"image","data":"AAAA","mimeType":"image/%d"}`, i) }), "", `"data":"AAAA","mimeType":"image/4999"`},
		"whitespace":      {[]string{`{"type":"new",` + strings.Repeat(" \n", 3000) + `"a":[1,` + strings.Repeat("\n", 60_000) + `2],"b":"` + long + `needle"}`}, "text", `"a":[1,2]`},
		"data beside":     {[]string{`{"type":"resource","resource":{"uri":"a","text":"t","blob":"` + data + `"}}`, `{"type":"text","text":"needle"}`}, "text text", "needle"},
		"invalid strings": {[]string{`{"type":"new","x":"\ud800` + long + `needle"}`}, "text", "needle"},
	} {
		for _, failed := range []bool{false, true} {
			t.Run(fmt.Sprint(name, failed), func(t *testing.T) {
				b := newBench(t, output.Options{})
				r, limit := content(test.parts...), 48_000
				if failed {
					r, limit = toolpost.RawResult(json.RawMessage(`{"isError":true,"content":[`+strings.Join(test.parts, ",")+`]}`)), 10_000
				}
				r = b.result(t, r)
				// JSON has a \ before each quote and at each line end of a view.
				if n := cost(t, r.Parts()); n > limit*5/4 {
					t.Errorf("the parts have %d characters", n)
				}
				shown := 0
				var kinds []string
				for _, p := range r.Parts() {
					shown += utf8.RuneCountInString(p.Text)
					kinds = append(kinds, p.Type)
				}
				if got := strings.Join(kinds, " "); shown > limit || test.kinds != "" && got != test.kinds {
					t.Errorf("%.200q have %d characters", got, shown)
				}
				raw, err := r.MarshalJSON()
				if err != nil || !strings.Contains(string(raw), `tool_output_cache {\"ref_id\":\"`+r.OutputRef()) || r.OutputRef() == "" {
					t.Errorf("%v: the result does not tell how to read on: %.300s", err, raw)
				}
				args, err := json.Marshal(map[string]string{"ref_id": r.OutputRef(), "pattern": test.find})
				if err != nil {
					t.Fatal(err)
				}
				if found := text(t, b.call(t, "s", "tool_output_cache_grep", string(args))); !strings.Contains(found, test.find) {
					t.Errorf("the rest has not %q: %.200q", test.find, found)
				}
			})
		}
	}
}

// What else a text or an image has stays in its view.
func TestViewsKeepOtherMembers(t *testing.T) {
	b := newBench(t, output.Options{Chars: 2000})
	quoted, err := json.Marshal(numbered(1000))
	if err != nil {
		t.Fatal(err)
	}
	r := b.result(t, content(`{"type":"text","annotations":{"audience":["user"]},"text":`+string(quoted)+`,"x":12345678901234567890}`))
	raw, err := r.Parts()[0].MarshalJSON()
	if err != nil || !strings.HasPrefix(string(raw), `{"type":"text","annotations":{"audience":["user"]},"text":"line 1\nline 2\n`) || !strings.HasSuffix(string(raw), `,"x":12345678901234567890}`) {
		t.Errorf("the part is %s", raw)
	}
	next := regexp.MustCompile(`"offset":(\d+)`).FindStringSubmatch(text(t, r))
	shown := strings.Count(text(t, r)[:strings.Index(text(t, r), "[…")], "\n")
	page := text(t, b.call(t, "s", "tool_output_cache", `{"ref_id":"`+r.OutputRef()+`","offset":`+next[1]+`,"limit":1}`))
	if !strings.Contains(page, fmt.Sprintf("  line %d\n", shown+1)) {
		t.Errorf("after %d lines it goes on with %q", shown, page)
	}
}

// Parts that fit stay as they are beside what does not.
func TestPartsThatFitStay(t *testing.T) {
	b := newBench(t, output.Options{})
	link := `{"type":"resource_link","uri":"file:///a","name":"n","size":12345678901234567890}`
	image := `{"type":"image","data":"AAAA","mimeType":"image/png","_meta":{"k":1}}`
	quoted, err := json.Marshal(numbered(10_000))
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]*toolpost.Result{
		"text":       content(link, `{"type":"text","text":`+string(quoted)+`}`, image),
		"structured": toolpost.RawResult(json.RawMessage(`{"content":[` + link + `,` + image + `],"structuredContent":` + rows(3000) + `}`)),
	} {
		raw, err := b.result(t, r).MarshalJSON()
		if err != nil || !strings.Contains(string(raw), link) || !strings.Contains(string(raw), image) {
			t.Errorf("%s: %v: %.300s", name, err, raw)
		}
	}
}

// Any mix of parts, with any limit, is within it and kept whole.
func TestPartProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range 100 {
		chars := 3000 + rng.IntN(4000)
		b := newBench(t, output.Options{Chars: chars, Lines: 40 + rng.IntN(100)})
		var parts []string
		for n := range 1 + rng.IntN(60) {
			pad := strings.Repeat("é", rng.IntN(1+rng.IntN(2000)))
			parts = append(parts, []string{
				fmt.Sprintf(`{"type":"text","text":"item%d %s"}`, n, pad),
				fmt.Sprintf(`{"type":"text","_meta":{"m":"%s"},"text":"item%d "}`, pad, n),
				fmt.Sprintf(`{"type":"resource_link","uri":"%s","name":"item%d "}`, pad, n),
				fmt.Sprintf(`{"type":"image","mimeType":"image/png","data":"AAAA","_meta":"item%d %s"}`, n, pad),
				fmt.Sprintf(`{"type":"resource","resource":{"uri":"item%d ","blob":"AAAA","x":"%s"}}`, n, pad),
				fmt.Sprintf(`{"type":"resource","resource":{"uri":"item%d ","text":"%s"}}`, n, pad),
			}[rng.IntN(6)])
		}
		all := strings.Join(parts, ",")
		if i%2 == 1 {
			all += `],"structuredContent":[` + strings.Repeat("12345,", chars) + `0`
		}
		r := b.result(t, toolpost.RawResult(json.RawMessage(`{"content":[`+all+`]}`)))
		if n := cost(t, r.Parts()); n > chars+chars/3 {
			t.Fatalf("%d: %d parts have %d characters of %d", i, len(r.Parts()), n, chars)
		}
		if r.OutputRef() == "" {
			continue
		}
		stored := b.whole(t, r.OutputRef())
		raw, err := r.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		for n := range parts {
			if name := fmt.Sprintf("item%d ", n); !strings.Contains(stored, name) && !strings.Contains(string(raw), name) {
				t.Fatalf("%d: %s is lost", i, name)
			}
		}
	}
}

// Any part, as often as may be, is within the limit or kept.
func FuzzParts(f *testing.F) {
	f.Add(`{"type":"text","text":"a\u0000\ud800","text":"b"}`, uint16(900))
	f.Add(`{"type":"resource","resource":{"uri":"a","text":"","blob":"AAAA"}}`, uint16(400))
	f.Add(` {"type" : "image","data":"AAAA", "data":"-", "mimeType":[ ]}`, uint16(99))
	f.Fuzz(func(t *testing.T, part string, times uint16) {
		if !json.Valid([]byte(part)) || !strings.HasPrefix(part, "{") || len(part) > 2000 {
			t.Skip("no part")
		}
		n := 1 + int(times)%1000
		b := newBench(t, output.Options{Chars: 1000})
		r := b.result(t, content(repeated(n, func(int) string { return part })...))
		raw, err := r.MarshalJSON()
		if err != nil || !json.Valid(raw) {
			t.Fatalf("%v: the result is %.300q", err, raw)
		}
		chars := 0
		for _, p := range r.Parts() {
			chars += utf8.RuneCountInString(p.Text)
		}
		if chars > 1000 || len(r.Parts()) > 520 { // the least is {}
			t.Fatalf("%d parts have %d characters", len(r.Parts()), chars)
		}
		if n > 520 && b.whole(t, r.OutputRef()) == "" {
			t.Fatal("nothing is kept")
		}
	})
}

// TestInvalidText checks that a text with bytes that are not UTF-8 is kept as a
// text, and not once more as JSON.
func TestInvalidText(t *testing.T) {
	r := content(`{"type":"text","text":"` + strings.Repeat("caf\xe9 line"+`\n`, 6000) + `"}`)
	shown := newBench(t, output.Options{}).result(t, r)
	if view := text(t, shown); !strings.HasPrefix(view, "caf\uFFFD line\n") {
		t.Errorf("the view begins with %.80q", view)
	}
}
