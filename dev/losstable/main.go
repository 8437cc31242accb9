// Command losstable prints docs/dialects.md: which dialects there are, and what
// it costs to adapt the tools and schemas of package accept to each of them.
package main

import (
	"fmt"
	"os"
)

func main() {
	page, err := page()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Print(page)
}
