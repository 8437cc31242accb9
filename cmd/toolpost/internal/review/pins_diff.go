package review

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/lazyregexp"
	"github.com/toolpost/toolpost/internal/policy/suspect"
	"github.com/toolpost/toolpost/internal/wire"
)

// A definitionChange is the current definition of a tool and the one that was
// pinned.
type definitionChange struct {
	server, tool  string
	before, after json.RawMessage // nil if it is not known
	isNew         bool
	seen          time.Time
}

// writeChange writes the difference for a person who decides about it: every
// changed word, with escapes for invisible characters.
func writeChange(p *terminal.Page, c *definitionChange) {
	what := "changed"
	if c.isNew {
		what = "new"
	}
	if !c.seen.IsZero() {
		what += ", first seen " + c.seen.Local().Format("2006-01-02 15:04")
	}
	p.WriteString(fmt.Sprintf("\n  %s  %s\n", p.Paint("1", plainText(c.tool)), what))
	if c.after == nil || c.before == nil && !c.isNew {
		p.WriteString("    The definitions are too long to be kept, so the change cannot be shown.\n")
		return
	}
	writeFields(p, flatten(c.before), flatten(c.after), func(path, after string) bool {
		return c.isNew && path == "name" && after == string(cli.QuoteJSON(c.tool))
	})
	for _, f := range suspect.Definition(c.after) {
		p.WriteString("    " + p.Paint("31", "warning: this looks like an attack on the model: "+f.String()) + "\n")
	}
}

// writeFields writes the values that differ, by path, but those that skip selects.
func writeFields(p *terminal.Page, before, after map[string]string, skip func(path, after string) bool) {
	for _, path := range slices.Sorted(maps.Keys(merge(before, after))) {
		b, a := before[path], after[path]
		if b == a || skip(path, a) {
			continue
		}
		p.WriteString("    " + plainText(path) + "\n      " + wordDifference(p, terminal.Diff(words(b), words(a))) + "\n")
	}
}

func merge(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// flatten returns the values of a definition that hold no others, by path, as JSON.
func flatten(raw json.RawMessage) map[string]string {
	values := map[string]string{}
	if raw != nil {
		flattenInto(values, "", raw)
	}
	return values
}

func flattenInto(values map[string]string, path string, raw json.RawMessage) {
	leaf := true
	times := map[string]int{}
	for name, value := range wire.Members(raw) {
		leaf = false
		at := memberPath(path, name)
		if times[name]++; times[name] > 1 { // readers differ in which one they take
			at = fmt.Sprintf("%s (%d)", at, times[name])
		}
		flattenInto(values, at, value)
	}
	if strings.Contains(string(raw), "{") {
		i := 0
		for value := range wire.Elements(raw) {
			leaf = false
			flattenInto(values, fmt.Sprintf("%s[%d]", path, i), value)
			i++
		}
	}
	if leaf {
		values[path] = string(raw)
	}
}

var plainName = lazyregexp.New(`^[A-Za-z0-9_$-]+$`)

// memberPath returns the path of a member; no two members have the same.
func memberPath(path, name string) string {
	if !plainName.MatchString(name) {
		return fmt.Sprintf("%s[%q]", path, name)
	}
	return strings.TrimPrefix(path+"."+name, ".")
}

var wordPattern = lazyregexp.New(`\s+|[.,;:!?]+|[^\s.,;:!?]+`)

// words breaks a value into words and what is between them.
func words(value string) []string {
	var text string
	if strings.HasPrefix(value, `"`) && json.Unmarshal([]byte(value), &text) == nil {
		return append(append([]string{`"`}, wordPattern.FindAllString(text, -1)...), `"`)
	}
	return wordPattern.FindAllString(value, -1)
}

// sameWords is how many words and spaces stay around a change.
const sameWords = 12

// wordDifference returns a difference as one line: [-removed-] and {+added+}.
func wordDifference(p *terminal.Page, lines []terminal.Line) string {
	var b strings.Builder
	for i := 0; i < len(lines); {
		mark, start := lines[i].Mark, i
		for i < len(lines) && lines[i].Mark == mark {
			i++
		}
		run := lines[start:i]
		switch mark {
		case '-':
			b.WriteString(p.Paint("31", "[-"+textOf(run)+"-]"))
		case '+':
			b.WriteString(p.Paint("32", "{+"+textOf(run)+"+}"))
		default:
			b.WriteString(shorten(run, start > 0, i < len(lines)))
		}
	}
	return b.String()
}

// shorten returns words that are the same, without those that are far from a
// change before or after them.
func shorten(run []terminal.Line, changeBefore, changeAfter bool) string {
	begin, end := 0, 0
	if changeBefore {
		begin = sameWords
	}
	if changeAfter {
		end = sameWords
	}
	if len(run) <= begin+end+1 {
		return textOf(run)
	}
	return textOf(run[:begin]) + " … " + textOf(run[len(run)-end:])
}

func textOf(run []terminal.Line) string {
	var b strings.Builder
	for _, l := range run {
		if l.Mark == '-' {
			b.WriteString(l.Before)
		} else {
			b.WriteString(l.After)
		}
	}
	return plainText(b.String())
}

// plainText returns foreign text so that every character of it can be seen, and
// none looks like the mark of a change.
func plainText(s string) string {
	marks := strings.NewReplacer("[-", `[\-`, "-]", `-\]`, "{+", `{\+`, "+}", `+\}`)
	return cleartext.Escape(marks.Replace(s))
}
