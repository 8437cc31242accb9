package output_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/output"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/store"
)

var quiet = slog.New(slog.DiscardHandler)

// A bench is a cache over a shelf, with one tool that returns what is asked of
// it.
type bench struct {
	*shelf
	cache *output.Cache
	set   *toolpost.Set
	tool  *toolpost.Tool
	give  func() (*toolpost.Result, error)
}

func newBench(t *testing.T, o output.Options) *bench {
	t.Helper()
	o.Logger = quiet
	b := &bench{shelf: newShelf()}
	b.cache = output.New(b.shelf, &o)
	b.tool = &toolpost.Tool{
		Definition: toolpost.Definition{Name: "big", Input: schema.MustParse(`{"type":"object"}`)},
		Handler:    func(context.Context, *toolpost.Call) (*toolpost.Result, error) { return b.give() },
	}
	b.list(t)
	return b
}

func (b *bench) list(t *testing.T) {
	t.Helper()
	set, err := toolpost.NewSet(t.Context(), b.cache.Layer(toolpost.Tools{b.tool}))
	if err != nil {
		t.Fatal(err)
	}
	b.set = set
}

// result is what the model gets of r.
func (b *bench) result(t *testing.T, r *toolpost.Result) *toolpost.Result {
	t.Helper()
	b.give = func() (*toolpost.Result, error) { return r, nil }
	return b.call(t, "s", "big", `{}`)
}

func (b *bench) call(t *testing.T, session, name, args string) *toolpost.Result {
	t.Helper()
	r, err := b.set.Call(t.Context(), &toolpost.Call{Session: session, Name: name, Arguments: json.RawMessage(args)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func text(t *testing.T, r *toolpost.Result) string {
	t.Helper()
	s, ok := r.FirstText()
	if !ok {
		t.Fatal("the result has no text")
	}
	return s
}

// numbered returns n lines.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

func TestSmallResultsAreUntouched(t *testing.T) {
	structured, err := toolpost.JSONResult(map[string]int{"n": 1})
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]*toolpost.Result{
		"text":       toolpost.TextResult("hello"),
		"empty":      toolpost.TextResult(""),
		"nothing":    toolpost.NewResult(),
		"all lines":  toolpost.TextResult(numbered(2000)),
		"all room":   toolpost.TextResult(strings.Repeat("é", 48_000)),
		"error":      toolpost.Failed.Resultf("%s", strings.Repeat("e", 10_000)),
		"structured": structured,
		"image":      toolpost.NewResult(toolpost.Part{Type: "image", Data: make([]byte, 100_000), MIMEType: "image/png"}),
		"raw":        toolpost.RawResult(json.RawMessage(`{"content":[{"type":"text","text":"a\nb"}],"_meta":{"x":1e400}}`)),
		"large raw":  toolpost.RawResult(json.RawMessage(`{"content":[{"type":"text","text":"a"}],"pad":"` + strings.Repeat("p", 90_000) + `"}`)),
		"no result":  toolpost.RawResult(json.RawMessage(`[1]`)),
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, output.Options{})
			if got := b.result(t, r); got != r {
				t.Errorf("got another result: %.300v", got)
			}
			if b.count() != 0 {
				t.Error("it was stored")
			}
		})
	}
}

func TestViewOfLines(t *testing.T) {
	b := newBench(t, output.Options{Lines: 11})
	whole := numbered(100)
	r := b.result(t, toolpost.TextResult(whole))
	ref := r.OutputRef()
	want := numbered(5) + `[… 90 of 100 lines, 716 of 792 characters, are left out here. Read on with tool_output_cache {"ref_id":"` + ref +
		`","offset":5}, or search with tool_output_cache_grep {"ref_id":"` + ref + `","pattern":"…"} …]` + "\n" +
		"line 96\nline 97\nline 98\nline 99\nline 100\n"
	if got := text(t, r); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if b.whole(t, ref) != whole {
		t.Error("what is stored is not the whole")
	}
	if r.IsError() || r.Outcome() != toolpost.OK {
		t.Error("the view is an error")
	}
	next := b.call(t, "s", "tool_output_cache", `{"ref_id":"`+ref+`","offset":5,"limit":2}`)
	if got, want := text(t, next), "    6  line 6\n    7  line 7\n\n[lines 6 to 7 of 100; read on with offset 7]\n"; got != want {
		t.Errorf("the next page is %q, want %q", got, want)
	}
}

