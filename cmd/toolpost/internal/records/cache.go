package records

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/internal/access/owner"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/store"
)

// Cache returns the command "cache".
func Cache() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cache",
		Short: "Read the tool outputs that were too large to show in full",
		Long: `Read the tool outputs that serve stores because they were too large for the
model. Each has a reference, which the model has seen. Commands also accept the
beginning of a reference if no other begins the same way.`,
		Args: cli.RejectUnknown,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(cacheList(), cacheShow(), cacheGrep(), cacheRemove())
	for _, c := range cmd.Commands() {
		c.Args = cli.CheckArgs(c.Args)
	}
	return cmd
}

func cacheList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List the outputs, newest first",
		Args:  cli.CheckArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, all, err := openCache(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return all.writeJSON(cmd.OutOrStdout())
			}
			width, _ := terminal.Size(cmd.OutOrStdout())
			_, err = io.WriteString(cmd.OutOrStdout(), outputTable(all, time.Now(), width))
			return err
		},
	}
	cli.AddJSONFlag(cmd, &asJSON)
	return cmd
}

func cacheShow() *cobra.Command {
	var offset, limit int64
	cmd := &cobra.Command{
		Use:   "show REF",
		Short: "Print an output, or some of its lines",
		Long:  "Print an output, or some of its lines. REF@12, as models see it, is its twelfth\nline.",
		Args:  cli.CheckArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if offset < 0 || limit < 0 {
				return cli.Usagef("--offset and --limit are numbers of lines, 0 or more")
			}
			s, all, err := openCache(cmd.Context())
			if err != nil {
				return err
			}
			ref, line, err := splitLine(args[0])
			if err != nil {
				return err
			}
			if line > 0 && (cmd.Flags().Changed("offset") || cmd.Flags().Changed("limit")) {
				return cli.Usagef("%s names a single line: leave out --offset and --limit, or the @ and the number", args[0])
			}
			o, err := all.find(ref)
			if err != nil {
				return err
			}
			if line > 0 {
				offset, limit = line-1, 1
			}
			return showOutput(cmd.Context(), cmd.OutOrStdout(), s, o, offset, limit)
		},
	}
	cli.CompleteArgs(cmd, 1, references)
	cmd.Flags().Int64Var(&offset, "offset", 0, "skip `N` lines")
	cmd.Flags().Int64Var(&limit, "limit", 0, "print at most `N` lines")
	return cmd
}

func cacheRemove() *cobra.Command {
	var (
		every, lists bool
		change       *cli.Change
	)
	cmd := &cobra.Command{
		Use:   "rm REF… | --all | --catalog",
		Short: "Remove outputs, or what servers listed",
		RunE: func(cmd *cobra.Command, args []string) error {
			if lists && len(args) == 0 && !every {
				change.Done("catalog")
				return clearCatalog(cmd.ErrOrStderr())
			}
			if lists || every == (len(args) > 0) {
				return cli.Usagef("name the outputs to remove, or give --all or --catalog")
			}
			s, all, err := openCache(cmd.Context())
			if err != nil {
				return err
			}
			some, err := all.choose(args)
			if err != nil {
				return err
			}
			return removeOutputs(cmd.Context(), cmd.ErrOrStderr(), s, some, change)
		},
	}
	cmd.Flags().BoolVar(&every, "all", false, "remove all outputs")
	cmd.Flags().BoolVar(&lists, "catalog", false, "remove what servers listed at the last start of serve")
	cli.Exclusive(cmd, "all", "catalog")
	change = cli.AddChangeFlag(cmd)
	return cmd
}

// A kept output is one of the cache.
type kept struct {
	store.Info
	session, ref string
}

type keptOutputs []kept

// openCache opens the folder and lists it, newest first.
func openCache(ctx context.Context) (store.Store, keptOutputs, error) {
	dir, err := owner.OutputDir()
	if err != nil {
		return nil, nil, err
	}
	s, err := store.Dir(dir, nil)
	if err != nil {
		return nil, nil, err
	}
	var all keptOutputs
	for info, err := range s.List(ctx) {
		if err != nil {
			return nil, nil, err
		}
		if session, ref, ok := hidden.SplitOutputName(info.Name); ok {
			all = append(all, kept{info, session, ref})
		}
	}
	sort.Slice(all, func(i, j int) bool {
		return cmp.Or(all[j].Created.Compare(all[i].Created), cmp.Compare(all[i].Name, all[j].Name)) < 0
	})
	return s, all, nil
}

// references lists the references of all outputs.
func references() (refs []string) {
	_, all, _ := openCache(context.Background()) // a cache that cannot be read completes nothing
	for _, o := range all {
		refs = append(refs, o.ref)
	}
	return refs
}

