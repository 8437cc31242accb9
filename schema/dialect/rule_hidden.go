package dialect

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/cleartext"
)

func hiddenRules() []*Rule {
	return []*Rule{{
		Name: "hidden-characters", All: true, Effect: losesSilently,
		What:  "The definition has no characters that people do not see: control characters, direction overrides, zero-width characters, tags.",
		Why:   "Models read such characters, so they can hide instructions from the people who review a tool. Toolpost and some clients remove them.",
		Fix:   "Leave them out. Serving through Toolpost does so in names, titles and descriptions. Characters that a script or an emoji needs are not reported.",
		check: check{tool: hiddenCharacters},
	}}
}

// hiddenCharacters reports each text of a definition that hides something. The
// member _meta is for programs.
func hiddenCharacters(v *view, t *toolpost.Tool) {
	raw, err := t.MarshalJSON()
	if err != nil {
		return
	}
	d := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		token, err := d.ReadToken()
		if err != nil {
			return // the end
		}
		if token.Kind() != '"' {
			continue
		}
		text := token.String()
		if kind, n := d.StackIndex(d.StackDepth()); text == "_meta" && d.StackDepth() == 1 && kind == '{' && n%2 == 1 {
			_ = d.SkipValue() // its error comes again
			continue
		}
		if cleartext.Clean(text) != text {
			v.add(string(d.StackPointer()), "", "a text has characters that people do not see: %+q", clip(text, 80))
		}
	}
}
