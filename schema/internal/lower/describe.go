package lower

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/schema/internal/form"
)

// maxDescribed is the longest keyword value, in bytes, that is put into words.
const maxDescribed = 240

// constrain writes a keyword if it is accepted; otherwise it describes it.
func constrain(l *lowering, n *node, at, keyword string, value json.RawMessage, sentence string) {
	if l.allows(keyword) {
		n.set(keyword, value)
		return
	}
	describe(l, n, at, keyword, sentence)
}

// describe states the meaning of a keyword in the description.
func describe(l *lowering, n *node, at, keyword, sentence string) {
	if sentence == "" {
		l.lose(Dropped, at, keyword, notStated)
		return
	}
	n.addSentence(sentence)
	l.lose(Described, at, keyword, "stated in the description: %s", sentence)
}

// addSentence adds a sentence to a text.
func addSentence(text, sentence string) string {
	text = strings.TrimRight(text, " \n\t")
	ended := slices.ContainsFunc([]string{".", "!", "?", "。", ":"}, func(end string) bool { return strings.HasSuffix(text, end) })
	switch {
	case text == "":
		return sentence
	case ended:
		return text + " " + sentence
	}
	return text + ". " + sentence
}

// plainValue is a value as a person writes it in a sentence.
func plainValue(value json.RawMessage) string {
	if s, ok := unquote(value); ok && s != "" && !strings.ContainsAny(s, "\n\"") {
		return s
	}
	return string(value)
}

// orList is "a", "a or b", "a, b or c".
func orList(words []string) string {
	last := len(words) - 1
	if last <= 0 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// writeRest writes the keywords that the form cannot say.
func writeRest(l *lowering, f *form.Form, n *node, c codec) {
	apart := c != nil || n.get("anyOf") != nil && l.rules.Union.Siblings != nil
	for _, k := range f.Rest {
		switch {
		case k.Name == "additionalProperties" && f.Keeps("patternProperties") && !l.allows("patternProperties"):
			l.lose(Widened, k.At, k.Name, "other members are not excluded, because patternProperties allows some")
		case !apart && n.get(k.Name) == nil && l.wholeFits(k) && !(f.At == "" && l.rules.Root.NoUnion && isUnion(k.Name)):
			n.set(k.Name, k.Value)
		default:
			describe(l, n, k.At, k.Name, restSentence(k))
		}
	}
}

func isUnion(keyword string) bool {
	return slices.Contains([]string{"anyOf", "oneOf", "allOf", "not"}, keyword)
}

// restSentence puts a keyword into words, "" if it is too long for that.
func restSentence(k form.Keyword) string {
	if s := requiredSentence(k); s != "" {
		return s
	}
	if len(k.Value) > maxDescribed {
		return ""
	}
	switch k.Name {
	case "patternProperties":
		return "The names of other members match patterns: " + string(k.Value) + "."
	case "uniqueItems":
		return "No duplicate items."
	}
	return "Must also hold: " + k.Name + " " + string(k.Value) + "."
}

// requiredSentence describes alternatives of required members.
func requiredSentence(k form.Keyword) string {
	if k.Name != "anyOf" && k.Name != "oneOf" {
		return ""
	}
	var list []map[string]json.RawMessage
	if json.Unmarshal(k.Value, &list) != nil {
		return ""
	}
	var choices []string
	for _, branch := range list {
		var need []string
		if len(branch) != 1 || json.Unmarshal(branch["required"], &need) != nil || len(need) == 0 {
			return ""
		}
		choices = append(choices, strings.Join(need, " with "))
	}
	if k.Name == "oneOf" {
		return "Give exactly one of these: " + strings.Join(choices, "; ") + "."
	}
	return "Give at least one of these: " + strings.Join(choices, "; ") + "."
}
