package checks

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/connect"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/lint"
	"github.com/toolpost/toolpost/schema/dialect"
)

// decodeArguments answers every line of in, which are arguments for the tool of that
// name, with a line.
func decodeArguments(a *lint.Adapted, name string, in io.Reader, out io.Writer) error {
	t, err := findAdapted(a, name)
	if err != nil {
		return err
	}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err == nil || len(line) > 0 {
			if _, err := out.Write(append(decodeLine(t, line), '\n')); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read arguments: %w", err)
		}
	}
}

// findAdapted returns the tool of that name, after adapting or else before.
func findAdapted(a *lint.Adapted, name string) (*dialect.Tool, error) {
	var names []string
	for _, t := range a.Tools {
		if t.Name == name {
			return t, nil
		}
		names = append(names, t.Original.Name)
	}
	for _, t := range a.Tools {
		if t.Original.Name == name {
			return t, nil
		}
	}
	for _, w := range a.Withheld {
		if w.Name == name {
			return nil, cli.Usagef("tool %q is withheld from %s: %s (%s)", name, a.Dialect.ID, w.Why, w.Rule)
		}
	}
	return nil, connect.UnknownTool(name, names, "without --decode, all are shown")
}

func decodeLine(t *dialect.Tool, line []byte) []byte {
	line = bytes.TrimSpace(line)
	if !json.Valid(line) {
		return fmt.Appendf(nil, `{"error":%s}`, cli.QuoteJSON("the line is not JSON: write one object with the arguments"))
	}
	arguments, err := t.Decode(line)
	if err != nil {
		return fmt.Appendf(nil, `{"error":%s}`, cli.QuoteJSON(err.Error()))
	}
	var b bytes.Buffer
	b.WriteString(`{"arguments":`)
	if err := json.Compact(&b, arguments); err != nil { // what was a text may hold line breaks
		return fmt.Appendf(nil, `{"error":%s}`, cli.QuoteJSON(err.Error()))
	}
	b.WriteByte('}')
	return b.Bytes()
}
