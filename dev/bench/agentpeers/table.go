package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime/debug"
	"strings"
)

// adkGo is a library whose versions the Go proxy does not list.
const adkGo = "google.golang.org/adk"

func table(all []*report) string {
	var b strings.Builder
	row := func(label string, cell func(r *report) string) {
		b.WriteString("| " + label + " |")
		for _, r := range all {
			b.WriteString(" " + cell(r) + " |")
		}
		b.WriteString("\n")
	}
	row("", title)
	b.WriteString(strings.Repeat("|---", len(all)+1) + "|\n")
	for i, label := range []string{"two parallel calls, then an answer", "a structured answer after a call", "four writing calls, killed and started again"} {
		row(label+": lines of code", func(r *report) string { return fmt.Sprint(r.code[tasks()[i]].lines) })
		row("… exported names needed", func(r *report) string { return fmt.Sprint(r.code[tasks()[i]].names) })
	}
	row("parallel calls run at the same time", func(r *report) string { return yes(r.atOnce) })
	row("the model receives the schema of the answer as", func(r *report) string { return or(r.schema, "nothing") })
	row("tokens in the result", tokens)
	row("money in the result", func(r *report) string { return or(r.shown.Money, "no") })
	for _, c := range []struct {
		label string
		of    func(r *report) *crash
	}{
		{"after its write", func(r *report) *crash { return r.after }},
		{"before its write", func(r *report) *crash { return r.before }},
	} {
		row("killed in the third call, "+c.label+": lines in the file", func(r *report) string { return strings.Join(c.of(r).lines, " ") })
		row("… calls that took effect twice", func(r *report) string { return or(strings.Join(c.of(r).twice(), ", "), "none") })
		row("… calls that were lost", func(r *report) string { return or(strings.Join(c.of(r).lost(), ", "), "none") })
		row("… the run ends with the answer", func(r *report) string { return finished(c.of(r)) })
		row("… requests to the model, those before the crash included", func(r *report) string { return fmt.Sprint(c.of(r).requests) })
	}
	b.WriteString("| `" + adkGo + "` | " + availability() + strings.Repeat(" |", len(all)) + "\n")
	return b.String()
}

func title(r *report) string {
	info, ok := debug.ReadBuildInfo()
	if ok {
		for _, m := range info.Deps {
			if m.Path == r.library.module {
				return r.library.title + " " + m.Version
			}
		}
	}
	return r.library.title
}

func tokens(r *report) string {
	if r.shown.Tokens == r.used {
		return fmt.Sprintf("all %d", r.used)
	}
	return fmt.Sprintf("%d of %d", r.shown.Tokens, r.used)
}

func finished(c *crash) string {
	if c.ended.Text == crashAnswer {
		return "yes"
	}
	return "no: " + or(c.ended.Err, c.ended.Text)
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

var status = regexp.MustCompile(`\b[45][0-9][0-9] [A-Z][A-Za-z ]*`)

// availability asks the Go proxy for the versions of adkGo.
func availability() string {
	cmd := exec.Command("go", "list", "-m", "-versions", adkGo)
	cmd.Dir = os.TempDir() // outside of this module
	out, err := cmd.CombinedOutput()
	if err == nil {
		return fmt.Sprintf("not compared; `%s` lists %s", strings.Join(cmd.Args, " "), strings.TrimSpace(strings.TrimPrefix(string(out), adkGo)))
	}
	return fmt.Sprintf("not available: `%s` answers %s", strings.Join(cmd.Args, " "), or(status.FindString(string(out)), "with an error"))
}
