package terminal

import (
	"context"
	"errors"
	"os"

	"golang.org/x/term"
)

// ReadSecret reads a line from a terminal that does not show what is typed. When
// ctx ends, the terminal is as it was before.
func ReadSecret(ctx context.Context, in any) ([]byte, error) {
	f, ok := in.(*os.File)
	if !ok {
		return nil, errors.New("the input is not a terminal")
	}
	before, err := term.GetState(int(f.Fd()))
	if err != nil {
		return nil, err
	}
	type answer struct {
		text []byte
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		text, err := term.ReadPassword(int(f.Fd()))
		answers <- answer{text, err}
	}()
	select {
	case a := <-answers:
		return a.text, a.err
	case <-ctx.Done():
		return nil, errors.Join(context.Cause(ctx), term.Restore(int(f.Fd()), before))
	}
}
