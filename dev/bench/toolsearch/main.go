// Command toolsearch measures the search for tools, and the lists of tools that clients
// get with and without it, with the tools of real servers. It writes the tables into
// docs/evidence/toolsearch.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/toolpost/toolpost/dev/bench/page"
)

func main() {
	file := flag.String("page", "docs/evidence/toolsearch.md", "`FILE` that gets the tables")
	flag.Parse()
	if err := bench(*file); err != nil {
		fmt.Fprintln(os.Stderr, "toolsearch:", err)
		os.Exit(1)
	}
}

func bench(file string) error {
	all, err := servers()
	if err != nil {
		return err
	}
	if err := page.Replace(file, "quality", qualityTable(joined(all))); err != nil {
		return err
	}
	table, err := listTable(context.Background(), all)
	if err != nil {
		return err
	}
	return page.Replace(file, "lists", table)
}
