package claudetest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/claude"
	"github.com/toolpost/toolpost/claude/claudetest"
)

type terms struct {
	A float64 `json:"a"`
	B float64 `json:"b"`
}

// A test of a tool that Claude calls, without Claude.
func Example() {
	t := &testing.T{} // that of the test
	add := toolpost.New("add", "Adds two numbers.", func(_ context.Context, in terms) (float64, error) {
		fmt.Println("add is called with", in.A, "and", in.B)
		return in.A + in.B, nil
	}, nil)
	calc, err := claude.NewServer(context.Background(), "calc", toolpost.Tools{add}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	response, err := claude.Collect(claude.Run(context.Background(), "What is 2 + 3?", &claude.Options{
		Servers: []*claude.Server{calc},
		Start:   claudetest.Replay(t, claudetest.Recordings, "recordings/tool.jsonl"),
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(response.Result)
	// Output:
	// add is called with 2 and 3
	// It is 5.
}
