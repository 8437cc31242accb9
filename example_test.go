package toolpost_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/toolpost/toolpost"
)

// The lines of the README.
func Example() {
	ctx := context.Background()

	type place struct{ City string }
	weather := toolpost.New("weather", "Returns the weather of a city.", func(ctx context.Context, in place) (string, error) {
		return "Sunny in " + in.City, nil
	}, nil)
	set, err := toolpost.NewSet(ctx, toolpost.Prefix(toolpost.Tools{weather}, "demo_"))
	if err != nil {
		panic(err)
	}
	text, err := set.CallText(ctx, "demo_weather", place{"Oslo"})

	fmt.Println(text, err)
	// Output: Sunny in Oslo <nil>
}

// Middleware runs around every call of every tool: here it writes an audit log.
func ExampleWrap() {
	ctx := context.Background()
	greet := toolpost.New("greet", "Greets.", func(_ context.Context, in struct {
		Name string `json:"name"`
	}) (string, error) {
		return "Hello, " + in.Name, nil
	}, nil)
	audited := toolpost.Wrap(toolpost.Tools{greet}, func(next toolpost.Handler) toolpost.Handler {
		return func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
			result, err := next(ctx, call)
			fmt.Println("called", call.Name, string(call.Arguments), err)
			return result, err
		}
	})
	set, err := toolpost.NewSet(ctx, audited)
	if err != nil {
		panic(err)
	}
	fmt.Println(set.CallText(ctx, "greet", map[string]string{"name": "Ada"}))
	// Output:
	// called greet {"name":"Ada"} <nil>
	// Hello, Ada <nil>
}

// A person answers the questions of tools; in a program this is a client of mcpserver, or
// the Caller of an agent.
type person struct{}

func (person) Notify(context.Context, string, json.RawMessage) error { return nil }

func (person) Request(_ context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	fmt.Println(method, string(params))
	return json.RawMessage(`{"action":"accept","content":{"folder":"archive"}}`), nil
}

// A tool asks the user for a value. The schema of an elicitation is flat: its properties are
// texts, numbers, booleans and choices.
func ExampleCall_Ask() {
	move := toolpost.New("move", "Moves a note.", func(ctx context.Context, _ struct{}) (string, error) {
		question := map[string]any{
			"message": "Where to?",
			"requestedSchema": map[string]any{
				"type":       "object",
				"properties": map[string]any{"folder": map[string]any{"type": "string"}},
			},
		}
		var answer struct {
			Action  string
			Content struct{ Folder string }
		}
		switch err := toolpost.CallFrom(ctx).Ask(ctx, "elicitation/create", question, &answer); {
		case errors.Is(err, toolpost.ErrNoCaller):
			return "", toolpost.Denied.Errorf("nobody can be asked where to move the note")
		case err != nil:
			return "", err
		case answer.Action != "accept":
			return "", toolpost.Denied.Errorf("the user does not want it")
		}
		return "moved to " + answer.Content.Folder, nil
	}, nil)

	set, err := toolpost.NewSet(context.Background(), toolpost.Tools{move})
	if err != nil {
		panic(err)
	}
	result, err := set.Call(context.Background(), &toolpost.Call{Name: "move", Caller: person{}})
	if err != nil {
		panic(err)
	}
	fmt.Println(result.FirstText())
	// Output:
	// elicitation/create {"message":"Where to?","requestedSchema":{"properties":{"folder":{"type":"string"}},"type":"object"}}
	// moved to archive true
}

// A Live holds the current list of a toolset that changes. Clients of an mcpserver
// are told of every change.
func ExampleLive() {
	ctx := context.Background()
	nothing := func(context.Context, struct{}) (string, error) { return "", nil }
	tools := toolpost.Tools{toolpost.New("first", "Does nothing.", nothing, nil)}
	source := toolpost.ToolsetFunc(func(context.Context) ([]*toolpost.Tool, error) { return tools, nil })
	live, err := toolpost.NewLive(ctx, toolpost.Prefix(source, "my_"))
	if err != nil {
		panic(err)
	}
	stop := live.Watch(func(toolpost.Event) {
		names := []string{}
		list, _ := live.Tools(ctx) // a Live has its tools already
		for _, t := range list {
			names = append(names, t.Name)
		}
		fmt.Println(names)
	})
	defer stop()
	tools = append(tools, toolpost.New("second", "Does nothing, too.", nothing, nil))
	if err := live.Refresh(ctx); err != nil {
		panic(err)
	}
	// Output:
	// [my_first my_second]
}

