package dialect

import (
	"unicode/utf8"

	"github.com/toolpost/toolpost"
)

func nameRules() []*Rule {
	return []*Rule{
		{
			Name: "name", Effect: refusesCall,
			What:  "The tool's name contains only characters that the reader accepts.",
			Why:   "Because of one name with another character, the model's API refuses the whole request, or the client drops the tool.",
			Fix:   "Use a to z, 0 to 9 and _. Adapting replaces other characters, and a call by the new name reaches the tool. A tool without a name is withheld.",
			when:  func(d *Dialect) bool { return d.form.Name.Pattern != "" },
			check: check{tool: namePattern},
		},
		{
			Name: "name-length", Effect: dropsTool,
			What:  "The tool's name is short enough, including the prefix that the client adds.",
			Why:   "Clients build names such as mcp__server__tool. If such a name is too long, the tool is dropped, its name is cut, or the whole request is refused.",
			Fix:   "Give the tool or the server a shorter name. Adapting shortens the name and adds a hash that keeps it unique.",
			when:  func(d *Dialect) bool { return d.form.Name.Max > 0 },
			check: check{tool: nameLength},
		},
		{
			Name: "name-collision", Effect: losesSilently,
			What:  "No two tools have the same name, even after the reader has replaced characters.",
			Why:   "Clients replace characters: a.b and a_b become the same name, and one of the tools is silently lost.",
			Fix:   "Rename one of them. Adapting does this by adding a hash.",
			check: check{list: nameCollision},
		},
	}
}

func namePattern(v *view, t *toolpost.Tool) {
	switch re := v.namer.pattern; {
	case t.Name == "":
		v.add("/name", "", "the name is empty")
	case re != nil && !re.MatchString(t.Name):
		v.add("/name", "", "%q does not match %s", clip(t.Name, 80), re)
	}
}

func nameLength(v *view, t *toolpost.Tool) {
	prefix := utf8.RuneCountInString(v.namer.prefix)
	if n := utf8.RuneCountInString(t.Name) + prefix; n > v.form.Name.Max {
		v.add("/name", "", "%q has %d characters, of which the client's prefix has %d; the limit is %d",
			clip(v.namer.prefix+t.Name, 160), n, prefix, v.form.Name.Max)
	}
}

func nameCollision(v *view, tools []*toolpost.Tool) {
	first := make(map[string]string, len(tools))
	for _, t := range tools {
		key := v.namer.foldName(t.Name)
		other, taken := first[key]
		if !taken {
			first[key] = t.Name
			continue
		}
		v.subject = t
		v.add("/name", "", "for this reader, %q and the earlier %q are the same name", clip(t.Name, 80), clip(other, 80))
	}
	v.subject = nil
}
