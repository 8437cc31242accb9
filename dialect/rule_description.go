package dialect

import (
	"strings"
	"unicode/utf8"

	"github.com/toolpost/toolpost"
)

func descriptionRules() []*Rule {
	return []*Rule{
		{
			Name: "description-missing", Effect: RefusesCall,
			What:  "The tool has a description.",
			Why:   "Without one, the model's API refuses the whole request.",
			Fix:   "Say in a sentence what the tool does. Adapting makes a sentence of the name.",
			when:  func(d *Dialect) bool { return d.Text.Required },
			check: eachTool(descriptionMissing),
		},
		{
			Name: "description-length", Effect: Truncates,
			What:  "Descriptions are not longer than the reader takes.",
			Why:   "What is longer is cut in the middle, or the whole request is refused.",
			Fix:   "Say the essential first, and move details into a resource or a help tool. Adapting cuts at the end of a sentence.",
			when:  func(d *Dialect) bool { return d.Text.Max > 0 || d.Text.SchemaMax > 0 },
			check: eachText(descriptionLength),
		},
		{
			Name: "description-lines", Effect: Advice,
			What:  "Descriptions have only a few lines.",
			Why:   "An early version of the client was seen to crash on longer ones.",
			Fix:   "Write a short paragraph. Adapting joins lines.",
			when:  func(d *Dialect) bool { return d.Text.Lines > 0 },
			check: eachText(descriptionLines),
		},
		{
			Name: "description-characters", Effect: Advice,
			What:  "Descriptions have none of the characters that the reader removes or does not take.",
			Why:   "Characters that nobody sees are removed, since they can hide instructions. An early version of one client was seen to crash on brackets and underscores.",
			Fix:   `Leave them out: write "time entries" for time_entries, and commas instead of brackets. Adapting does so.`,
			when:  func(d *Dialect) bool { return d.Text.Forbid != "" },
			check: eachText(descriptionCharacters),
		},
	}
}

func descriptionMissing(v *view, t *toolpost.Tool) {
	if strings.TrimSpace(t.Description) == "" {
		v.tell("/description", "", "there is no description")
	}
}

func descriptionLength(v *view, text string) {
	most := v.Text.Max
	if v.node != nil {
		most = v.Text.SchemaMax
	}
	if n := length(text); most > 0 && n > most {
		v.reportText("the description has %d characters, at most %d are taken", n, most)
	}
}

func descriptionLines(v *view, text string) {
	if n := strings.Count(text, "\n") + 1; n > v.Text.Lines {
		v.reportText("the description has %d lines, at most %d are taken", n, v.Text.Lines)
	}
}

func descriptionCharacters(v *view, text string) {
	if i := strings.IndexAny(text, v.Text.Forbid); i >= 0 {
		r, _ := utf8.DecodeRuneInString(text[i:])
		v.reportText("the description has the character %q, in %q", r, clip(text[i:], 20))
	}
}