// A layer may change prompts and resources too: this one leaves out drafts.
func ExampleLayer() {
	all := &toolpost.Features{Prompts: []*toolpost.Prompt{{Name: "draft_letter"}, {Name: "letter"}}}
	layer := toolpost.Layer(all, nil, func(f *toolpost.Features) *toolpost.Features {
		finished := *f
		finished.Prompts = nil
		for _, p := range f.Prompts {
			if !strings.HasPrefix(p.Name, "draft_") {
				finished.Prompts = append(finished.Prompts, p)
			}
		}
		return &finished
	})
	fmt.Println(len(layer.Features().Prompts), layer.Features().Prompts[0].Name)
	// Output: 1 letter
}

// A toolbox is a toolset that reports its changes.
type toolbox struct {
	toolpost.Base
	tools []*toolpost.Tool
}

func (b *toolbox) Tools(context.Context) ([]*toolpost.Tool, error) { return b.tools, nil }

// A Live, and with it every server, follows the events of a toolset; one of your own embeds
// Base and reports them with Notify.
func ExampleBase() {
	box := &toolbox{}
	live, err := toolpost.NewLive(context.Background(), toolpost.Prefix(box, "my_"))
	if err != nil {
		panic(err)
	}
	defer live.Close()
	box.tools = append(box.tools, toolpost.New("hammer", "Hits.", func(context.Context, struct{}) (string, error) { return "", nil }, nil))
	box.Notify(toolpost.Event{})
	fmt.Println(live.Lookup("my_hammer").Description)
	// Output: Hits.
}

// Join makes one toolset of tools and prompts.
func ExampleJoin() {
	tool := toolpost.New("greet", "Greets.", func(context.Context, struct{}) (string, error) { return "Hello", nil }, nil)
	letter := toolpost.NewPrompt("letter", func(context.Context, struct{}) (string, error) { return "Write a letter.", nil }, nil)
	prompts := &toolpost.Features{Prompts: []*toolpost.Prompt{letter}}
	joined := toolpost.Prefix(toolpost.Join(toolpost.Tools{tool}, prompts), "my_")
	set, err := toolpost.NewSet(context.Background(), joined)
	if err != nil {
		panic(err)
	}
	fmt.Println(set.Lookup("my_greet").Name, set.Features().Prompts[0].Name)
	// Output: my_greet my_letter
}

// A client shows the prompt to its user, who fills in the arguments.
func ExampleNewPrompt() {
	type review struct {
		File string `json:"file" desc:"Path of the file."`
	}
	prompt := toolpost.NewPrompt("review", func(_ context.Context, in review) (string, error) {
		return "Read " + in.File + " and list its mistakes.", nil
	}, &toolpost.FeatureOptions{Description: "Reviews a file."})
	features := &toolpost.Features{Prompts: []*toolpost.Prompt{prompt}} // for mcpserver.New, or Join with tools

	result, err := features.Prompts[0].Get(context.Background(), &toolpost.Call{Name: "review", Arguments: []byte(`{"file":"a.go"}`)})
	if err != nil {
		panic(err)
	}
	raw, err := json.Marshal(result)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(raw))
	// Output: {"description":"Reviews a file.","messages":[{"role":"user","content":{"type":"text","text":"Read a.go and list its mistakes."}}]}
}

// A URI with braces is a template: the resource has all documents that match it.
func ExampleNewResource() {
	notes := map[string]string{"note://milk": "Buy milk."}
	note := toolpost.NewResource("note://{name}", "note", func(_ context.Context, uri string) (string, error) {
		text, found := notes[uri]
		if !found {
			return "", toolpost.ErrNotFound
		}
		return text, nil
	}, &toolpost.FeatureOptions{MIMEType: "text/plain"})

	result, err := note.Read(context.Background(), &toolpost.Call{Name: "note://milk"})
	if err != nil {
		panic(err)
	}
	raw, err := json.Marshal(result)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(raw))
	// Output: {"contents":[{"uri":"note://milk","mimeType":"text/plain","text":"Buy milk."}]}
}
