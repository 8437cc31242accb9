package audit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/audit"
	"github.com/toolpost/toolpost/observe"
)

func Example() {
	dir, err := os.MkdirTemp("", "audit")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	log, err := audit.Open(dir, &audit.Options{Level: audit.LevelArgs})
	if err != nil {
		fmt.Println(err)
		return
	}
	type numbers struct{ A, B int }
	add := toolpost.New("add", "Adds two numbers.", func(_ context.Context, n numbers) (int, error) { return n.A + n.B, nil }, nil)
	// A server records the calls of its clients with the option Observe of mcpserver.
	recorded := observe.Observer(log.Observe).Calls(observe.Client{Name: "example"})
	set, err := toolpost.NewSet(context.Background(), toolpost.Wrap(toolpost.Tools{add}, recorded))
	if err != nil {
		fmt.Println(err)
		return
	}
	sum, err := set.CallText(context.Background(), "add", numbers{2, 3})
	fmt.Println(sum, err, log.Close())

	files, _ := filepath.Glob(filepath.Join(dir, "audit-*.jsonl"))
	line, err := os.ReadFile(files[0])
	var record struct {
		Tool, Outcome string
		Args          json.RawMessage
	}
	fmt.Println(json.Unmarshal(line, &record), err)
	fmt.Println(record.Tool, string(record.Args), record.Outcome)
	// Output:
	// 5 <nil> <nil>
	// <nil> <nil>
	// add {"A":2,"B":3} ok
}
