package longjson_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost/internal/longjson"
)

// scanned returns the result of a message, and its long strings.
func scanned(t *testing.T, message string) (*longjson.Object, []longjson.Replacement) {
	t.Helper()
	var s longjson.Scanner
	spool := longjson.NewSpool("", new(longjson.Buffers))
	if err := spool.Add([]byte(message), 1<<30); err != nil {
		t.Fatal(err)
	}
	if _, _ = s.Write([]byte(message)); !s.Done() {
		t.Fatalf("%.100s is no result", message)
	}
	var all []longjson.Replacement
	for _, long := range s.Strings.All {
		all = append(all, longjson.Replacement{Span: longjson.Span{From: long.From - s.Result.From, To: long.To - s.Result.From}})
	}
	return longjson.NewObject(spool, &s), all
}

// An object with other strings is what a scan finds in its bytes.
func TestReplace(t *testing.T) {
	long := strings.Repeat("a line\\n", 10_000)
	for _, result := range []string{
		`{"content":[{"type":"text","text":"%s"}]}`,
		`{"_meta":{"a":1},"content":[{"type":"text","text":"%s"},{"type":"resource_link","uri":"file:///a"}],"isError":false}`,
		`{ "content" : [ {"text":"%s","type":"text"} , {"type":"text","text":"%[1]s"} ] , "uri" : "x:y" }`,
		`{"content":[{"type":"resource","resource":{"uri":"file:///b","text":"%s"}},{"type":"resource","resource":{"text":"%[1]s","uri":"file:///c"}}]}`,
	} {
		for _, text := range []string{"", "short", "\"\\\n\u2028é\x00", strings.Repeat("other", 40_000)} {
			const before, after = ` {"jsonrpc":"2.0","id":1,"result":`, `} `
			o, all := scanned(t, before+fmt.Sprintf(result, long)+after)
			for i := range all {
				all[i].Text = text
			}
			if err := o.Replace(all); err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			if err := o.Copy(&got, longjson.Span{To: o.Size()}); err != nil || !o.InMemory() {
				t.Fatal(err)
			}
			loaded, err := o.Load()
			if err != nil || !bytes.Equal(loaded, got.Bytes()) {
				t.Fatalf("copied and loaded differ, error %v", err)
			}
			want, strs := scanned(t, before+got.String()+after)
			if diff := cmp.Diff(want.Members, o.Members) + cmp.Diff(spans(want.URIs), spans(o.URIs)); diff != "" || want.Size() != o.Size() {
				t.Errorf("%.60s with %.10q: %s", result, text, diff)
			}
			if n := strings.Count(result, "%"); len(all) != n || len(text) > 1<<16 && len(strs) != n || strings.Contains(got.String(), "a line") {
				t.Errorf("%.60s with %.10q: %d strings are replaced", result, text, len(all))
			}
		}
	}
}

func spans(uris []longjson.URI) (all []string) {
	for _, u := range uris {
		all = append(all, fmt.Sprint(u.Text, u.Span))
	}
	return slices.Clip(all)
}
