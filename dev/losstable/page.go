package main

import (
	"fmt"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/schema/dialect"
)

const head = `<!-- Written by make update. -->

# Dialects

A dialect describes what one client or model accepts as a tool. Toolpost rewrites tools for it, reports what is lost, and converts the arguments of calls back to the original schema. The [rules](rules/README.md) list the requirements of each dialect with the evidence for them. The dialects themselves are [data](../schema/dialect/targets); a configuration can change them or add its own.

| dialect | for | chosen for clients named | in short |
|---|---|---|---|
`

const chosen = `
## How one is chosen

The [configuration](configuration.md) or the address may name a dialect. Otherwise the gateway chooses one from what the client sends:

- The name and version come from ` + "`clientInfo`" + `. If they are missing there, they come from the HTTP header ` + "`User-Agent`" + `: in ` + "`claude-code/2.1.329 (cli)`" + `, the product before the slash replaces a missing name, and the number after it a missing version of that product.
- The regular expression must match the whole name or user agent; upper and lower case are the same.
- A dialect may apply since a version, before a version, or both. Versions are compared number by number: 2.1.329 gets ` + "`claude-code`" + `, and 2.1.99 gets ` + "`claude-code-2.1.197`" + `. A client with an unknown version is in no range; it gets the dialect for its name alone, or for its user agent.
- If several fit, dialects of the configuration come before built-in ones. Then one that matches the name comes first, then one with a version, then one that matches the user agent.
- Unknown clients get ` + "`mcp`" + `.

What adapting costs is [counted](evidence/losses.md) for 286 tools of real servers, and for others that are odd.
`

const lossHead = `<!-- Written by make update. -->

# What adapting costs

Each tool is adapted to each [dialect](../dialects.md). A cell has the number of tools whose worst loss is of that kind, and in brackets the number of all losses of that kind. From harmless to fatal:

| kind | meaning |
|---|---|
| as is | the tool is sent byte for byte as it was |
| noop | nothing changed in meaning |
| encoded | another shape of exactly the same values; arguments are converted back |
| checked | another shape; the original does not accept some of its values, and the call reports these |
| described | stated in the description, enforced when the tool is called |
| widened | more values are accepted, enforced when the tool is called |
| narrowed | some values can no longer be written |
| dropped | no longer stated, enforced when the tool is called |
| rejected | the tool is withheld |

The last column, strict, is the number of tools for which the reader's strict mode may be switched on.
`

// pages returns the pages by their names in docs.
func pages() (map[string]string, error) {
	all := dialect.All()
	var dialects, losses strings.Builder
	dialects.WriteString(head)
	for _, d := range all {
		fmt.Fprintf(&dialects, "| `%s` | %s | %s | %s |\n", d.ID, cell(d.Title), clients(d), cell(short(d.About)))
	}
	dialects.WriteString(chosen)
	losses.WriteString(lossHead)
	for _, corpus := range []struct {
		title string
		tools func() ([]*toolpost.Tool, error)
	}{
		{"%d tools of real servers", real},
		{"%d tools and schemas that are odd: those known to break clients, of generators, and of public reports", odd},
	} {
		tools, err := corpus.tools()
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&losses, "\n## "+corpus.title+"\n\n", len(tools))
		table(&losses, all, countAll(all, tools))
	}
	return map[string]string{"dialects.md": dialects.String(), "evidence/losses.md": losses.String()}, nil
}

func table(b *strings.Builder, dialects []*dialect.Dialect, tallies []tally) {
	b.WriteString("| dialect | as is |")
	for _, k := range kinds {
		b.WriteString(" " + string(k) + " |")
	}
	b.WriteString(" strict |\n|---|---|" + strings.Repeat("---|", len(kinds)) + "---|\n")
	for i, d := range dialects {
		n := tallies[i]
		fmt.Fprintf(b, "| `%s` | %s |", d.ID, number(n.same))
		for _, k := range kinds {
			cell := number(n.worst[k])
			if n.losses[k] > 0 {
				cell = fmt.Sprintf("%d (%d)", n.worst[k], n.losses[k])
			}
			b.WriteString(" " + cell + " |")
		}
		strict := ""
		if d.HasStrict() {
			strict = fmt.Sprint(n.strict)
		}
		b.WriteString(" " + strict + " |\n")
	}
}

// number leaves out 0, so that the eye finds the others.
func number(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

func clients(d *dialect.Dialect) string {
	var all []string
	for _, c := range d.Clients {
		text := "`" + c.Name + "`"
		if c.Name == "" {
			text = "user agent `" + c.UserAgent + "`"
		}
		if c.Since != "" {
			text += " since " + c.Since
		}
		if c.Before != "" {
			text += " before " + c.Before
		}
		all = append(all, cell(text))
	}
	return strings.Join(all, ", ")
}

// short returns the first sentence.
func short(about string) string {
	first, _, more := strings.Cut(about, ". ")
	if more {
		first += "."
	}
	return first
}

// cell writes text into a cell of a table.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(s)
}
