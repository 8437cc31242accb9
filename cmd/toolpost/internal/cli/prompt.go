package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
)

// A Prompter asks the user a question, if there is a user at a terminal.
type Prompter struct {
	in       *bufio.Reader
	Out      io.Writer
	Terminal bool // both are a terminal
}

// NewPrompter returns a prompter for the terminal of a command.
func NewPrompter(cmd *cobra.Command) *Prompter {
	in, out := cmd.InOrStdin(), cmd.ErrOrStderr()
	return &Prompter{in: bufio.NewReader(in), Out: out, Terminal: terminal.Is(in) && terminal.Is(out)}
}

// Ask asks a question; only y and yes mean yes. It returns when ctx is done.
func (p *Prompter) Ask(ctx context.Context, question string) (bool, error) {
	answer, err := p.Line(ctx, question+" [y/N] ")
	answer = strings.ToLower(answer)
	return answer == "y" || answer == "yes", err
}

// AskYes is [Prompter.Ask] with yes as the answer of an empty line.
func (p *Prompter) AskYes(ctx context.Context, question string) (bool, error) {
	answer, err := p.read(ctx, question+" [Y/n] ")
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return true, err
	case "":
		return strings.HasSuffix(answer, "\n"), err // the end of the input means no
	}
	return false, err
}

// Line asks a question and returns the line that the user types, without the
// space around it.
func (p *Prompter) Line(ctx context.Context, question string) (string, error) {
	answer, err := p.read(ctx, question)
	return strings.TrimSpace(answer), err
}

// read asks a question and returns the line that the user types, with its end.
func (p *Prompter) read(ctx context.Context, question string) (string, error) {
	fmt.Fprintf(p.Out, "\n%s", question)
	answers := make(chan string, 1)
	go func() {
		answer, _ := p.in.ReadString('\n') // the end of the input means no
		answers <- answer
	}()
	select {
	case answer := <-answers:
		return answer, nil
	case <-ctx.Done():
		fmt.Fprintln(p.Out)
		return "", context.Cause(ctx)
	}
}
