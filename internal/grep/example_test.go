package grep_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/toolpost/toolpost/internal/grep"
)

func ExampleCompile() {
	p, err := grep.Compile(`retry \d+`, &grep.Options{IgnoreCase: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	log := strings.NewReader("start\nsent\nRetry 1\nsent\nstop\n")
	r, err := p.File(ctx, log, log.Size(), &grep.Limits{Before: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, l := range r.Lines {
		fmt.Println(l.Number, l.Text, l.Match)
	}
	fmt.Println(r.Matches, "of", r.Read, "bytes")
	// Output:
	// 2 sent false
	// 3 Retry 1 true
	// 1 of 29 bytes
}
