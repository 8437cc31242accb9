// Command model is what a user of one provider may write, to be weighed.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/toolpost/toolpost/agent"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/anthropic"
)

func main() {
	a := agent.New(anthropic.New("claude-sonnet-5-5", nil), nil, nil)
	result, err := a.Do(context.Background(), agent.NewSession(), model.Text("Hello"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	fmt.Println(result.Text)
}