func TestOneLongLine(t *testing.T) {
	b := newBench(t, output.Options{Chars: 1000})
	whole := strings.Repeat("0123456789äöü€", 2000)
	r := b.result(t, toolpost.TextResult(whole))
	view := text(t, r)
	m := regexp.MustCompile(`(?s)^(.*)\n\[… 1 of 1 lines, (\d+) of 28000 characters, are left out here. Read on with tool_output_cache (\{.*?\}).*\]\n(.*)$`).FindStringSubmatch(view)
	if m == nil {
		t.Fatalf("the view is %q", view)
	}
	head, tail := m[1], m[4]
	if !strings.HasPrefix(whole, head) || !strings.HasSuffix(whole, tail) || len(head) < 300 || len(tail) < 300 {
		t.Errorf("the view has the head %q and the tail %q", head, tail)
	}
	// The calls that the view and the windows tell read the rest.
	got, args := head, m[3]
	for args != "" {
		window := text(t, b.call(t, "s", "tool_output_cache", args))
		part, foot, ok := strings.Cut(window, "\n\n[")
		if !ok {
			t.Fatalf("the window is %q", window)
		}
		if got += part; len(got) > len(whole) {
			t.Fatal("the windows are more than the line")
		}
		args = ""
		if m := regexp.MustCompile(`read on with offset (\d+)`).FindStringSubmatch(foot); m != nil {
			args = `{"ref_id":"` + r.OutputRef() + `@1","offset":` + m[1] + `}`
		}
	}
	if got != whole {
		t.Errorf("the windows give %d bytes, not the line's %d", len(got), len(whole))
	}
	page := text(t, b.call(t, "s", "tool_output_cache", `{"ref_id":"`+r.OutputRef()+`"}`))
	if !strings.Contains(page, `[… the line has 38000 bytes: read on with {"ref_id":"`+r.OutputRef()+`@1","offset":250}]`) {
		t.Errorf("the page is %q", page)
	}
}

func TestPartsStayTyped(t *testing.T) {
	b := newBench(t, output.Options{Chars: 4000})
	image := toolpost.Part{Type: "image", Data: []byte("png"), MIMEType: "image/png"}
	r := b.result(t, toolpost.NewResult(
		toolpost.Part{Type: "text", Text: "small"},
		image,
		toolpost.Part{Type: "text", Text: numbered(1000)},
		toolpost.Part{Type: "resource", URI: "file:///log", MIMEType: "text/plain", Text: strings.Repeat("log entry\n", 1000)},
		toolpost.Part{Type: "resource", URI: "file:///bin", Data: make([]byte, 9000)},
	))
	var kinds []string
	chars := 0
	for _, p := range r.Parts() {
		kinds = append(kinds, p.Type)
		chars += utf8.RuneCountInString(p.Text)
	}
	if got, want := strings.Join(kinds, " "), "text image text resource resource"; got != want {
		t.Errorf("parts are %s, want %s", got, want)
	}
	parts := r.Parts()
	if parts[0].Text != "small" || string(parts[1].Data) != "png" || parts[3].URI != "file:///log" || len(parts[4].Data) != 9000 {
		t.Errorf("parts are changed: %+v", parts)
	}
	if chars > 4000 {
		t.Errorf("the texts have %d characters", chars)
	}
	ref := r.OutputRef()
	frame := `{"type":"resource","resource":{"uri":"file:///log","mimeType":"text/plain","text":""}}` + "\n"
	if got, want := b.whole(t, ref), "small\n"+numbered(1000)+frame+strings.Repeat("log entry\n", 1000); got != want {
		t.Errorf("stored are %d bytes, want %d", len(got), len(want))
	}
	// The calls count lines of what is stored.
	for i, want := range map[int]string{2: "line ", 3: "log entry"} {
		m := regexp.MustCompile(`"offset":(\d+)`).FindStringSubmatch(parts[i].Text)
		if m == nil {
			t.Fatalf("part %d is %q", i, parts[i].Text)
		}
		page := text(t, b.call(t, "s", "tool_output_cache", `{"ref_id":"`+ref+`","offset":`+m[1]+`,"limit":1}`))
		shown := parts[i].Text[:strings.Index(parts[i].Text, "[…")]
		if !strings.Contains(page, want) || want == "line " && !strings.Contains(page, fmt.Sprintf("line %d\n", strings.Count(shown, "\n")+1)) {
			t.Errorf("part %d goes on with %q", i, page)
		}
	}
}

