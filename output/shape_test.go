package output_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/output"
	"github.com/toolpost/toolpost/schema"
)

func rows(n int) string {
	var b strings.Builder
	b.WriteString(`{"total":12345678901234567890,"rows":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":%d,"name":"row %d","note":"%s"}`, i, i, strings.Repeat("n", 50))
	}
	b.WriteString(`],"ok":true}`)
	return b.String()
}

func TestStructuredKeepsItsShape(t *testing.T) {
	b := newBench(t, output.Options{Chars: 3000})
	whole := rows(1000)
	r := b.result(t, rawJSON(t, whole))
	if n := utf8.RuneCount(r.Structured()); n > 3000 {
		t.Errorf("the shape has %d characters", n)
	}
	var shape struct {
		Total json.Number
		Rows  []json.RawMessage
		OK    bool
	}
	if err := json.Unmarshal(r.Structured(), &shape); err != nil {
		t.Fatal(err)
	}
	last := string(shape.Rows[len(shape.Rows)-1])
	if shape.Total != "12345678901234567890" || !shape.OK || last != fmt.Sprintf(`"… %d more elements"`, 1000-len(shape.Rows)+1) {
		t.Errorf("the shape is %s", r.Structured())
	}
	parts := r.Parts()
	if len(parts) != 2 || parts[0].Text != string(r.Structured()) || !strings.Contains(parts[1].Text, `tool_output_cache {"ref_id":"`+r.OutputRef()+`"}`) {
		t.Errorf("the parts are %+v", parts)
	}
	stored := b.whole(t, r.OutputRef())
	var compact strings.Builder
	for line := range strings.SplitSeq(stored, "\n") {
		compact.WriteString(strings.TrimSpace(line))
	}
	if got := strings.ReplaceAll(compact.String(), `": `, `":`); got != whole {
		t.Errorf("what is stored is another value: %.300s", got)
	}
	if !strings.Contains(stored, "\n") {
		t.Error("what is stored has no lines")
	}
}

func rawJSON(t *testing.T, value string) *toolpost.Result {
	t.Helper()
	r, err := toolpost.JSONResult(json.RawMessage(value))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The shape fits the tool's output schema, otherwise the structured content stays
// whole: a client refuses a result without it, or with a part that does not fit.
func TestShapeFitsTheSchema(t *testing.T) {
	item := `{"type":"object","properties":{"id":{"type":"integer"},"name":{"type":"string"},"note":{"type":"string"}},"required":["id"]}`
	for name, test := range map[string]struct {
		rows string
		fits bool
	}{
		"any":       {`{}`, true},
		"objects":   {`{"type":"array","items":` + item + `}`, true},
		"at least":  {`{"type":"array","minItems":900}`, false},
		"formats":   {`{"type":"array","items":{"type":"object","properties":{"note":{"type":"string","format":"uri"}}}}`, true},
		"unchecked": {`{"type":"array","items":{"$ref":"https://example.com/x"}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, output.Options{Chars: 3000})
			b.tool.Output = schema.MustParse(`{"type":"object","properties":{"rows":` + test.rows + `},"required":["rows","ok"]}`)
			b.list(t)
			r := b.result(t, rawJSON(t, rows(1000)))
			if got := string(r.Structured()) != rows(1000); got != test.fits {
				t.Fatalf("the shape is %.300s", r.Structured())
			}
			if test.fits {
				if err := b.tool.Output.Validate(r.Structured()); err != nil {
					t.Error(err)
				}
				if name == "formats" && strings.Contains(string(r.Structured()), "…") {
					t.Errorf("a text with a format was cut: %s", r.Structured())
				}
				return
			}
			parts := r.Parts()
			if len(parts) != 1 || utf8.RuneCountInString(parts[0].Text) > 3000 || !strings.Contains(parts[0].Text, `are left out here. Read on with tool_output_cache {"ref_id":"`+r.OutputRef()) {
				t.Errorf("the text is %+v", parts)
			}
		})
	}
}

