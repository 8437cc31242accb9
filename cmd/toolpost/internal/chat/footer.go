package chat

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolpost/toolpost/agent"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/usage"
)

// stopText describes why a run ended without an answer, "" if it has one.
func stopText(r *agent.Result) string {
	switch r.Stop {
	case agent.StopAnswer, agent.StopDone:
		return ""
	case agent.StopApproval:
		return fmt.Sprintf("%s for your approval: %s", formatCount(len(r.Waiting), "call waits", "calls wait"), callNames(r.Waiting))
	case agent.StopRefusal:
		return "the model refused to answer: " + r.Text
	case agent.StopLength:
		return "the answer is incomplete: it is longer than a response of the model may be"
	case agent.StopRepeat:
		return "stopped: the model repeated the same call without progress"
	}
	return "stopped: the limit of " + string(r.Stop) + " is reached"
}

func callNames(calls []*agent.Request) string {
	var all []string
	for _, c := range calls {
		all = append(all, c.Name)
	}
	return strings.Join(all, ", ")
}

func formatCount(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// footer describes what a turn used.
func footer(r *agent.Result, took time.Duration) string {
	return fmt.Sprintf("%s · %s · %s", round(took), terminal.Count(r.Turns, "turn"), spent(r.Usage))
}

// spent describes tokens and costs in one line.
func spent(l *usage.Ledger) string {
	t := l.Tokens
	in := t.Context() - t.Output
	text := terminal.Thousands(in) + " tokens in"
	if t.CacheRead > 0 && in > 0 {
		text += fmt.Sprintf(" (%d%% cached)", int(100*float64(t.CacheRead)/float64(in)))
	}
	text += ", " + terminal.Thousands(t.Output) + " out"
	if t.Reasoning > 0 {
		text += " (" + terminal.Thousands(t.Reasoning) + " thinking)"
	}
	if l.Unmeasured > 0 {
		text += ", not counted: " + terminal.Count(l.Unmeasured, "request")
	}
	switch {
	case l.Requests == 0:
		return text
	case l.Unpriced == l.Requests:
		return text + " · price unknown"
	case l.Unpriced > 0:
		return text + " · " + l.Cost.String() + " and models of unknown price"
	}
	return text + " · " + l.Cost.String()
}

// costs describes what a conversation used, by model and by tool.
func costs(l *usage.Ledger) string {
	var b strings.Builder
	fmt.Fprintf(&b, "in all: %s, %s\n", terminal.Count(l.Requests, "request"), spent(l))
	models := l.ByModel()
	for _, name := range slices.Sorted(maps.Keys(models)) {
		fmt.Fprintf(&b, "  %s: %s\n", cleartext.Printable(name), spent(models[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(l.Tools)) {
		t := l.Tools[name]
		fmt.Fprintf(&b, "  %s: %s, %s, about %s tokens of results\n", cleartext.Printable(name), terminal.Count(t.Calls, "call"), round(t.Duration), terminal.Thousands(t.Results))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// round shortens a duration for people.
func round(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return "0ms"
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// size writes a number of bytes.
func size(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1_000_000)
}
