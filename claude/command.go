package claude

import (
	"context"
	"log/slog"
	"time"

	"github.com/toolpost/toolpost/claude/internal/cli"
)

// A Command is how the CLI is run: what [Options.Start] gets, and how it is found. The zero
// Command is the installed CLI without arguments.
type Command struct {
	Path    string            // the executable; [Command.Find] describes where it is if empty
	Args    []string          // arguments after the executable's name
	Env     []string          // "NAME=value" sets, "NAME" removes; applied to this process's cleaned environment
	Dir     string            // the working directory; that of this process if empty
	MaxLine int               // bytes of the longest line; 64 MiB if 0
	Grace   time.Duration     // time allowed for each step of Close; 5 s if 0
	Stderr  func(line string) // receives each line of the standard error output; must not block; may be nil
	Logger  *slog.Logger      // slog.Default() if nil
}

// Find returns the path of the executable: Path if it is not empty, otherwise
// $CLAUDE_CLI_PATH, otherwise the first that exists in PATH or where installers put it. It does
// not search the current folder, because a repository may contain a program called claude:
// name such a program with Path or $CLAUDE_CLI_PATH. The error may be a [*NotFoundError].
func (c *Command) Find() (string, error) {
	path, err := cli.Find(c.Path)
	return path, exportedError(err)
}

// Start starts the command in its own process group. The command ends when Close of the
// transport is called, when its input ends, or, on Linux, when this process ends. The
// context only limits the start.
func (c *Command) Start(ctx context.Context) (Transport, error) {
	p, err := cli.Start(ctx, (*cli.Options)(c))
	if err != nil {
		return nil, exportedError(err)
	}
	return process{p}, nil
}

// A process is a [cli.Process] with the errors of this package.
type process struct{ *cli.Process }

func (p process) ReadLine() ([]byte, error) {
	line, err := p.Process.ReadLine()
	return line, exportedError(err)
}

// A NotFoundError reports that the claude command was not found.
type NotFoundError struct {
	Looked []string // the searched places
}

func (e *NotFoundError) Error() string { return (*cli.NotFoundError)(e).Error() }

// An ExitError reports how the command ended, with the end of its error output.
type ExitError struct {
	Code   int    // -1 if a signal ended it
	Signal string // such as "killed"; empty if no signal ended it
	Stderr string // the end of its standard error output, without secrets of its environment
}

func (e *ExitError) Error() string { return (*cli.ExitError)(e).Error() }

// A VersionError reports a command that is too old.
type VersionError struct {
	Version string
	Minimum string
}

func (e *VersionError) Error() string { return (*cli.VersionError)(e).Error() }

// exportedError returns an error of package cli as the one that users of this package can
// tell apart.
func exportedError(err error) error {
	switch e := err.(type) {
	case *cli.NotFoundError:
		return (*NotFoundError)(e)
	case *cli.ExitError:
		return (*ExitError)(e)
	case *cli.VersionError:
		return (*VersionError)(e)
	}
	return err
}
