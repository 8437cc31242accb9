package agents

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/usage"
)

// pricesOptions are the flags of "prices".
type pricesOptions struct{ missing, json bool }

// Prices returns the command "prices".
func Prices() *cobra.Command {
	var o pricesOptions
	cmd := &cobra.Command{
		Use:   "prices [PROVIDER/MODEL...]",
		Short: "List the prices and context windows of models, and what is missing",
		Long: `List the prices and context windows of the models that this build knows, with
the date of each, and what is missing. Nothing is read from the network. Prices
are in US dollars for a million tokens; some models cost more when a prompt is
long.

Without a price, a model is shown as "price unknown" and --max-cost refuses it.
Without a context window, a conversation is not compacted before it is full.
Named models may be snapshots. The exit code is 1 if one of them has no price.`,
		Example: `  toolpost prices --missing
  toolpost prices anthropic/claude-sonnet-5-5 openai/gpt-6.2-sol`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.list(cmd.OutOrStdout(), usage.Default(), args, time.Now())
		},
	}
	cmd.Flags().BoolVar(&o.missing, "missing", false, "list only models for which something is missing")
	cli.AddJSONFlag(cmd, &o.json)
	return cmd
}

// A listedPrice is one model of "prices --json". Prices are in US dollars for a
// million tokens, null if they are unknown.
type listedPrice struct {
	Model       string   `json:"model"`
	Date        string   `json:"date,omitempty"`
	Source      string   `json:"source,omitempty"`
	Until       string   `json:"until,omitempty"` // the last day of the price
	Input       *float64 `json:"input"`
	CachedInput *float64 `json:"cachedInput"`
	Output      *float64 `json:"output"`
	Context     int      `json:"context,omitempty"`   // tokens of the longest conversation
	MaxOutput   int      `json:"maxOutput,omitempty"` // tokens of the longest response
	Missing     []string `json:"missing"`
}

// listPrice lists a model; p is nil if nothing is known about it.
func listPrice(id string, p *usage.Price) listedPrice {
	l := listedPrice{Model: id, Missing: []string{}}
	if p != nil {
		l.Date, l.Source, l.Until, l.Context, l.MaxOutput = p.Date, p.Source, p.Until, p.Context, p.MaxOutput
	}
	l.Input, l.CachedInput, l.Output = perMillion(p, usage.Tokens{Input: 1}), perMillion(p, usage.Tokens{CacheRead: 1}), perMillion(p, usage.Tokens{Output: 1})
	for _, part := range []struct {
		name    string
		missing bool
	}{
		{"price", l.Input == nil || l.Output == nil},
		{"price of cached input", l.CachedInput == nil && l.Input != nil},
		{"context window", l.Context == 0},
		{"longest response", l.MaxOutput == 0},
	} {
		if part.missing {
			l.Missing = append(l.Missing, part.name)
		}
	}
	return l
}

// perMillion returns the price of a million tokens of the kind of one, in dollars,
// and nil if it is unknown.
func perMillion(p *usage.Price, one usage.Tokens) *float64 {
	cost, known := p.Cost(one)
	if !known {
		return nil
	}
	dollars := float64(cost) * 1_000_000 / float64(usage.Dollar)
	return &dollars
}

// list writes the models of prices, or the named ones.
func (o *pricesOptions) list(w io.Writer, prices *usage.Prices, names []string, now time.Time) error {
	var listed []listedPrice
	if len(names) == 0 {
		for id, p := range prices.All() {
			listed = append(listed, listPrice(id, p))
		}
	}
	for _, name := range names {
		provider, model, ok := strings.Cut(name, "/")
		if !ok {
			return cli.Usagef("%q has no provider; write PROVIDER/MODEL, such as anthropic/%s", name, name)
		}
		listed = append(listed, listPrice(name, prices.Find(provider, model)))
	}
	shown := slices.Clone(listed)
	if o.missing {
		shown = slices.DeleteFunc(shown, func(l listedPrice) bool { return len(l.Missing) == 0 })
	}
	if err := o.write(w, listed, shown, now); err != nil {
		return err
	}
	unpriced := func(l listedPrice) bool { return slices.Contains(l.Missing, "price") }
	if len(names) > 0 && slices.ContainsFunc(listed, unpriced) {
		return cli.ErrShown
	}
	return nil
}

func (o *pricesOptions) write(w io.Writer, listed, shown []listedPrice, now time.Time) error {
	if o.json {
		return cli.WriteJSON(w, append([]listedPrice{}, shown...))
	}
	width, _ := terminal.Size(w)
	numbers := 4
	if o.missing {
		numbers = 0
	}
	text, _ := cli.Columns(priceRows(shown, o.missing), nil, numbers, width)
	_, err := io.WriteString(w, text+"\n"+summarizePrices(listed, now))
	return err
}

// priceRows are a header and a row for each model: what it lacks, or its prices.
func priceRows(shown []listedPrice, missing bool) [][]string {
	rows := [][]string{{"MODEL", "DATE", "INPUT", "CACHED", "OUTPUT", "CONTEXT"}}
	if missing {
		rows[0] = []string{"MODEL", "DATE", "MISSING"}
	}
	for _, l := range shown {
		row := []string{cleartext.Printable(l.Model), cli.Dash(l.Date)}
		if missing {
			rows = append(rows, append(row, strings.Join(l.Missing, ", ")))
			continue
		}
		for _, dollars := range []*float64{l.Input, l.CachedInput, l.Output} {
			if dollars == nil {
				row = append(row, "-")
			} else {
				row = append(row, strconv.FormatFloat(*dollars, 'f', -1, 64))
			}
		}
		rows = append(rows, append(row, cli.Dash(strings.TrimPrefix(strconv.Itoa(l.Context), "0"))))
	}
	return rows
}

// summarizePrices counts the models for which something is missing, and returns
// how old the oldest entry is.
func summarizePrices(listed []listedPrice, now time.Time) string {
	lacking, oldest := 0, ""
	for _, l := range listed {
		if len(l.Missing) > 0 {
			lacking++
		}
		if l.Date != "" && (oldest == "" || l.Date < oldest) {
			oldest = l.Date
		}
	}
	text := fmt.Sprintf("Something is missing for %d of %s.", lacking, terminal.Count(len(listed), "model"))
	if read, err := time.Parse(time.DateOnly, oldest); err == nil {
		text += fmt.Sprintf(" The oldest entry is of %s, %s ago.", oldest, terminal.Count(max(int(now.Sub(read).Hours()/24), 0), "day"))
	}
	return text + "\n"
}
