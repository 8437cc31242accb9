// Command claudepeers runs the same scenarios on the real claude command with
// this SDK and with others, and prints a table. The model is a loopback one.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/toolpost/toolpost/dev/bench/page"
)

const (
	model        = "claude-sonnet-4-5"
	systemPrompt = "You are a test."
)

func main() {
	if filepath.Base(os.Args[0]) == "claude" {
		os.Exit(pretend())
	}
	cli := flag.String("cli", "", "`PATH` of the claude command")
	python := flag.String("python", "", "`PATH` of a Python that has the official SDK")
	runs := flag.Int("runs", 20, "measured `RUNS` of each library")
	doc := flag.String("doc", "", "write the table to `FILE`, in place of the one there")
	only := flag.String("only", "", "run just the `SCENARIO`")
	flag.Parse()
	if err := start(*cli, *python, *runs, *doc, *only); err != nil {
		fmt.Fprintln(os.Stderr, "claudepeers:", err)
		os.Exit(1)
	}
}

func start(cli, python string, runs int, doc, only string) error {
	if flag.Arg(0) == "work" {
		return child(cli, flag.Arg(1), flag.Arg(2), flag.Arg(3))
	}
	bench, err := newBench(cli, python)
	if err != nil {
		return err
	}
	defer bench.close()
	table, failed, err := bench.table(runs, only)
	if err != nil {
		return err
	}
	fmt.Print(table)
	if doc != "" && only == "" {
		if err := page.Replace(doc, "the table", table); err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("ours fails %d scenarios", failed)
	}
	return nil
}

// child does one job and writes its outcome to a file.
func child(cli, lib, name, file string) error {
	all := append(scenarios(), timing())
	s := all[slices.IndexFunc(all, func(s *scenario) bool { return s.name == name })]
	libs := libraries()
	l := libs[slices.IndexFunc(libs, func(l library) bool { return l.name == lib })]
	data, err := json.Marshal(work(l, s, cli))
	if err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o644)
}
