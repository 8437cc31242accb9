// Package man makes manual pages out of the help of the program. It reads the help instead
// of the commands: those are in a package main, which nothing can import.
package man

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"
)

// A Page is the manual page of one command.
type Page struct {
	Name string // of the file, such as toolpost-serve.1
	Text []byte
}

// Pages returns the pages of a program and of all its commands. Help runs the program with
// arguments and returns what it prints.
func Pages(program, summary string, released time.Time, help func(args ...string) (string, error)) ([]Page, error) {
	w := &writer{date: released.UTC().Format(time.DateOnly), help: help}
	err := w.add([]string{program}, summary)
	return w.pages, err
}

// A writer collects the pages of a program.
type writer struct {
	date  string
	help  func(args ...string) (string, error)
	pages []Page
}

// add adds the page of a command, and those of the commands below it.
func (w *writer) add(path []string, summary string) error {
	text, err := w.help(append([]string{"help"}, path[1:]...)...)
	if err != nil {
		return fmt.Errorf("read the help of %s: %w", strings.Join(path, " "), err)
	}
	name := strings.Join(path, "-")
	h := parse(text)
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 %s\n.nh\n.ad l\n.SH NAME\n%s \\- %s\n", strings.ToUpper(name), w.date, escape(name), escape(summary))
	if h.usage != "" {
		fmt.Fprintf(&b, ".SH SYNOPSIS\n.nf\n%s.fi\n", plain(h.usage))
	}
	b.WriteString(".SH DESCRIPTION\n" + describe(h.about))
	if h.examples != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s.fi\n", plain(h.examples))
	}
	if len(h.flags) > 0 {
		b.WriteString(".SH OPTIONS\n")
	}
	for _, f := range h.flags {
		fmt.Fprintf(&b, ".TP\n\\fB%s\\fR\n%s\n", escape(f.name), line(f.text))
	}
	if len(h.commands) > 0 {
		b.WriteString(".SH COMMANDS\n")
	}
	for _, c := range h.commands {
		fmt.Fprintf(&b, ".TP\n\\fB%s\\fR(1)\n%s\n", escape(name+"-"+c.name), line(c.text))
	}
	if len(path) > 1 {
		fmt.Fprintf(&b, ".SH SEE ALSO\n\\fB%s\\fR(1)\n", escape(strings.Join(path[:len(path)-1], "-")))
	}
	w.pages = append(w.pages, Page{name + ".1", []byte(b.String())})
	for _, c := range h.commands {
		if err := w.add(append(path[:len(path):len(path)], c.name), c.text); err != nil {
			return err
		}
	}
	return nil
}

// A help is what the help of a command says.
type help struct {
	about, usage, examples string
	flags, commands        []entry
}

// An entry is a flag or a command.
type entry struct{ name, text string }

var (
	heading      = regexp.MustCompile(`^[A-Z][A-Za-z ]*:$`)
	flagLine     = regexp.MustCompile(`^ {2,6}(-.*?)(?: {2,}(.*))?$`)
	commandLine  = regexp.MustCompile(`^  (?:[a-z]+ )?([a-z][a-z-]*) {2,}(.*)$`)
	continuation = regexp.MustCompile(`^ {8,}(.*)$`)
)

// parse splits a help into its sections.
func parse(text string) *help {
	h := &help{}
	section := ""
	for _, l := range strings.Split(strings.TrimSpace(text), "\n") {
		if section != "" && strings.HasPrefix(l, "Use \"") {
			break
		}
		if heading.MatchString(l) && (section != "" || l == "Usage:") {
			section = l
			continue
		}
		h.add(section, l)
	}
	h.usage, h.examples = strings.TrimSpace(h.usage), strings.TrimRight(h.examples, "\n")
	return h
}

// add adds a line of a section; "" is the text at the beginning.
func (h *help) add(section, l string) {
	switch section {
	case "":
		h.about += l + "\n"
	case "Usage:":
		h.usage += strings.TrimPrefix(l, "  ") + "\n"
	case "Examples:":
		h.examples += strings.TrimPrefix(l, "  ") + "\n"
	case "Aliases:":
	case "Flags:", "Global Flags:":
		h.addFlag(l)
	default: // a group of commands
		if m := commandLine.FindStringSubmatch(l); m != nil && m[1] != "help" {
			h.commands = append(h.commands, entry{m[1], m[2]})
		}
	}
}

// addFlag adds a line about a flag, or one that goes on with it.
func (h *help) addFlag(l string) {
	if m := flagLine.FindStringSubmatch(l); m != nil {
		h.flags = append(h.flags, entry{m[1], m[2]})
	} else if m := continuation.FindStringSubmatch(l); m != nil && len(h.flags) > 0 {
		last := &h.flags[len(h.flags)-1]
		last.text = strings.TrimSpace(last.text + " " + m[1])
	}
}

// describe writes paragraphs, and leaves lines as they are in those with indented ones.
func describe(text string) string {
	var b strings.Builder
	for i, paragraph := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		if strings.Contains("\n"+paragraph, "\n ") {
			fmt.Fprintf(&b, ".nf\n%s.fi\n", plain(paragraph))
			continue
		}
		b.WriteString(plain(paragraph))
	}
	return b.String()
}

// plain writes lines of text.
func plain(text string) string {
	var b strings.Builder
	for _, l := range strings.Split(text, "\n") {
		b.WriteString(line(l) + "\n")
	}
	return b.String()
}

// line writes a line, which is no request even if it begins with a dot or an apostrophe.
func line(text string) string { return `\&` + escape(text) }

// escape writes text as troff reads it, which need not know UTF-8.
func escape(text string) string {
	var b strings.Builder
	for _, r := range strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text) {
		if r > unicode.MaxASCII {
			fmt.Fprintf(&b, `\[u%04X]`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
