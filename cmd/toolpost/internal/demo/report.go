package demo

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/usage"
)

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// describe returns a sentence about the folder.
func (s *survey) describe() string {
	if s.files == 0 {
		return "The folder is empty."
	}
	are := "There are"
	if s.files == 1 {
		are = "There is"
	}
	return fmt.Sprintf("%s %s and %s.", are, count(s.files, "file", "files"), count(s.folders, "folder", "folders"))
}

// kindTable is a table of the most frequent kinds of files.
func (s *survey) kindTable() string {
	const most = 6
	kinds := slices.SortedFunc(maps.Keys(s.kinds), func(a, b string) int {
		return cmp.Or(s.kinds[b]-s.kinds[a], strings.Compare(a, b))
	})
	var b strings.Builder
	b.WriteString("| kind | files |\n|---|---:|\n")
	for i, k := range kinds {
		if i == most {
			fmt.Fprintf(&b, "| %s more | |\n", count(len(kinds)-most, "kind", "kinds"))
			break
		}
		fmt.Fprintf(&b, "| `%s` | %d |\n", k, s.kinds[k])
	}
	return b.String()
}

// title returns the heading of the file that was read, "" if there is none.
func (p *past) title() string {
	for _, f := range p.results["read"] {
		for line := range strings.Lines(f.text) {
			_, text, numbered := strings.Cut(strings.TrimSpace(line), "  ")
			if heading, ok := strings.CutPrefix(strings.TrimSpace(text), "# "); numbered && ok && !f.failed {
				return heading
			}
		}
	}
	return ""
}

// marks returns how many lines grep counted, and in how many files.
func (p *past) marks() (lines, files int) {
	for _, f := range p.results["grep"] {
		for line := range strings.Lines(f.text) {
			at := strings.LastIndex(line, ":")
			if n, err := strconv.Atoi(strings.TrimSpace(line[at+1:])); at > 0 && err == nil && !f.failed {
				lines += n
				files++
			}
		}
	}
	return lines, files
}

// findings are the sentences of the report and of the answer.
func (s *survey) findings(p *past) string {
	all := []string{s.describe()}
	if title := p.title(); title != "" {
		all = append(all, fmt.Sprintf("It seems to be about **%s**.", title))
	}
	if len(p.results["grep"]) > 0 {
		lines, files := p.marks()
		if lines == 0 {
			all = append(all, "No line says TODO or FIXME.")
		} else {
			all = append(all, fmt.Sprintf("TODO or FIXME: %s in %s.", count(lines, "line", "lines"), count(files, "file", "files")))
		}
	}
	return strings.Join(all, " ")
}

// report is the content of the file.
func (s *survey) report(p *past) string {
	text := "# About this folder\n\n" + s.findings(p) + "\n"
	if s.files > 0 {
		text += "\n" + s.kindTable()
	}
	return text + "\nWritten by `--model demo` of toolpost, a script that needs no key.\n"
}

// answer is the last message.
func answer(s *survey, p *past) string {
	text := "## What I found\n\n" + s.findings(p) + "\n"
	if s.files > 0 {
		text += "\n" + s.kindTable()
	}
	switch written := p.results["write"]; {
	case written == nil:
		text += "\nA tool to write a report is missing.\n"
	case written[0].failed:
		text += "\n" + Report + " was **not** written: " + reason(written[0].text) + "\n"
	default:
		text += "\nThe report is in `" + Report + "`.\n"
	}
	return text + "\n### What real models would cost\n\n" + "For about " + terminal.Thousands(p.used.Input) + " tokens read and " + terminal.Thousands(p.used.Output) + " written, without a cache:\n\n" + costTable(p.used) +
		"\n1. Set `ANTHROPIC_API_KEY`, `OPENAI_API_KEY` or `GEMINI_API_KEY`.\n2. Run this command again without `--model demo`.\n"
}

// reason is the first sentence of an error.
func reason(text string) string {
	text, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimSpace(text), "Error executing tool: "), "\n")
	if end := strings.Index(text, ". "); end > 0 {
		text = text[:end]
	}
	return strings.TrimSuffix(text, ".") + "."
}

// costTable is a table of what the tokens would cost.
func costTable(used usage.Tokens) string {
	var b strings.Builder
	b.WriteString("| model | this task |\n|---|---:|\n")
	for _, m := range [][2]string{{"anthropic", "claude-opus-5-5"}, {"anthropic", "claude-haiku-5-5"}, {"openai", "gpt-6.2-sol"}, {"gemini", "gemini-4-hydrogen"}} {
		cost, known := usage.Default().Find(m[0], m[1]).Cost(used)
		if known {
			fmt.Fprintf(&b, "| %s/%s | %v |\n", m[0], m[1], cost)
		}
	}
	return b.String()
}
