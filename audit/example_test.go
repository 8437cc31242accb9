package audit_test

import (
	"fmt"
	"os"
	"time"

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
	log, err := audit.Open(dir, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	// A gateway passes log.Observe to mcpserver and log.Around to package gateway.
	err = log.Append(&audit.Record{ID: "1", Time: time.Now(), Method: "tools/call", Tool: "files__read", Outcome: observe.OK}, false)
	if err != nil {
		fmt.Println(err)
	}
	calls, _, err := audit.Calls(dir, &audit.Filter{Tool: "files__*"})
	for _, c := range calls {
		fmt.Println(c.Seq, c.Tool, c.Outcome, err)
	}
	fmt.Println(log.Close())
	// Output:
	// 1 files__read ok <nil>
	// <nil>
}
