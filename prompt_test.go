package toolpost_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
)

type letter struct {
	To   string `json:"to" desc:"Who gets it."`
	Tone string `json:"tone,omitempty" enum:"kind,cold" default:"kind"`
}

// run returns the JSON of what a handler returns.
func run(t *testing.T, h toolpost.Handler, call *toolpost.Call) string {
	t.Helper()
	r, err := h(t.Context(), call)
	if err != nil {
		return "error: " + err.Error()
	}
	raw, err := r.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestNewPrompt(t *testing.T) {
	p := toolpost.NewPrompt("letter", func(ctx context.Context, in letter) (string, error) {
		return toolpost.CallFrom(ctx).Name + ": " + in.Tone + " letter to " + in.To, nil
	}, &toolpost.FeatureOptions{Title: "Letter", Description: "Writes a letter."})
	want := `{"name":"letter","title":"Letter","description":"Writes a letter.","arguments":[{"name":"to","description":"Who gets it.","required":true},{"name":"tone"}]}`
	if string(p.Definition) != want || p.Name != "letter" || p.Complete != nil {
		t.Errorf("got  %s\nwant %s", p.Definition, want)
	}
	want = `{"description":"Writes a letter.","messages":[{"role":"user","content":{"type":"text","text":"x_letter: kind letter to Ada"}}]}`
	if got := run(t, p.Get, &toolpost.Call{Name: "x_letter", Arguments: []byte(`{"to":"Ada"}`)}); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, arguments := range []string{``, `{}`, `{"to":1}`, `{"to":"Ada","tone":"rude"}`, `{"to":"Ada","form":"long"}`} {
		_, err := p.Get(t.Context(), &toolpost.Call{Name: "letter", Arguments: []byte(arguments)})
		if fault, ok := errors.AsType[*toolpost.ProtocolError](err); !ok || fault.Code != -32602 || !strings.Contains(fault.Message, "the prompt letter") {
			t.Errorf("%s: %v", arguments, err)
		}
	}
}

// What a function may return for a prompt, and what clients get of it.
func TestPromptMessages(t *testing.T) {
	text := toolpost.Part{Type: "text", Text: "a"}
	for _, tt := range []struct {
		name     string
		messages []toolpost.PromptMessage
		want     string
	}{
		{"none", nil, `{"messages":[]}`},
		{"text without a type", []toolpost.PromptMessage{{Content: toolpost.Part{Text: "a"}}}, `{"messages":[{"role":"user","content":{"type":"text","text":"a"}}]}`},
		{"both sides", []toolpost.PromptMessage{{Role: "assistant", Content: text}, {Role: "user", Content: toolpost.Part{Type: "image", Data: []byte{1}, MIMEType: "image/png"}}},
			`{"messages":[{"role":"assistant","content":{"type":"text","text":"a"}},{"role":"user","content":{"type":"image","data":"AQ==","mimeType":"image/png"}}]}`},
		{"another role", []toolpost.PromptMessage{{Role: "system", Content: text}}, `error: message 1 of the prompt has the role "system"; use user or assistant`},
		{"not JSON", []toolpost.PromptMessage{{Content: toolpost.Part{Raw: []byte(`{`)}}}, "error: "},
	} {
		p := toolpost.NewPrompt("p", func(context.Context, struct{}) ([]toolpost.PromptMessage, error) { return tt.messages, nil }, nil)
		if got := run(t, p.Get, &toolpost.Call{}); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
	parts := toolpost.NewPrompt("p", func(context.Context, struct{}) ([]toolpost.Part, error) { return []toolpost.Part{text, text}, nil }, nil)
	if got := run(t, parts.Get, &toolpost.Call{}); strings.Count(got, `"role":"user"`) != 2 {
		t.Errorf("parts: %s", got)
	}
	failing := toolpost.NewPrompt("p", func(context.Context, struct{}) (string, error) { return "", errors.New("no letters today") }, nil)
	if got := run(t, failing.Get, &toolpost.Call{}); got != "error: no letters today" {
		t.Error(got)
	}
}

func TestCompleter(t *testing.T) {
	var asked []string
	complete := func(_ context.Context, argument, typed string, others map[string]string) ([]string, error) {
		asked = append(asked, argument, typed, others["to"])
		if typed == "long" {
			return slices.Repeat([]string{"x"}, 101), nil
		}
		return nil, nil
	}
	p := toolpost.NewPrompt("p", func(context.Context, letter) (string, error) { return "", nil }, &toolpost.FeatureOptions{Complete: complete})
	call := &toolpost.Call{Arguments: json.RawMessage(`{"ref":{},"argument":{"name":"tone","value":"k"},"context":{"arguments":{"to":"Ada"}}}`)}
	if got, want := run(t, p.Complete, call), `{"completion":{"values":[],"total":0,"hasMore":false}}`; got != want || !slices.Equal(asked, []string{"tone", "k", "Ada"}) {
		t.Errorf("got %s, asked %q", got, asked)
	}
	call = &toolpost.Call{Arguments: json.RawMessage(`{"argument":{"name":"tone","value":"long"}}`)}
	if got := run(t, p.Complete, call); strings.Count(got, `"x"`) != 100 || !strings.Contains(got, `"total":101,"hasMore":true`) {
		t.Error(got)
	}
}

func TestNewResource(t *testing.T) {
	r := toolpost.NewResource("note://{id}", "note", func(_ context.Context, uri string) (string, error) {
		if uri == "note://none" {
			return "", toolpost.ErrNotFound
		}
		return "at " + uri, nil
	}, &toolpost.FeatureOptions{Title: "Note", Description: "One note.", MIMEType: "text/markdown"})
	want := `{"uriTemplate":"note://{id}","name":"note","title":"Note","description":"One note.","mimeType":"text/markdown"}`
	if !r.Template || string(r.Definition) != want {
		t.Errorf("got  %s\nwant %s", r.Definition, want)
	}
	want = `{"contents":[{"uri":"note://1","mimeType":"text/markdown","text":"at note://1"}]}`
	if got := run(t, r.Read, &toolpost.Call{Name: "note://1"}); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if _, err := r.Read(t.Context(), &toolpost.Call{Name: "note://none"}); !errors.Is(err, toolpost.ErrNotFound) {
		t.Error(err)
	}
	unnamed := toolpost.NewResource("file:///README", "", func(context.Context, string) ([]byte, error) { return nil, nil }, nil)
	if want := `{"uri":"file:///README","name":"file:///README"}`; string(unnamed.Definition) != want || unnamed.Template {
		t.Errorf("got %s, want %s", unnamed.Definition, want)
	}
	if got, want := run(t, unnamed.Read, &toolpost.Call{Name: "file:///README"}), `{"contents":[{"uri":"file:///README","blob":""}]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestResourceParts(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		part       toolpost.Part
	}{
		{"text", `{"contents":[{"uri":"x:1","text":"a"}]}`, toolpost.Part{Text: "a"}},
		{"empty", `{"contents":[{"uri":"x:1","text":""}]}`, toolpost.Part{}},
		{"data", `{"contents":[{"uri":"x:1","mimeType":"image/png","blob":"AQ=="}]}`, toolpost.Part{Data: []byte{1}, MIMEType: "image/png"}},
		{"empty image", `{"contents":[{"uri":"x:1","blob":""}]}`, toolpost.Part{Type: "image"}},
		{"resource", `{"contents":[{"uri":"x:2","text":"a"}]}`, toolpost.Part{Type: "resource", URI: "x:2", Text: "a"}},
		{"link", `error: content 1 of the resource is a link; return what is at "x:2"`, toolpost.Part{Type: "resource_link", URI: "x:2"}},
		{"both", `error: content 1 of the resource has a text and data; return two parts`, toolpost.Part{Text: "a", Data: []byte{1}}},
	} {
		r := toolpost.NewResource("x:1", "x", func(context.Context, string) ([]toolpost.Part, error) { return []toolpost.Part{tt.part}, nil }, nil)
		if got := run(t, r.Read, &toolpost.Call{Name: "x:1"}); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestPanicsOfNewPromptAndNewResource(t *testing.T) {
	read := func(context.Context, string) (string, error) { return "", nil }
	for name, make := range map[string]func(){
		"no name": func() {
			toolpost.NewPrompt("", func(context.Context, letter) (string, error) { return "", nil }, nil)
		},
		"not a text": func() {
			toolpost.NewPrompt("p", func(context.Context, struct{ N int }) (string, error) { return "", nil }, nil)
		},
		"not a struct": func() {
			toolpost.NewPrompt("p", func(context.Context, string) (string, error) { return "", nil }, nil)
		},
		"no URI":     func() { toolpost.NewResource("", "x", read, nil) },
		"no scheme":  func() { toolpost.NewResource("/etc/hosts", "x", read, nil) },
		"bad scheme": func() { toolpost.NewResource("1x:y", "x", read, nil) },
		"long":       func() { toolpost.NewResource("x:"+strings.Repeat("{a}", 65), "x", read, nil) },
	} {
		func() {
			defer func() {
				if p, _ := recover().(string); !strings.HasPrefix(p, "toolpost.New") {
					t.Errorf("%s: %v", name, p)
				}
			}()
			make()
		}()
	}
}
