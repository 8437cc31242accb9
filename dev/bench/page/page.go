// Package page puts the tables that benchmarks make into the documents that show them.
package page

import (
	"fmt"
	"os"
	"strings"
)

// Replace replaces what stands in a document between the lines "<!-- begin of NAME -->"
// and "<!-- end of NAME -->". The text ends with a line end.
func Replace(file, name, text string) error {
	begin, end := "<!-- begin of "+name+" -->", "<!-- end of "+name+" -->"
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(data), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return fmt.Errorf("%s has no lines %s and %s", file, begin, end)
	}
	return os.WriteFile(file, []byte(before+begin+"\n"+text+end+after), 0o644)
}
