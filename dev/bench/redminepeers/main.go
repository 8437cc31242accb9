// Command redminepeers compares the Redmine tools with other Redmine servers on
// a real Redmine, and prints the table of docs/evidence/redmine-peers.md. "make redmine-peers"
// installs the peers, starts the Redmine and runs it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/toolpost/toolpost/dev/bench/page"
)

func main() {
	toolpost := flag.String("toolpost", "toolpost", "`PATH` of the built toolpost command")
	cache := flag.String("cache", "", "`FOLDER` that dev/live/install.sh put the peers into")
	doc := flag.String("doc", "", "write the table to `FILE`, in place of the one there")
	verbose := flag.Bool("v", false, "print the answers on standard error")
	flag.Parse()
	if err := compare(context.Background(), *toolpost, *cache, *doc, *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "redminepeers:", err)
		os.Exit(1)
	}
}

// compare measures all servers, writes the table, and reports an error if the
// first server, which is ours, does not get every task right.
func compare(ctx context.Context, toolpost, cache, doc string, verbose bool) error {
	dir, err := os.MkdirTemp("", "redminepeers-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	r := &redmine{url: os.Getenv("REDMINE_URL")}
	if r.url == "" {
		return fmt.Errorf("REDMINE_URL is empty; run make redmine-peers, which starts a Redmine")
	}
	r.fill()
	if r.err != nil {
		return fmt.Errorf("fill Redmine: %w", r.err)
	}
	tasks := allTasks()
	var columns []*column
	for i, s := range servers(toolpost, cache) {
		c, err := measure(ctx, s, i, r, tasks, dir, verbose)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		columns = append(columns, c)
	}
	text := table(columns, tasks)
	fmt.Print(text)
	if doc != "" {
		if err := page.Replace(doc, "the peers", text); err != nil {
			return err
		}
	}
	for i, v := range columns[0].verdicts {
		if v != right {
			return fmt.Errorf("ours gets the task %q %s", tasks[i].wish, v)
		}
	}
	return nil
}

// A column has what was measured of one server.
type column struct {
	*server
	tools, definitions, everyday int // tokens, except for tools
	list, whole, short           int
	verdicts                     []verdict
}

// measure starts a server and has it do everything. Index is its place in the
// calls of a task.
func measure(ctx context.Context, s *server, index int, r *redmine, tasks []*task, dir string, verbose bool) (*column, error) {
	defer s.close()
	s.dir = dir
	c := &column{server: s}
	var err error
	if c.tools, c.definitions, err = s.definitions(ctx, nil); err != nil {
		return nil, err
	}
	if s.groups != nil {
		if _, c.everyday, err = s.definitions(ctx, s.groups); err != nil {
			return nil, err
		}
	}
	a, err := s.call(ctx, "alice", s.list)
	if err != nil {
		return nil, err
	}
	c.list, c.whole = tokens(a.text), a.whole
	if s.short != "" {
		if a, err = s.call(ctx, "alice", s.short); err != nil {
			return nil, err
		}
		c.short = tokens(a.text)
	}
	for _, t := range tasks {
		v, err := t.run(ctx, s, index, r, verbose)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.wish, err)
		}
		c.verdicts = append(c.verdicts, v)
	}
	return c, nil
}

// tokens estimates the tokens of a text as dialect.Tokens does.
func tokens(text string) int { return (len(text) + 3) / 4 }

func table(columns []*column, tasks []*task) string {
	var b strings.Builder
	row := func(label string, cell func(*column) string) {
		fmt.Fprintf(&b, "| %s |", label)
		for _, c := range columns {
			fmt.Fprintf(&b, " %s |", cell(c))
		}
		b.WriteByte('\n')
	}
	number := func(label string, of func(*column) int) {
		row(label, func(c *column) string {
			switch n := of(c); {
			case n == 0:
				return "–"
			case n < 1000:
				return fmt.Sprint(n)
			default:
				return fmt.Sprintf("%d,%03d", n/1000, n%1000)
			}
		})
	}
	row("", func(c *column) string { return c.name })
	b.WriteString("|---|" + strings.Repeat("---|", len(columns)) + "\n")
	number("tools", func(c *column) int { return c.tools })
	number("tokens of their definitions", func(c *column) int { return c.definitions })
	number("of those for every day: `--group issues,time`", func(c *column) int { return c.everyday })
	number("tokens of the text of 100 issues", func(c *column) int { return c.list })
	number("of the whole result", func(c *column) int { return c.whole })
	number("of the text if only id, subject, status, assignee and date are asked for", func(c *column) int { return c.short })
	for i, t := range tasks {
		row(fmt.Sprintf("%c. %s", 'A'+i, t.wish), func(c *column) string { return c.verdicts[i].cell() })
	}
	row("right / refused / wrong", func(c *column) string {
		n := map[verdict]int{}
		for _, v := range c.verdicts {
			n[v]++
		}
		return fmt.Sprintf("**%d / %d / %d**", n[right], n[refused], n[wrong])
	})
	return b.String()
}
