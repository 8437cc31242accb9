// Package cli finds, starts and ends the claude command, and carries the lines
// that it reads and writes. What the lines say is the work of package claude.
package cli

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// Options say how the command is run; nil means defaults.
type Options struct {
	Path    string            // the executable; [Find] if empty
	Args    []string          // after the executable's name
	Env     []string          // "NAME=value" sets, "NAME" removes; on top of this process's, which is cleaned
	Dir     string            // the working directory; this process's if empty
	MaxLine int               // bytes of the longest line; 64 MiB if 0
	Grace   time.Duration     // between the steps of Close; 5 s if 0
	Stderr  func(line string) // gets each line of the standard error output; may be nil
	Logger  *slog.Logger      // nil logs nothing
}

// A Process is one running command.
type Process struct{}

// Find returns the path of the claude command: path itself if it is not empty,
// else $CLAUDE_CLI_PATH, PATH, and the places where installers put it.
func Find(path string) (string, error) { return "", errors.ErrUnsupported }

// Version returns the version that the command tells, such as "2.1.329".
func Version(ctx context.Context, path string) (string, error) { return "", errors.ErrUnsupported }

// Start starts the command in a process group of its own. It ends when ctx ends
// or this process does, or by Close.
func Start(ctx context.Context, opts *Options) (*Process, error) { return nil, errors.ErrUnsupported }

// ReadLine returns the next line of output that is a JSON object, without its
// end. The line is the caller's. Other lines are logged and skipped. At the end
// it is io.EOF if the command ended well, else an *ExitError.
func (p *Process) ReadLine() ([]byte, error) { return nil, errors.ErrUnsupported }

// WriteLine writes one line to the command. It is safe for concurrent use.
func (p *Process) WriteLine(line []byte) error { return errors.ErrUnsupported }

// CloseInput ends the command's input, on which it ends after its turn.
func (p *Process) CloseInput() error { return errors.ErrUnsupported }

// Close ends the command and all that it started: the end of its input, then
// after a grace SIGTERM, then after another SIGKILL, to its process group. It
// returns when nothing is left, and may be called more than once.
func (p *Process) Close() error { return errors.ErrUnsupported }
