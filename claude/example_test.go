package claude_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/claude"
	"github.com/toolpost/toolpost/claude/message"
)

// Claude answers with a tool of this program. It needs the CLI.
func ExampleDo() {
	weather := toolpost.New("weather", "Returns the weather of a city.",
		func(_ context.Context, in struct{ City string }) (string, error) { return "Sunny in " + in.City, nil }, nil)

	response, err := claude.Do(context.Background(), "What is the weather in Oslo?", &claude.Options{
		Toolset: toolpost.Tools{weather},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(response.Result)
	fmt.Printf("%d turns, $%.4f\n", response.NumTurns, response.TotalCostUSD)
}

// Messages as they come.
func ExampleRun() {
	for m, err := range claude.Run(context.Background(), "Tell me a story.", &claude.Options{PartialMessages: true}) {
		if err != nil {
			log.Fatal(err)
		}
		switch m := m.(type) {
		case *message.StreamEvent:
			fmt.Print(m.Delta.Text)
		case *message.Result:
			fmt.Printf("\n%d turns, $%.4f\n", m.NumTurns, m.TotalCostUSD)
		}
	}
}

// An answer that is a Go value.
func ExampleDoAs() {
	type verdict struct {
		Good bool   `json:"good"`
		Why  string `json:"why" desc:"One sentence."`
	}
	v, _, err := claude.DoAs[verdict](context.Background(), "Is Toolpost a good name?", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(v.Good, v.Why)
}

// A conversation; what may run, and what is written down.
func ExampleOpen() {
	ctx := context.Background()
	session, err := claude.Open(ctx, &claude.Options{
		Permission: func(_ context.Context, r *claude.PermissionRequest) (*claude.Decision, error) {
			if r.ToolName == "Bash" && strings.Contains(string(r.Input), "rm ") {
				return &claude.Decision{Message: "Nothing is deleted here."}, nil
			}
			return &claude.Decision{Allow: true}, nil
		},
		Hooks: []claude.Hook{{
			Event:   claude.PreToolUse,
			Matcher: "Write|Edit",
			Handle: func(_ context.Context, in *claude.HookInput) (*claude.HookOutput, error) {
				log.Printf("%s %s", in.ToolName, in.ToolInput)
				return nil, nil // nothing to say
			},
		}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	for _, prompt := range []string{"Which files are here?", "Which one is the largest?"} {
		response, err := claude.Collect(session.Turn(ctx, prompt))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(response.Result)
	}
}

func ExampleCommand_Find() {
	_, err := (&claude.Command{Path: "/nowhere/claude"}).Find()
	var missing *claude.NotFoundError
	fmt.Println(errors.As(err, &missing))
	// Output: true
}
