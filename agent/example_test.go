package agent_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/agent"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/tooltest"
)

func ExampleAgent_Do() {
	weather := toolpost.New("weather", "Returns the weather of a city.",
		func(_ context.Context, in struct{ City string }) (string, error) { return "Sunny in " + in.City, nil }, nil)

	// In a program: anthropic.New, openai.New, gemini.New or claudecli.New.
	m := tooltest.NewModel(nil, tooltest.Turn{Tool: "weather", Arguments: `{"City":"Oslo"}`}, tooltest.Turn{Text: "It is sunny."})

	a := agent.New(m, toolpost.Tools{weather}, &agent.Options{System: "Be brief.", Limits: agent.Limits{Turns: 10}})
	result, err := a.Do(context.Background(), agent.NewSession(), model.Text("How is the weather in Oslo?"))
	if err != nil {
		panic(err)
	}
	fmt.Println(result.Text, result.Turns, "turns,", result.Usage.Calls, "call")
	// Output: It is sunny. 2 turns, 1 call
}

// Run yields what happens: pieces of the answer, calls and their results, the end.
func ExampleAgent_Run() {
	weather := toolpost.New("weather", "Returns the weather of a city.",
		func(_ context.Context, in struct{ City string }) (string, error) { return "Sunny in " + in.City, nil }, nil)
	m := tooltest.NewModel(nil, tooltest.Turn{Tool: "weather", Arguments: `{"City":"Oslo"}`}, tooltest.Turn{Text: "It is sunny."})

	a := agent.New(m, toolpost.Tools{weather}, nil)
	for e, err := range a.Run(context.Background(), agent.NewSession(), model.Text("How is the weather in Oslo?")) {
		if err != nil {
			panic(err)
		}
		switch e.Type {
		case agent.EventDelta:
			if e.Delta.Type == model.TypeText {
				fmt.Print(e.Delta.Text)
			}
		case agent.EventCall:
			fmt.Printf("%s %s\n", e.Call.Name, e.Call.Arguments)
		case agent.EventResult:
			fmt.Println(e.Result.Text)
		case agent.EventEnd:
			fmt.Printf("\n%s after %d turns\n", e.End.Stop, e.End.Turns)
		}
	}
	// Output:
	// weather {"City":"Oslo"}
	// Sunny in Oslo
	// It is sunny.
	// answer after 2 turns
}

// A call waits for a person, who may decide in another process: the session is a file.
func ExampleSession_Decide() {
	remove := toolpost.New("remove", "Removes a file.",
		func(_ context.Context, in struct{ Path string }) (string, error) { return "removed " + in.Path, nil }, nil)
	m := tooltest.NewModel(nil, tooltest.Turn{Tool: "remove", Arguments: `{"Path":"a.txt"}`}, tooltest.Turn{Text: "The file is gone."})
	dir, err := os.MkdirTemp("", "agent")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	session, err := agent.OpenSession(filepath.Join(dir, "task.jsonl"))
	if err != nil {
		panic(err)
	}
	defer session.Close()

	ctx := context.Background()
	a := agent.New(m, toolpost.Tools{remove}, &agent.Options{
		Approve: func(context.Context, *agent.Request) (agent.Decision, error) {
			return agent.Decision{Wait: true}, nil
		},
	})
	_, err = a.Do(ctx, session, model.Text("Remove a.txt."))
	var stopped *agent.StopError // the run ended without an answer
	if !errors.As(err, &stopped) {
		panic(err)
	}
	for _, call := range stopped.Result.Waiting {
		fmt.Printf("%s: may %s run with %s?\n", stopped.Result.Stop, call.Name, call.Arguments)
		if err := session.Decide(agent.Decision{Allow: true, Binding: call.Binding}); err != nil {
			panic(err)
		}
	}
	result, err := a.Do(ctx, session) // goes on where the run waits
	if err != nil {
		panic(err)
	}
	fmt.Println(result.Text)
	// Output:
	// approval: may remove run with {"Path":"a.txt"}?
	// The file is gone.
}

// An answer that is a Go value.
func ExampleDoAs() {
	m := tooltest.NewModel(nil, tooltest.Turn{Text: `{"Good":true,"Why":"It is short."}`})
	answer, _, err := agent.DoAs[struct {
		Good bool
		Why  string
	}](context.Background(), agent.New(m, nil, nil), agent.NewSession(), model.Text("Is Toolpost a good name?"))
	if err != nil {
		panic(err)
	}
	fmt.Println(answer.Good, answer.Why)
	// Output: true It is short.
}
