package claude

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
)

func raw(s string) *toolpost.Result { return toolpost.RawResult(json.RawMessage(s)) }

func TestResultsReachTheModelWhole(t *testing.T) {
	object, err := toolpost.JSONResult(map[string]int{"n": 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		r    *toolpost.Result
		err  error
		want string
	}{
		{"text", toolpost.TextResult("hi"), nil, `{"content":[{"type":"text","text":"hi"}]}`},
		{"exact bytes", raw(`{ "content":[{"type":"text","text":"hi","x":1}]}`), nil, `{ "content":[{"type":"text","text":"hi","x":1}]}`},
		{"JSON", object, nil, `{"content":[{"type":"text","text":"{\"n\":1}"}]}`},
		{"text and structured", raw(`{"content":[{"type":"text","text":"<b>"}],"structuredContent":{"n":1},"_meta":{"m":2}}`), nil, `{"content":[{"type":"text","text":"<b>"}],"_meta":{"m":2}}`},
		{"structured only", raw(`{"content":[],"structuredContent":{"n":12345678901234567890}}`), nil, `{"content":[{"type":"text","text":"{\"n\":12345678901234567890}"}]}`},
		{"structured and image", raw(`{"content":[{"type":"image","data":"AAAA","mimeType":"image/png"}],"structuredContent":{"n":1}}`), nil, `{"content":[{"type":"image","data":"AAAA","mimeType":"image/png"},{"type":"text","text":"{\"n\":1}"}]}`},
		{"structured error", raw(`{"content":[],"structuredContent":{"n":1},"isError":true}`), nil, `{"content":[{"type":"text","text":"{\"n\":1}"}],"isError":true}`},
		{"image", raw(`{"content":[{"type":"image","data":"AAAA","mimeType":"image/png"}]}`), nil, `{"content":[{"type":"image","data":"AAAA","mimeType":"image/png"}]}`},
		{"error with an image", raw(`{"content":[{"type":"image","data":"AAAA","mimeType":"image/png"}],"isError":true}`), nil, `{"content":[{"type":"image","data":"AAAA","mimeType":"image/png"},{"type":"text","text":"` + unexplained + `"}],"isError":true}`},
		{"nothing", nil, nil, `{"content":[{"type":"text","text":"(no output)"}]}`},
		{"no text", toolpost.TextResult(""), nil, `{"content":[{"type":"text","text":"(no output)"}]}`},
		{"empty error", raw(`{"content":[],"isError":true}`), nil, `{"content":[{"type":"text","text":"` + unexplained + `"}],"isError":true}`},
		{"silent error", nil, errors.New(""), `{"content":[{"type":"text","text":"` + unexplained + `"}],"isError":true}`},
		{"error", nil, errors.New("no"), `{"content":[{"type":"text","text":"no"}],"isError":true}`},
		{"unknown block", raw(`{"content":[{"type":"hologram","n":1}]}`), nil, `{"content":[{"type":"text","text":"{\"type\":\"hologram\",\"n\":1}"}]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			tool := rawTool("x", `{"type":"object"}`, func(context.Context, *toolpost.Call) (*toolpost.Result, error) { return c.r, c.err })
			set, err := toolpost.NewSet(t.Context(), toolpost.Map(toolpost.Tools{tool}, presenter(false)))
			if err != nil {
				t.Fatal(err)
			}
			r, err := set.Call(t.Context(), &toolpost.Call{Name: "x"})
			if err != nil {
				t.Fatal(err)
			}
			got, err := r.MarshalJSON()
			if err != nil || string(got) != c.want {
				t.Errorf("%s, %v\nwant %s", got, err, c.want)
			}
		})
	}
}

func TestRewrittenResultKeepsNotesAndReference(t *testing.T) {
	r, err := plain(raw(`{"content":[],"structuredContent":{}}`).WithNotes("repaired").WithOutputRef("ref1"))
	if err != nil || r.OutputRef() != "ref1" || len(r.Notes()) != 1 {
		t.Errorf("%v %q %q", err, r.OutputRef(), r.Notes())
	}
}

// What costs the CLI's reader the whole server is left out of definitions.
func TestDefinitionsAreBare(t *testing.T) {
	tool := addTool()
	tool.Title = "Add"
	tool.Output = tool.Input
	tool.Meta = json.RawMessage(`{"own":1}`)
	tool.Policy.MaxOutput = 300000
	tool.Raw = json.RawMessage(`{"name":"add","icons":"none","execution":[],"annotations":{"readOnlyHint":"yes"}}`)
	yes := true
	tool.Annotations.ReadOnly = &yes
	for deferred, meta := range map[bool]string{
		false: `"_meta":{"own":1,"anthropic/alwaysLoad":true,"anthropic/maxResultSizeChars":300000}`,
		true:  `"_meta":{"own":1,"anthropic/maxResultSizeChars":300000}`,
	} {
		s, err := NewServer(t.Context(), "", toolpost.Tools{tool}, &ServerOptions{Deferred: deferred})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		c := newFakeCLI(t, t.Context(), &Options{Servers: []*Server{s}})
		c.open("tools")
		list := c.ask("tools", listLine)
		if !strings.Contains(list, meta) || !strings.Contains(list, `"annotations":{"readOnlyHint":true}`) {
			t.Errorf("list %s lacks %s", list, meta)
		}
		for _, not := range []string{"icons", "execution", "outputSchema"} {
			if strings.Contains(list, not) {
				t.Errorf("list %s has %s", list, not)
			}
		}
	}
}

func TestMetaOfATool(t *testing.T) {
	for _, c := range []struct {
		own      string
		deferred bool
		want     string
	}{
		{``, false, `{"anthropic/alwaysLoad":true}`},
		{``, true, ``},
		{`[]`, false, `{"anthropic/alwaysLoad":true}`},
		{`null`, false, `{"anthropic/alwaysLoad":true}`},
		{`{"anthropic/alwaysLoad":false}`, false, `{"anthropic/alwaysLoad":false}`},
	} {
		tool := &toolpost.Tool{Definition: toolpost.Definition{Meta: json.RawMessage(c.own)}}
		if got := string(about(tool, c.deferred)); got != c.want {
			t.Errorf("%s: %s, want %s", c.own, got, c.want)
		}
	}
}
