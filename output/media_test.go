package output_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/output"
	"github.com/toolpost/toolpost/store"
)

// TestContextTrimsMedia has images replaced by references, and sees them again.
func TestContextTrimsMedia(t *testing.T) {
	cache := output.New(store.Memory(nil), nil)
	picture := toolpost.Part{Type: "image", Data: []byte{1, 2, 3}, MIMEType: "image/png"}
	alone := toolpost.NewResult(picture).Message("a")
	captioned := toolpost.NewResult(toolpost.Part{Type: "text", Text: "caption"}, picture).Message("b")
	newest := toolpost.NewResult(picture).Message("c")
	x := &output.Trimmer{Cache: cache, Session: "me", Max: 3500, Keep: 2000, Least: 100}
	messages := []*toolpost.ToolMessage{alone, captioned, newest}
	got := x.Trim(t.Context(), messages)
	if got[2] != newest || len(got[0].Parts) != 1 || len(got[1].Parts) != 2 {
		t.Fatalf("%+v", got)
	}
	if again := x.Trim(t.Context(), got); again[0] != got[0] || again[1] != got[1] {
		t.Error("what is trimmed is trimmed again")
	}
	text := got[0].Parts[0].Text
	_, rest, _ := strings.Cut(text, `{"ref_id":"`)
	ref, _, _ := strings.Cut(rest, `"`)

	set, err := toolpost.NewSet(t.Context(), cache.Tools())
	if err != nil {
		t.Fatal(err)
	}
	read := func(name, session, ref string) *toolpost.Result {
		args, _ := json.Marshal(map[string]string{"ref_id": ref})
		if name == "tool_output_cache_grep" {
			args, _ = json.Marshal(map[string]string{"ref_id": ref, "pattern": "x"})
		}
		r, err := set.Call(t.Context(), &toolpost.Call{Name: name, Arguments: args, Session: session})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if parts := read("tool_output_cache", "me", ref).Parts(); len(parts) != 1 || parts[0].Type != "image" || string(parts[0].Data) != "\x01\x02\x03" {
		t.Errorf("%q is read as %+v", text, parts)
	}
	for _, r := range []*toolpost.Result{
		read("tool_output_cache", "somebody else", ref),
		read("tool_output_cache", "me", "media-aaaaaaaaaaaaaaaa"),
		read("tool_output_cache", "me", strings.TrimPrefix(ref, "media-")),
		read("tool_output_cache", "me", "media-"+got[1].OutputRef), // a text does not pass for media
		read("tool_output_cache_grep", "me", ref),
	} {
		if !r.IsError() {
			t.Errorf("%+v is no error", r.Parts())
		}
	}
}
