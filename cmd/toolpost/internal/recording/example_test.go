package recording_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/recording"
)

func Example() {
	const file = `{"kind":"recording","v":1,"ts":"2026-11-24T00:00:00Z"}
{"kind":"catalogue","tools":[{"name":"time","inputSchema":{"type":"object"}}]}
{"kind":"call","method":"tools/call","name":"time","args":{"zone":"UTC"},"result":{"content":[{"type":"text","text":"noon"}]}}
`
	rec, err := recording.Read(strings.NewReader(file))
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := recording.NewPlayer(rec)
	if err != nil {
		fmt.Println(err)
		return
	}
	set, err := toolpost.NewSet(context.Background(), p)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(set.CallText(context.Background(), "time", map[string]string{"zone": "UTC"}))
	// Output: noon <nil>
}
