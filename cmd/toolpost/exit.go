package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/config"
)

// The exit codes, documented by "toolpost help exit-codes".
const (
	exitFailed      = 1
	exitUsage       = 2
	exitLimit       = 3
	exitWaiting     = 4
	exitRefused     = 5
	exitInterrupted = 130
)

// exitCodesTopic returns the help topic "exit-codes".
func exitCodesTopic() *cobra.Command {
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

// errShown sets the exit code of a command whose output already says what is wrong.
var errShown = errors.New("findings were shown")

// A stopError ends the command with an exit code of its own.
type stopError struct {
	code int
	text string
}

// Error returns the text.
func (e *stopError) Error() string { return e.text }

// A usageError is a mistake on the command line or in a configuration.
type usageError struct{ error }

// Unwrap returns the mistake itself.
func (e usageError) Unwrap() error { return e.error }

// usagef returns a usage error.
func usagef(format string, args ...any) error { return wrapUsage(fmt.Errorf(format, args...)) }

// wrapUsage makes err a usage error.
func wrapUsage(err error) error { return usageError{err} }

// report writes err for people and returns the exit code.
func report(w io.Writer, err error) int {
	if err == nil {
		return 0
	}
	if errors.Is(err, errShown) {
		return exitFailed
	}
	fmt.Fprintf(w, "toolpost: %s\n", strings.TrimSuffix(err.Error(), "\n"))
	var (
		usage   usageError
		config  *config.Error
		stopped *stopError
	)
	if errors.As(err, &stopped) {
		return stopped.code
	}
	if errors.As(err, &usage) || errors.As(err, &config) {
		return exitUsage
	}
	return exitFailed
}