func TestStructuredBesideTexts(t *testing.T) {
	b := newBench(t, output.Options{Chars: 3000})
	value := rows(500)
	short := b.result(t, toolpost.RawResult(json.RawMessage(`{"content":[{"type":"text","text":"500 rows"}],"structuredContent":`+value+`}`)))
	if parts := short.Parts(); len(parts) != 2 || parts[0].Text != "500 rows" || !strings.Contains(parts[1].Text, short.OutputRef()) {
		t.Errorf("the parts are %+v", parts)
	}
	if stored := b.whole(t, short.OutputRef()); !strings.HasPrefix(stored, "500 rows\n{\n") {
		t.Errorf("stored is %.100q", stored)
	}
	quoted, err := json.Marshal(numbered(3000))
	if err != nil {
		t.Fatal(err)
	}
	long := b.result(t, toolpost.RawResult(json.RawMessage(`{"content":[{"type":"text","text":`+string(quoted)+`}],"structuredContent":`+value+`}`)))
	chars := 0
	for _, p := range long.Parts() {
		chars += utf8.RuneCountInString(p.Text)
	}
	if chars > 3000 || !json.Valid(long.Structured()) {
		t.Errorf("the texts have %d characters, the shape is %.100s", chars, long.Structured())
	}
	small := b.result(t, toolpost.RawResult(json.RawMessage(`{"content":[{"type":"text","text":`+string(quoted)+`}],"structuredContent":{"n":3000}}`)))
	if string(small.Structured()) != `{"n":3000}` || !strings.HasPrefix(text(t, small), "line 1\n") {
		t.Errorf("small structured content became %s", small.Structured())
	}
}

// Any JSON becomes JSON within the limit, or text.
func FuzzShape(f *testing.F) {
	f.Add(`{"a":[1,2,{"b":"é"}]}`, uint16(3))
	f.Add(`[[[[[["x"]]]]]]`, uint16(900))
	f.Add(`{"a":1,"a":2,"\u0000":"\ud800"}`, uint16(400))
	f.Fuzz(func(t *testing.T, seed string, times uint16) {
		if !json.Valid([]byte(seed)) || len(seed) > 2000 {
			t.Skip("no JSON")
		}
		value := `{"v":[` + seed + strings.Repeat(","+seed, int(times)%1000) + `]}`
		checkShape(t, value)
		checkShape(t, `{"s":`+strings.Repeat("[", int(times)%500)+seed+strings.Repeat("]", int(times)%500)+`}`)
	})
}

func checkShape(t *testing.T, value string) {
	t.Helper()
	b := newBench(t, output.Options{Chars: 1000})
	r := b.result(t, toolpost.RawResult(json.RawMessage(`{"content":[],"structuredContent":`+value+`}`)))
	if s := r.Structured(); s != nil && (!json.Valid(s) || utf8.RuneCount(s) > 1000) {
		t.Fatalf("the shape is %s", s)
	}
	chars := 0
	for _, p := range r.Parts() {
		chars += utf8.RuneCountInString(p.Text)
	}
	if chars > 1000 {
		t.Fatalf("the texts have %d characters", chars)
	}
	if r.OutputRef() == "" && utf8.RuneCountInString(value) > 1000 {
		t.Fatal("it is not stored")
	}
}

// TestPromisedStructuredContent: what is too large to be sent whole is an error
// that says that the call was carried out, and has its reference.
func TestPromisedStructuredContent(t *testing.T) {
	b := newBench(t, output.Options{Chars: 3000})
	b.tool.Output = schema.MustParse(`{"type":"object","properties":{"data":{"type":"string","minLength":9000000}}}`)
	b.list(t)
	value := `{"data":"` + strings.Repeat("d", 9_000_000) + `"}`
	r := b.result(t, rawJSON(t, value))
	if !r.IsError() || r.Structured() != nil || r.OutputRef() == "" || !strings.Contains(r.Parts()[0].Text, "The call was carried out") {
		t.Errorf("got %.300v", r.Parts())
	}
	e := b.result(t, toolpost.RawResult(json.RawMessage(`{"content":[],"isError":true,"structuredContent":`+value+`}`)))
	if e.Structured() != nil { // an error needs none
		t.Errorf("the error has %d bytes of structured content", len(e.Structured()))
	}
}