func TestManyParts(t *testing.T) {
	b := newBench(t, output.Options{Chars: 2000})
	var parts []toolpost.Part
	for i := range 500 {
		parts = append(parts, toolpost.Part{Type: "text", Text: fmt.Sprintf("part %d", i)}, toolpost.Part{Type: "image", Data: []byte{1}})
	}
	r := b.result(t, toolpost.NewResult(parts...))
	got := r.Parts()
	view, last := text(t, r), got[len(got)-1].Text
	if !strings.HasPrefix(view, "part 0\npart 1\n") || !strings.HasSuffix(view, "part 499\n") {
		t.Errorf("the view is %q", view)
	}
	// Images have half of the room, and the rest is told.
	images := len(got) - 2
	want := fmt.Sprintf(`[%d of 500 images, audio and documents are left out here. Read them as lines of JSON, with their data, with tool_output_cache {"ref_id":"%s","offset":500}]`, 500-images, r.OutputRef())
	if images < 10 || last != want || cost(t, got) > 2000 {
		t.Errorf("%d images are shown, at %d characters, and the end is %q, want %q", images, cost(t, got), last, want)
	}
	page := text(t, b.call(t, "s", "tool_output_cache", `{"ref_id":"`+r.OutputRef()+`","offset":500,"limit":1}`))
	if !strings.HasPrefix(page, `  501  {"type":"image","data":"AQ=="`) {
		t.Errorf("an image that is left out is %q", page)
	}
}

func TestErrors(t *testing.T) {
	b := newBench(t, output.Options{Errors: 1000})
	long := numbered(500)
	r := b.result(t, toolpost.Failed.Resultf("%s", long))
	if n := utf8.RuneCountInString(text(t, r)); n > 1000 || !r.IsError() || b.whole(t, r.OutputRef()) != long {
		t.Errorf("an error result has %d characters: %v", n, r.IsError())
	}
	for name, test := range map[string]struct {
		err  error
		kind toolpost.Outcome
	}{
		"plain":     {errors.New(long), toolpost.Failed},
		"retry":     {toolpost.Retry.Errorf("%s", long), toolpost.Retry},
		"denied":    {toolpost.Denied.Errorf("%s", long), toolpost.Denied},
		"arguments": {&toolpost.ArgumentsError{Tool: "big", Err: errors.New(long)}, toolpost.Retry},
	} {
		b.give = func() (*toolpost.Result, error) { return nil, test.err }
		r := b.call(t, "s", "big", `{}`)
		got := text(t, r)
		if n := utf8.RuneCountInString(got); n > 1100 || !strings.Contains(got, `tool_output_cache {"ref_id":"`) || !r.IsError() || r.Outcome() != test.kind {
			t.Errorf("%s: %d characters, outcome %v: %q", name, n, r.Outcome(), got)
		}
	}
	b.give = func() (*toolpost.Result, error) { return nil, toolpost.Done.Errorf("%s", long) }
	if r := b.call(t, "s", "big", `{}`); r.Outcome() != toolpost.Done || text(t, r) != long {
		t.Error("the result of a run is cut as an error")
	}
	for data, kept := range map[string]string{"": long, `["data"]`: long + "\n" + `["data"]`} {
		b.give = func() (*toolpost.Result, error) {
			return nil, &toolpost.ProtocolError{Code: 1, Message: long, Data: []byte(data)}
		}
		_, err := b.set.Call(t.Context(), &toolpost.Call{Name: "big"})
		var fault *toolpost.ProtocolError
		if !errors.As(err, &fault) || fault.Code != 1 || fault.Data != nil || utf8.RuneCountInString(fault.Message) > 1000 {
			t.Fatalf("a protocol error became %v", err)
		}
		ref := regexp.MustCompile(`"ref_id":"(\w+)`).FindStringSubmatch(fault.Message)
		if ref == nil || b.whole(t, ref[1]) != kept {
			t.Errorf("the error is %q, and kept is not %d bytes", fault.Message, len(kept))
		}
	}
	fault := &toolpost.ProtocolError{Code: 1, Message: "short", Data: []byte(`"` + strings.Repeat("d", 900) + `"`)}
	b.give = func() (*toolpost.Result, error) { return nil, fault }
	if _, err := b.set.Call(t.Context(), &toolpost.Call{Name: "big"}); err != fault {
		t.Errorf("a short protocol error became %v", err)
	}
}

