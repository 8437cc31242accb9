// Command agentpeers gives the same three tasks to this module's agent and to
// those of other libraries, and prints a table. The model is a loopback one.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"github.com/toolpost/toolpost/dev/bench/page"
)

const (
	modelName = "gpt-5"
	apiKey    = "sk-test"

	parallelPrompt   = "How warm is it in Oslo, and how many people live there?"
	structuredPrompt = "Must we order bolts?"
	crashPrompt      = "Append the lines 1, 2, 3 and 4 to the file, one after the other."
)

func main() {
	doc := flag.String("doc", "", "write the table to `FILE`, in place of the one there")
	flag.Parse()
	slog.SetDefault(slog.New(slog.DiscardHandler)) // the libraries' own messages
	log.SetOutput(io.Discard)
	var err error
	if flag.Arg(0) == "crash" {
		err = crashChild(flag.Args()[1:])
	} else {
		err = compare(*doc)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "agentpeers:", err)
		os.Exit(1)
	}
}

func compare(doc string) error {
	ctx := context.Background()
	var all []*report
	for _, l := range libraries() {
		r, err := run(ctx, l)
		if err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
		all = append(all, r)
	}
	if err := count(all); err != nil {
		return err
	}
	text := table(all)
	fmt.Print(text)
	if doc == "" {
		return nil
	}
	return page.Replace(doc, "the agents", text)
}

// crashChild is the process that a crash test kills: LIBRARY URL DIR MOMENT. If
// it lives until the end, it writes the answer to DIR/answer.json.
func crashChild(args []string) error {
	all := libraries()
	l := all[slices.IndexFunc(all, func(l *library) bool { return l.name == args[0] })]
	dir := args[2]
	text, err := l.crash(context.Background(), args[1], dir, &file{path: filepath.Join(dir, "file"), moment: args[3]})
	answer := ended{Text: text}
	if err != nil {
		answer.Err = err.Error()
	}
	data, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "answer.json"), data, 0o600)
}
