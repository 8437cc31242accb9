package dialect

import (
	"strings"
	"unicode/utf8"

	"github.com/toolpost/toolpost"
)

func descriptionRules() []*Rule {
	return []*Rule{
		{
			Name: "description-missing", Effect: refusesCall,
			What:  "The tool has a description.",
			Why:   "Without one, the model's API refuses the whole request.",
			Fix:   "Describe in one sentence what the tool does. Adapting derives a sentence from the name.",
			when:  func(d *Dialect) bool { return d.form.Text.Required },
			check: check{tool: descriptionMissing},
		},
		{
			Name: "description-length", Effect: truncates,
			What:  "Descriptions are no longer than the reader accepts.",
			Why:   "A longer description is cut, possibly in mid-sentence, or the whole request is refused.",
			Fix:   "Put the essential facts first, and move details into a resource or a help tool. Adapting cuts at the end of a sentence.",
			when:  func(d *Dialect) bool { return d.form.Text.Max > 0 || d.form.Text.SchemaMax > 0 },
			check: check{text: descriptionLength},
		},
		{
			Name: "description-lines", Effect: advice,
			What:  "Descriptions have only a few lines.",
			Why:   "An early version of the client was reported to crash on longer ones.",
			Fix:   "Write a short paragraph. Adapting joins lines.",
			when:  func(d *Dialect) bool { return d.form.Text.Lines > 0 },
			check: check{text: descriptionLines},
		},
		{
			Name: "description-characters", Effect: advice,
			What:  "Descriptions do not contain characters that the reader removes or does not accept.",
			Why:   "Invisible characters are removed because they can hide instructions. An early version of one client was reported to crash on parentheses and underscores.",
			Fix:   `Avoid them: write "time entries" instead of time_entries, and commas instead of parentheses. Adapting does this.`,
			when:  func(d *Dialect) bool { return d.form.Text.Forbid != "" },
			check: check{text: descriptionCharacters},
		},
	}
}

func descriptionMissing(v *view, t *toolpost.Tool) {
	if strings.TrimSpace(t.Description) == "" {
		v.add("/description", "", "the tool has no description")
	}
}

func descriptionLength(v *view, text string) {
	most := v.form.Text.Max
	if v.node != nil {
		most = v.form.Text.SchemaMax
	}
	if n := length(text); most > 0 && n > most {
		v.reportText("the description has %d characters; the limit is %d", n, most)
	}
}

func descriptionLines(v *view, text string) {
	if n := strings.Count(text, "\n") + 1; n > v.form.Text.Lines {
		v.reportText("the description has %d lines; the limit is %d", n, v.form.Text.Lines)
	}
}

func descriptionCharacters(v *view, text string) {
	if i := strings.IndexAny(text, v.form.Text.Forbid); i >= 0 {
		r, _ := utf8.DecodeRuneInString(text[i:])
		v.reportText("the description contains the character %q, in %q", r, clip(text[i:], 20))
	}
}