func TestStoringFails(t *testing.T) {
	full := fmt.Errorf("create: %w", store.ErrFull)
	for name, test := range map[string]struct {
		fail func(*shelf)
		want string
	}{
		"create": {func(s *shelf) { s.create = errors.New("disk /secret") }, "and lost: the output cache cannot be written. Call the tool again"},
		"write":  {func(s *shelf) { s.write, s.room = errors.New("disk /secret"), 100 }, "and lost: the output cache cannot be written."},
		"commit": {func(s *shelf) { s.commit = full }, "and lost: it is more than the output cache holds."},
	} {
		b := newBench(t, output.Options{Chars: 1000})
		test.fail(b.shelf)
		whole := numbered(1000)
		for shape, r := range map[string]*toolpost.Result{
			"text":       toolpost.TextResult(whole),
			"structured": toolpost.RawResult(json.RawMessage(`{"content":[],"structuredContent":{"a":"` + strings.Repeat("x", 5000) + `"}}`)),
		} {
			got := b.result(t, r)
			var all string
			for _, p := range got.Parts() {
				all += p.Text
			}
			if !strings.Contains(all, test.want) || strings.Contains(all, "secret") || strings.Contains(all, "ref_id") || got.OutputRef() != "" {
				t.Errorf("%s, %s: ref %q, view %q", name, shape, got.OutputRef(), all)
			}
			if shape == "text" && (utf8.RuneCountInString(all) < 600 || !strings.HasPrefix(all, "line 1\n") || !strings.HasSuffix(all, "line 1000\n")) {
				t.Errorf("%s: the view does not keep what fits: %q", name, all)
			}
		}
	}
}

func TestMaxOutputOfATool(t *testing.T) {
	b := newBench(t, output.Options{Chars: 1000, Lines: 20, Errors: 1000})
	b.tool.Policy.MaxOutput = 100_000
	b.list(t)
	r := toolpost.TextResult(numbered(9000))
	if b.result(t, r) != r {
		t.Error("a result within the tool's own limit is cut")
	}
	if n := utf8.RuneCountInString(text(t, b.result(t, toolpost.TextResult(numbered(20_000))))); n > 100_000 || n < 90_000 {
		t.Errorf("the view has %d characters", n)
	}
	b.tool.Policy.MaxOutput = -1
	b.list(t)
	r = toolpost.TextResult(numbered(20_000))
	if b.result(t, r) != r {
		t.Error("the result of a tool that keeps to a limit itself is cut")
	}
}

