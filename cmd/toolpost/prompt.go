package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/internal/terminal"
)

// A prompter asks the user a question, if there is a user at a terminal.
type prompter struct {
	in       *bufio.Reader
	out      io.Writer
	terminal bool // both are a terminal
}

func newPrompter(cmd *cobra.Command) *prompter {
	in, out := cmd.InOrStdin(), cmd.ErrOrStderr()
	return &prompter{in: bufio.NewReader(in), out: out, terminal: terminal.Is(in) && terminal.Is(out)}
}

// ask asks a question; only y and yes mean yes. It returns when ctx is done.
func (p *prompter) ask(ctx context.Context, question string) (bool, error) {
	answer, err := p.line(ctx, question+" [y/N] ")
	answer = strings.ToLower(answer)
	return answer == "y" || answer == "yes", err
}

// line asks a question and returns the line that the user types, without the
// space around it.
func (p *prompter) line(ctx context.Context, question string) (string, error) {
	fmt.Fprintf(p.out, "\n%s", question)
	answers := make(chan string, 1)
	go func() {
		answer, _ := p.in.ReadString('\n') // the end of the input means no
		answers <- answer
	}()
	select {
	case answer := <-answers:
		return strings.TrimSpace(answer), nil
	case <-ctx.Done():
		fmt.Fprintln(p.out)
		return "", context.Cause(ctx)
	}
}
