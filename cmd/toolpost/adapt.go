package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dialect"
	"github.com/toolpost/toolpost/schema/lower"
)

func adaptCommand() *cobra.Command {
	var (
		t       target
		targets []string
		server  string
		decode  string
	)
	cmd := &cobra.Command{
		Use:   "adapt --for TARGET [FILE | ADDRESS] [-- COMMAND…]",
		Short: "Show tools as one client or model gets them",
		Long: `Show tools as one client or model gets them. The output is JSON with each
adapted tool, what was lost by adapting it, and the tools that are withheld.

With --decode TOOL, read one JSON object of arguments per line from standard
input, as a model wrote it for the adapted tool. Write one line for each:
{"arguments":…} in the shape of the tool's own schema, or {"error":…}. TOOL is
the name before or after adapting.
` + sourceHelp,
		Example: `  toolpost adapt --for gemini tools.json
  toolpost adapt --for openai-strict http://127.0.0.1:7717/mcp
  echo '{"id": "7"}' | toolpost adapt --for claude-desktop --decode show tools.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if decode != "" && len(args) > 0 && args[0] == "-" {
				return usagef("--decode reads arguments from standard input; name a file for the tools")
			}
			src, err := t.source(cmd, args)
			if err != nil {
				return err
			}
			d, err := src.target(targets)
			if err != nil {
				return err
			}
			a := adaptSource(src, d, &dialect.Options{Server: server})
			for _, f := range a.Findings {
				fmt.Fprintf(cmd.ErrOrStderr(), "toolpost: %s: %s\n", f.Rule, f.Message)
			}
			if decode != "" {
				return interruptibly(cmd.Context(), func() error { return a.decode(decode, cmd.InOrStdin(), cmd.OutOrStdout()) })
			}
			return a.write(cmd.OutOrStdout())
		},
	}
	t.addFlags(cmd)
	addTargetFlags(cmd, &targets, &server)
	complete(cmd, "for", targetChoices())
	cmd.Flags().StringVar(&decode, "decode", "", "convert arguments for `TOOL` back to its own schema, one JSON object per line")
	return cmd
}

func addTargetFlags(cmd *cobra.Command, targets *[]string, server *string) {
	cmd.Flags().StringSliceVar(targets, "for", nil, "check or adapt for `TARGET`, such as claude-code or gemini")
	cmd.Flags().StringVar(server, "server", dialect.DefaultServer, "`NAME` of the server in the client; it adds to the length of tool names")
}

// adapted is a source's tools as one reader gets them.
type adapted struct {
	*dialect.Adapted
	origins map[*toolpost.Tool]*fileTool    // by original
	repairs map[*toolpost.Tool][]lower.Loss // what was lost before adapting, by original
	fates   map[*fileTool]*fate
}

// A fate is what became of one tool.
type fate struct {
	losses   []lower.Loss
	withheld string // why; "" if it is not
}

// losses returns what a tool lost, in reading it and in adapting it.
func (a *adapted) losses(t *dialect.Tool) []lower.Loss {
	return slices.Concat(a.repairs[t.Original], t.Losses)
}

func adaptSource(src *toolSource, d *dialect.Dialect, opts *dialect.Options) *adapted {
	a := &adapted{origins: map[*toolpost.Tool]*fileTool{}, repairs: map[*toolpost.Tool][]lower.Loss{}, fates: map[*fileTool]*fate{}}
	rules := rulesByName()
	var tools []*toolpost.Tool
	var unread []dialect.Withheld
	for _, t := range src.tools {
		if t.Tool != nil {
			original, losses := t.original()
			a.origins[original], a.repairs[original] = t, losses
			tools = append(tools, original)
			continue
		}
		for _, f := range t.findings(d, rules) {
			unread = append(unread, dialect.Withheld{Name: f.Tool, Rule: f.Rule, Why: f.Message})
			a.fates[t] = &fate{withheld: f.Message}
		}
	}
	a.Adapted = d.Adapt(tools, opts)
	a.addFates(tools)
	a.Withheld = append(a.Withheld, unread...)
	return a
}

// addFates tells the tools that are withheld, which are in the order of all,
// from the others.
func (a *adapted) addFates(tools []*toolpost.Tool) {
	for _, t := range a.Tools {
		a.fates[a.origins[t.Original]] = &fate{losses: a.losses(t)}
	}
	withheld := a.Withheld
	for _, t := range tools {
		if origin := a.origins[t]; a.fates[origin] == nil && len(withheld) > 0 {
			a.fates[origin] = &fate{withheld: withheld[0].Why}
			withheld = withheld[1:]
		}
	}
}

func rulesByName() map[string]*dialect.Rule {
	rules := map[string]*dialect.Rule{}
	for _, r := range dialect.Rules() {
		rules[r.Name] = r
	}
	return rules
}

// write writes one tool a line. The bytes of schemas are those that are sent.
func (a *adapted) write(w io.Writer) error {
	var b bytes.Buffer
	b.WriteString(`{"tools":[`)
	for i, t := range a.Tools {
		b.WriteString(separator(i))
		schema := json.RawMessage("null")
		if t.Input != nil {
			schema = t.Input.Raw()
		}
		losses, err := encode(orEmpty(a.losses(t)))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, `{"name":%s,"original_name":%s,"description":%s,"input_schema":%s,"strict":%t,"losses":%s}`,
			quote(t.Name), quote(t.Original.Name), quote(t.Description), schema, t.Strict, losses)
	}
	withheld, err := encode(orEmpty(a.Withheld))
	if err != nil {
		return err
	}
	fmt.Fprintf(&b, "\n],\"withheld\":%s}\n", withheld)
	_, err = w.Write(b.Bytes())
	return err
}

func separator(i int) string {
	if i == 0 {
		return "\n"
	}
	return ",\n"
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// encode writes JSON without escapes for HTML.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}