// splitLine returns the number of the line that a reference names, 0 for none.
func splitLine(arg string) (ref string, line int64, err error) {
	ref, number, named := strings.Cut(arg, "@")
	if !named {
		return ref, 0, nil
	}
	if line, err = strconv.ParseInt(number, 10, 64); err != nil || line < 1 {
		return "", 0, cli.Usagef("%q does not name a line; write REF@12 for the twelfth line", arg)
	}
	return ref, line, nil
}

// goneText describes an output that has just been removed.
func goneText(o kept) string {
	return o.ref + " is gone: it has expired, or was removed meanwhile"
}

// find returns the one output whose reference begins so.
func (all keptOutputs) find(ref string) (kept, error) {
	if whole, _, line := strings.Cut(ref, "@"); line {
		return kept{}, cli.Usagef("%q is one line; name the whole output, %q", ref, whole)
	}
	var found keptOutputs
	for _, o := range all {
		if strings.HasPrefix(o.ref, strings.ToLower(ref)) {
			found = append(found, o)
		}
	}
	switch len(found) {
	case 0:
		return kept{}, cli.Usagef(`there is no output %q; "toolpost cache ls" lists them`, ref)
	case 1:
		return found[0], nil
	}
	return kept{}, cli.Usagef("%d outputs begin with %q; give more of the reference", len(found), ref)
}

// choose returns the named outputs, each once, or all if none is named.
func (all keptOutputs) choose(refs []string) (keptOutputs, error) {
	if len(refs) == 0 {
		return all, nil
	}
	var found keptOutputs
	for _, ref := range refs {
		o, err := all.find(ref)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(found, o) {
			found = append(found, o)
		}
	}
	return found, nil
}

// outputTable has one line for each, cut at width unless that is 0.
func outputTable(all keptOutputs, now time.Time, width int) string {
	rows := [][]string{{"REF", "SESSION", "AGE", "LINES", "BYTES"}}
	for _, o := range all {
		age := now.Sub(o.Created).Truncate(time.Second)
		rows = append(rows, []string{o.ref, o.session[:8], max(age, 0).String(),
			strconv.FormatInt(o.Lines, 10), strconv.FormatInt(o.Size, 10)})
	}
	text, _ := cli.Columns(rows, nil, 3, width)
	return text
}

// showOutput writes lines of an output. A terminal gets no control characters.
func showOutput(ctx context.Context, w io.Writer, s store.Store, o kept, offset, limit int64) (err error) {
	b, err := s.Open(ctx, o.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New(goneText(o))
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if offset > 0 && offset >= o.Lines {
		return cli.Usagef("the output has %d lines", o.Lines)
	}
	last := o.Lines
	if limit > 0 && limit < last-offset {
		last = offset + limit
	}
	begin, err := b.Line(offset)
	if err != nil {
		return err
	}
	end, err := b.Line(last)
	if err != nil {
		return err
	}
	lines := io.NewSectionReader(b, begin, end-begin)
	if width, _ := terminal.Size(w); width > 0 {
		return writeHarmless(w, lines)
	}
	_, err = io.Copy(w, lines)
	return err
}

// writeHarmless writes text without the control characters that a terminal would
// obey.
func writeHarmless(w io.Writer, from io.Reader) error {
	in, out := bufio.NewReader(from), bufio.NewWriter(w)
	for {
		r, _, err := in.ReadRune()
		if err == io.EOF {
			return out.Flush()
		}
		if err == nil && r != '\r' {
			_, err = out.WriteString(cleartext.Sanitize(string(r)))
		}
		if err != nil {
			return err
		}
	}
}

// removeOutputs removes outputs, and names those that did not exist any more.
func removeOutputs(ctx context.Context, stderr io.Writer, s store.Store, some keptOutputs, change *cli.Change) error {
	for _, o := range some {
		err := s.Remove(ctx, o.Name)
		if errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintln(stderr, goneText(o))
		} else if err != nil {
			return err
		} else {
			change.Done(append(change.Names, o.ref)...)
		}
	}
	return nil
}

// A listedOutput is one output of "cache ls --json".
type listedOutput struct {
	Ref     string    `json:"ref"`
	Created time.Time `json:"created"`
	Lines   int64     `json:"lines"`
	Bytes   int64     `json:"bytes"`
}

func (all keptOutputs) writeJSON(w io.Writer) error {
	listed := []listedOutput{}
	for _, o := range all {
		listed = append(listed, listedOutput{o.ref, o.Created, o.Lines, o.Size})
	}
	return cli.WriteJSON(w, listed)
}