func TestRawKeepsWhatElseWasSent(t *testing.T) {
	b := newBench(t, output.Options{Chars: 1000})
	quoted, err := json.Marshal(numbered(1000))
	if err != nil {
		t.Fatal(err)
	}
	r := b.result(t, toolpost.RawResult(json.RawMessage(`{"resultType":"complete","content":[{"type":"text","text":`+string(quoted)+`}],"_meta":{"a":12345678901234567890},"x":[1]}`)))
	raw, err := r.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"resultType":"complete"`, `"_meta":{"a":12345678901234567890}`, `"x":[1]`} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("%s is missing in %s", want, raw)
		}
	}
	var back struct{ Content []struct{ Text string } }
	if err := json.Unmarshal(raw, &back); err != nil || len(back.Content) != 1 || back.Content[0].Text != text(t, r) {
		t.Errorf("the wire form is %s (%v)", raw, err)
	}
}

// Views are within their limits, valid, and with what is stored the whole.
func TestViewProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	alphabet := []string{"a", "word ", "\n", "\n\n", "é", "€", "𝄞", "\r\n", "\x00", "\u2028", strings.Repeat("x", 700), strings.Repeat("long ", 900), "\uFFFD", "\t"}
	for i := range 200 {
		var s strings.Builder
		few := 1 + rng.IntN(len(alphabet))
		for range 1 + rng.IntN(3000) {
			s.WriteString(alphabet[rng.IntN(few)])
		}
		o := output.Options{Chars: 1000 + rng.IntN(3000), Lines: 10 + rng.IntN(100)}
		checkView(t, fmt.Sprint(i), s.String(), o)
	}
}

func checkView(t *testing.T, name, whole string, o output.Options) {
	t.Helper()
	b := newBench(t, o)
	r := b.result(t, toolpost.TextResult(whole))
	view := text(t, r)
	clean := strings.ToValidUTF8(whole, "\uFFFD")
	if r.OutputRef() == "" {
		if view != whole || utf8.RuneCountInString(clean) > o.Chars || countLines(clean) > int64(o.Lines) {
			t.Fatalf("%s: a text of %d characters and %d lines is not cut", name, len(whole), countLines(whole))
		}
		return
	}
	if n, rows := utf8.RuneCountInString(view), countLines(view); n > o.Chars || rows > int64(o.Lines) {
		t.Fatalf("%s: the view has %d characters of %d, %d lines of %d", name, n, o.Chars, rows, o.Lines)
	}
	if !utf8.ValidString(view) {
		t.Fatalf("%s: the view is no UTF-8", name)
	}
	if b.whole(t, r.OutputRef()) != clean {
		t.Fatalf("%s: what is stored is not the whole", name)
	}
	at := strings.Index(view, "[… ")
	var lines, ofLines, chars, ofChars int
	if n, err := fmt.Sscanf(view[max(at, 0):], "[… %d of %d lines, %d of %d characters,", &lines, &ofLines, &chars, &ofChars); n != 4 {
		t.Fatalf("%s: no mark in %q: %v", name, view, err)
	}
	_, tail, _ := strings.Cut(view[at:], "…]\n")
	head := view[:at]
	if !strings.HasPrefix(clean, head) {
		if head = strings.TrimSuffix(head, "\n"); !strings.HasPrefix(clean, head) {
			t.Fatalf("%s: the head %q is not that of the whole", name, head)
		}
	}
	if !strings.HasSuffix(clean, tail) {
		t.Fatalf("%s: the tail %q is not that of the whole", name, tail)
	}
	if got := utf8.RuneCountInString(head) + utf8.RuneCountInString(tail) + chars; got != ofChars && got-1 != ofChars || ofChars != utf8.RuneCountInString(clean) {
		t.Fatalf("%s: head and tail with the %d missing are %d of %d characters", name, chars, got, utf8.RuneCountInString(clean))
	}
	if ofLines != int(countLines(clean)) || lines < 1 || lines > ofLines {
		t.Fatalf("%s: %d of %d lines are missing; there are %d", name, lines, ofLines, countLines(clean))
	}
}

func FuzzView(f *testing.F) {
	f.Add("a\nb", uint16(100), uint8(200))
	f.Add("\xff\xc3é\n", uint16(2000), uint8(0))
	f.Fuzz(func(t *testing.T, seed string, times uint16, lines uint8) {
		if strings.Contains(seed, "…") {
			t.Skip("it may look like a mark")
		}
		checkView(t, "fuzz", strings.Repeat(seed, int(times)%2000), output.Options{Chars: 1000, Lines: 10 + int(lines)})
	})
}
