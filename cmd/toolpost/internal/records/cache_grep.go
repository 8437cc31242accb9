package records

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/grep"
	"github.com/toolpost/toolpost/store"
)

func cacheGrep() *cobra.Command {
	var (
		o      grep.Options
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "grep PATTERN [REF…]",
		Short: "Search outputs",
		Long:  "Search all outputs, or the named ones, for a regular expression (RE2). Print\neach matching line as REF:LINE: TEXT.",
		Args:  cli.CheckArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			pattern, err := grep.Compile(args[0], &o)
			if err != nil {
				return cli.WrapUsage(err)
			}
			s, all, err := openCache(cmd.Context())
			if err != nil {
				return err
			}
			some, err := all.choose(args[1:])
			if err != nil {
				return err
			}
			return (&search{out: cmd.OutOrStdout(), stderr: cmd.ErrOrStderr(), asJSON: asJSON}).run(cmd.Context(), s, some, pattern)
		},
	}
	cmd.Flags().BoolVarP(&o.Literal, "fixed", "F", false, "PATTERN is plain text, not a regular expression")
	cmd.Flags().BoolVarP(&o.IgnoreCase, "ignore-case", "i", false, "ignore upper and lower case")
	cli.AddJSONFlag(cmd, &asJSON)
	return cmd
}

// A match is one line of "cache grep --json".
type match struct {
	Ref  string `json:"ref"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

// A search is one run of "cache grep".
type search struct {
	out, stderr io.Writer
	asJSON      bool
	total       int64
	searched    int
	matches     []match // if they are written as JSON
}

// run writes the matching lines. It returns an error if there are none.
func (r *search) run(ctx context.Context, s store.Store, some keptOutputs, pattern *grep.Pattern) error {
	for _, o := range some {
		if err := r.output(ctx, s, o, pattern); err != nil {
			return err
		}
	}
	if r.asJSON {
		if err := cli.WriteJSON(r.out, append([]match{}, r.matches...)); err != nil {
			return err
		}
	}
	if r.total == 0 {
		return fmt.Errorf("no match in %d outputs", r.searched)
	}
	return nil
}

// output searches one output.
func (r *search) output(ctx context.Context, s store.Store, o kept, pattern *grep.Pattern) error {
	b, err := s.Open(ctx, o.Name)
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintln(r.stderr, goneText(o))
		return nil
	}
	if err != nil {
		return err
	}
	r.searched++
	found, err := pattern.File(ctx, b, o.Size, &grep.Limits{Matches: 10_000, Bytes: 16 << 20})
	if err = errors.Join(err, b.Close()); err != nil {
		return err
	}
	for _, l := range found.Lines {
		if r.asJSON {
			r.matches = append(r.matches, match{o.ref, int(l.Number), l.Text})
		} else if _, err := fmt.Fprintf(r.out, "%s:%d: %s\n", o.ref, l.Number, cleartext.Printable(l.Text)); err != nil {
			return err
		}
	}
	if r.total += found.Matches; found.Cut != "" {
		w := r.out
		if r.asJSON {
			w = r.stderr
		}
		fmt.Fprintf(w, "%s: not all: %s\n", o.ref, found.Cut)
	}
	return nil
}
