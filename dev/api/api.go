// Command api prints what the module exports: how many packages, names and members, and
// with -list each of them with its signature. docs/evidence/api.txt records the list, and
// a test compares it, so that no exported name changes unnoticed.
//
//	source files ─► public packages ─► declarations ─► lines of api.txt
//	             └► uses by other packages ─► names that nobody needs
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/toolpost/toolpost/dev/floors"
)

func main() {
	root := flag.String("root", ".", "`FOLDER` of the module")
	list := flag.Bool("list", false, "print every exported name with its signature")
	update := flag.Bool("update", false, "write the list to "+recordFile)
	since := flag.String("since", "", "print what changed since a `REVISION`")
	flag.Parse()
	if err := run(os.Stdout, *root, *list, *update, *since); err != nil {
		fmt.Fprintln(os.Stderr, "api:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, root string, list, update bool, since string) error {
	files, err := floors.Load(root)
	if err != nil {
		return err
	}
	packages := exported(files)
	switch {
	case list:
		_, err := io.WriteString(w, record(packages))
		return err
	case update:
		return writeRecord(root, record(packages))
	case since != "":
		before, err := recordAt(root, since)
		if err != nil {
			return err
		}
		c := compare(before, record(packages))
		_, err = fmt.Fprintf(w, "%d changes break programs, %d are additions\n%s\n", len(c.breaking), len(c.added), c)
		return err
	}
	return count(w, packages)
}

// count prints how much each package exports.
func count(w io.Writer, packages []*pkg) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	names, members := 0, 0
	for _, p := range packages {
		fmt.Fprintf(table, "%s\t%d names\t%d with fields and methods\n", p.path, p.names(), len(p.lines))
		names += p.names()
		members += len(p.lines)
	}
	fmt.Fprintf(table, "%d packages\t%d names\t%d with fields and methods\n", len(packages), names, members)
	return table.Flush()
}
