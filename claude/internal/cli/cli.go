// Package cli finds, starts and ends the claude command, and transfers the
// lines that it reads and writes. Package claude interprets the lines.
package cli

import (
	"cmp"
	"log/slog"
	"time"
)

// Options configure how the command is run; nil means defaults.
type Options struct {
	Path    string            // the executable; [Find] if empty
	Args    []string          // arguments after the executable's name
	Env     []string          // "NAME=value" sets, "NAME" removes; applied to this process's cleaned environment
	Dir     string            // the working directory; that of this process if empty
	MaxLine int               // bytes of the longest line; 64 MiB if 0
	Grace   time.Duration     // time allowed for each step of Close; 5 s if 0
	Stderr  func(line string) // receives each line of the standard error output; must not block; may be nil
	Logger  *slog.Logger      // slog.Default() if nil
}

// withDefaults returns the options with their defaults.
func (o *Options) withDefaults() Options {
	var all Options
	if o != nil {
		all = *o
	}
	all.MaxLine = cmp.Or(max(all.MaxLine, 0), 64<<20)
	all.Grace = cmp.Or(max(all.Grace, 0), 5*time.Second)
	all.Logger = cmp.Or(all.Logger, slog.Default())
	return all
}
