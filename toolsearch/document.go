package toolsearch

import (
	"encoding/json"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/lazyregexp"
	"github.com/toolpost/toolpost/internal/wire"
)

// A field is a part of a definition. A word counts more in some than in others.
type field int

const (
	fieldName     field = iota
	fieldServer         // the part of the name before "__"
	fieldTitle          // of the definition or of its annotations
	fieldSummary        // the first sentence of the description
	fieldText           // the rest of the description
	fieldArgument       // the names of arguments
	fieldDetail         // the descriptions and values of arguments
	fields
)

// maxWords is how many words of one field are read.
const maxWords = 300

// maxDepth is how deep arguments are read inside arguments.
const maxDepth = 4

// A document is what is indexed of one tool.
type document struct {
	tool    *toolpost.Tool
	retired bool                       // its description says that another tool replaces it
	words   map[string]*[fields]uint16 // how often each word occurs
	lengths [fields]int                // words of each field
}

// deprecation matches descriptions of tools that are kept for old clients only. One that is
// about something deprecated, such as a linter's, does not begin with the word or shout it.
var deprecation = lazyregexp.New(`(?i:^[^\pL]*deprecated\b)|\bDEPRECATED\b|(?i:\b(?:this tool|it) is deprecated\b)`)

// isRetired looks for the word first: the expression took half of the time of an index.
func isRetired(description string) bool {
	return strings.Contains(strings.ToLower(description), "deprecated") && deprecation.MatchString(description)
}

func newDocument(t *toolpost.Tool) *document {
	d := &document{tool: t, retired: isRetired(t.Description), words: map[string]*[fields]uint16{}}
	server, name, ok := strings.Cut(t.Name, "__")
	if !ok {
		server, name = "", t.Name
	}
	eachPart(name, d.adder(fieldName))
	eachPart(server, d.adder(fieldServer))
	eachWord(t.Title, d.adder(fieldTitle))
	eachWord(t.Annotations.Title, d.adder(fieldTitle))
	summary, text := cutSentence(t.Description)
	eachWord(summary, d.adder(fieldSummary))
	eachWord(text, d.adder(fieldText))
	if t.Input != nil {
		d.addArguments(t.Input.Raw(), maxDepth)
	}
	return d
}

func (d *document) adder(f field) func(string) {
	return func(word string) {
		if d.lengths[f] == maxWords {
			return
		}
		d.lengths[f]++
		counts := d.words[word]
		if counts == nil {
			counts = new([fields]uint16)
			d.words[word] = counts
		}
		counts[f]++
	}
}

// addArguments adds the properties of a schema, and those inside them.
func (d *document) addArguments(schema json.RawMessage, depth int) {
	if depth == 0 || !wire.IsObject(schema) {
		return
	}
	for keyword, value := range wire.Members(schema) {
		switch keyword {
		case "properties":
			for name, property := range wire.Members(value) {
				eachPart(name, d.adder(fieldArgument))
				d.addArguments(property, depth-1)
			}
		case "items":
			d.addArguments(value, depth-1)
		case "description":
			eachWord(wire.Unquote(value), d.adder(fieldDetail))
		case "enum":
			for v := range wire.Elements(value) {
				eachPart(wire.Unquote(v), d.adder(fieldDetail))
			}
		}
	}
}

// cutSentence returns the first sentence of a text, and the rest.
func cutSentence(text string) (first, rest string) {
	text = strings.TrimSpace(text[:min(len(text), maxText)])
	for i, r := range text {
		end := r == '\n' || r == '。' || strings.ContainsRune(".!?", r) && (i+1 == len(text) || text[i+1] == ' ' || text[i+1] == '\n')
		if end && i > 20 {
			return text[:i], text[i:]
		}
	}
	return text, ""
}
