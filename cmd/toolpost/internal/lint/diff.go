package lint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/internal/cleartext"
)

// Diff shows the tools that adapting changes.
func (a *Adapted) Diff(p *terminal.Page) error {
	changed := 0
	for _, t := range a.Tools {
		before, err := definitionLines(t.Original)
		if err != nil {
			return err
		}
		after, err := definitionLines(t.Tool)
		if err != nil {
			return err
		}
		lines := terminal.Diff(before, after)
		if !terminal.Differs(lines) {
			continue
		}
		changed++
		p.WriteString(p.Paint("1", cleartext.Printable(t.Original.Name)) + "\n")
		p.Diff(lines)
		p.WriteString("\n")
	}
	p.Line("", fmt.Sprintf("%d of %s changed for %s.", changed, terminal.Count(len(a.Tools), "tool"), a.Dialect.ID))
	return nil
}

func definitionLines(t *toolpost.Tool) ([]string, error) {
	raw, err := t.Definition.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return nil, err
	}
	return strings.Split(b.String(), "\n"), nil
}
