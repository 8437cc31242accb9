package lint

import (
	"fmt"
	"io"
	"strings"
)

// oneLine describes a problem in one line, for formats that show it in a place.
func (p *problem) oneLine() string {
	text := p.message()
	if p.name != "" {
		text = fmt.Sprintf("tool %q: %s", p.name, text)
	}
	if p.pointer != "" {
		text += " (" + p.where() + ")"
	}
	text += "."
	for _, hits := range p.byEffect() {
		var who []string
		for _, h := range hits {
			who = append(who, h.target.ID)
		}
		text += fmt.Sprintf(" %s: %s.", strings.Join(who, ", "), hits[0].Effect)
	}
	return text + " " + p.rule.Fix
}

// writeGitHub writes workflow commands of GitHub Actions.
func writeGitHub(w io.Writer, r *Report, _ *Options) error {
	commands := [...]string{"error", "warning", "notice"}
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	for _, p := range r.problems {
		place := ""
		if at, ok := r.spot(p); ok {
			place = fmt.Sprintf("file=%s,line=%d,endLine=%d,", property.Replace(r.File.Path), at.line, at.endLine)
			if at.line == at.endLine {
				place += fmt.Sprintf("col=%d,endColumn=%d,", at.column, at.endColumn)
			}
		}
		_, err := fmt.Fprintf(w, "::%s %stitle=%s::%s\n", commands[p.level()], place, property.Replace(p.rule.Name), data.Replace(p.oneLine()))
		if err != nil {
			return err
		}
	}
	return nil
}
