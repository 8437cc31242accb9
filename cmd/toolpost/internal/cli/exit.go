// Package cli has what the commands share: usage errors and exit codes, checks of
// arguments and flags, questions at the terminal, tables and JSON, interrupts.
package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/owner"
)

// The exit codes, documented by "toolpost help exit-codes".
const (
	ExitFailed      = 1
	ExitUsage       = 2
	ExitLimit       = 3
	ExitWaiting     = 4
	ExitRefused     = 5
	ExitInterrupted = 130
)

// ExitCodesTopic returns the help topic "exit-codes".
func ExitCodesTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "exit-codes",
		Short: "What the exit codes mean",
		Long: `Exit codes:
  0    done; for serve: stopped by a signal or by the end of its input
  1    a tool or a server failed, or no server could be reached; for lint:
       there is a finding at or above --fail-on; for check and doctor: there is
       an error, or with --strict a warning; for pins verify: a tool is not
       as it was pinned; for diff: they differ; for prices: a named model has no
       price; for claude summarize: the result is an error
  2    the command line or the configuration is wrong, the configuration is not
       approved, or there is no such tool; for claude summarize: the stream
       cannot be read, or the summary cannot be written
  3    run and chat: a limit is reached, or the answer is incomplete
  4    run and chat: calls wait for an approval, and there is no terminal
  5    run and chat: the model refused to answer
  130  interrupted`,
	}
}

// ErrShown sets the exit code of a command whose output already says what is wrong.
var ErrShown = errors.New("findings were shown")

// An ExitError ends the command with an exit code of its own.
type ExitError struct {
	Code int
	Text string
}

// Error returns the text.
func (e *ExitError) Error() string { return e.Text }

// A UsageError is a mistake on the command line or in a configuration.
type UsageError struct{ error }

// Unwrap returns the mistake itself.
func (e UsageError) Unwrap() error { return e.error }

// Usagef returns a usage error.
func Usagef(format string, args ...any) error { return WrapUsage(fmt.Errorf(format, args...)) }

// WrapUsage makes err a usage error.
func WrapUsage(err error) error { return UsageError{err} }

// Report writes err for people and returns the exit code.
func Report(w io.Writer, err error) int {
	if err == nil {
		return 0
	}
	if errors.Is(err, ErrShown) {
		return ExitFailed
	}
	width, _ := terminal.Size(w)
	fmt.Fprintln(w, terminal.WrapLines("toolpost: "+strings.TrimSuffix(err.Error(), "\n"), width))
	var (
		usage   UsageError
		config  *config.Error
		stopped *ExitError
	)
	if errors.As(err, &stopped) {
		return stopped.Code
	}
	if errors.As(err, &usage) || errors.As(err, &config) || errors.As(err, new(owner.UsageError)) {
		return ExitUsage
	}
	return ExitFailed
}
