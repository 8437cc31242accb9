package tools

import (
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/connect"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/internal/codec"
	"github.com/toolpost/toolpost/toolsearch"
)

const findHelp = `Find tools by a question in plain words, such as "open a pull request". The
ranking is that of find_tools, which clients with many tools get instead of a
list; docs/profiles.md describes it.
`

// Find returns the command "find".
func Find() *cobra.Command { return findCommand(&connect.Target{}) }

func findCommand(t *connect.Target) *cobra.Command {
	var (
		most   int
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "find [ADDRESS] QUERY… [-- COMMAND…]",
		Short: "Find tools by a question",
		Long:  findHelp + connect.TargetHelp,
		Example: `  toolpost find open a pull request
  toolpost find --limit 10 --json "read a file"
  toolpost find http://127.0.0.1:7717/mcp weather tomorrow`,
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, rest, err := t.Split(args, cmd.ArgsLenAtDash())
			if err != nil {
				return err
			}
			query := strings.Join(rest, " ")
			if query == "" {
				return cli.Usagef("there is no query; describe what the tool should do")
			}
			if most < 1 {
				return cli.Usagef("--limit is %d; want at least 1", most)
			}
			s, err := t.Open(cmd, cfg)
			if err != nil {
				return err
			}
			defer s.Close()
			if err := s.ReportSkipped(cmd.ErrOrStderr()); err != nil {
				return err
			}
			tools, err := s.Set.Tools(cmd.Context())
			if err != nil {
				return err
			}
			hits := toolsearch.Search(tools, query, most)
			if asJSON {
				return writeHits(cmd.OutOrStdout(), hits)
			}
			return showHits(cmd.OutOrStdout(), hits, len(tools))
		},
	}
	t.AddQuickFlags(cmd)
	cmd.Flags().IntVar(&most, "limit", 5, "show at most `N` tools")
	cmd.Flags().BoolVar(&asJSON, "json", false, "write a JSON array of names, scores and descriptions")
	return cmd
}

// showHits writes one line per tool, the best first.
func showHits(w io.Writer, hits iter.Seq2[*toolpost.Tool, float64], of int) error {
	var found []*toolpost.Tool
	for t := range hits {
		found = append(found, t)
	}
	if len(found) == 0 {
		return fmt.Errorf("none of %d tools fits; try other words", of)
	}
	width, _ := terminal.Size(w)
	return writeTools(w, found, width)
}

// writeHits writes a JSON array with one tool per line, the best first.
func writeHits(w io.Writer, hits iter.Seq2[*toolpost.Tool, float64]) error {
	var lines []string
	for t, score := range hits {
		line, err := codec.Encode(struct {
			Name        string  `json:"name"`
			Score       float64 `json:"score"`
			Description string  `json:"description"`
		}{t.Name, score, t.Description})
		if err != nil {
			return fmt.Errorf("encode tool %s: %w", t.Name, err)
		}
		lines = append(lines, string(line))
	}
	_, err := fmt.Fprintf(w, "[%s]\n", strings.Join(lines, ",\n"))
	return err
}
