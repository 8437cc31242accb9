package stdtool

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/grep"
	"github.com/toolpost/toolpost/internal/lazyregexp"
	"github.com/toolpost/toolpost/stdtool/internal/encodings"
)

const maxGrepLine = 400 // characters of one line that are shown, around its match

type grepInput struct {
	Pattern         string `json:"pattern" jsonschema:"minLength=1,maxLength=10000"`
	Path            string `json:"path,omitempty" jsonschema:"maxLength=4096,description=File or directory; default is the served folder"`
	Mode            string `json:"mode,omitempty" jsonschema:"enum=content,enum=files,enum=count,default=content"`
	Glob            string `json:"glob,omitempty" jsonschema:"maxLength=1000,description=Only files that match; by name without a slash"`
	Type            string `json:"type,omitempty" jsonschema:"maxLength=20,description=File type such as go or py"`
	Literal         bool   `json:"literal,omitempty" jsonschema:"description=Pattern is plain text"`
	CaseInsensitive bool   `json:"case_insensitive,omitempty"`
	Context         int    `json:"context,omitempty" jsonschema:"minimum=0,maximum=20,description=Lines around each match"`
	Ignored         bool   `json:"ignored,omitempty" jsonschema:"description=Also what .gitignore excludes"`
	MaxMatches      int    `json:"max_matches,omitempty" jsonschema:"minimum=1,maximum=10000,default=100,description=Lines or files to return"`
	Encoding        string `json:"encoding,omitempty" jsonschema:"maxLength=40"`
}

// Grep returns the tool grep: lines that match a regular expression.
func (f *Workspace) Grep() *toolpost.Tool {
	return newTool("grep", func(ctx context.Context, in grepInput) (string, error) {
		s, err := newSearch(in)
		if err != nil {
			return "", err
		}
		dir, err := localPath(f.root, in.Path)
		if err != nil {
			return "", err
		}
		late, err := s.run(ctx, f.root, dir)
		if err != nil {
			return "", err
		}
		return s.text(late), nil
	}, pagedOptions("Search in files"))
}

// A search is one run of grep.
type search struct {
	grepInput
	compiled *grep.Pattern
	filters  []filter
	limits   *grep.Limits
	legacy   *encodings.Encoding // of files that are not Unicode; nil if it is not known

	beyondASCII bool // the pattern has such characters

	left    int // lines or files that may still be shown
	full    bool
	files   int   // searched
	skipped int   // binary or unreadable
	foreign int   // searched as bytes, although they are not UTF-8
	matches int64 // lines that match
	out     strings.Builder
}

func newSearch(in grepInput) (*search, error) {
	p, err := grep.Compile(in.Pattern, &grep.Options{Literal: in.Literal, IgnoreCase: in.CaseInsensitive})
	if err != nil {
		return nil, toolpost.Retry.Errorf("%v", err)
	}
	s := &search{grepInput: in, compiled: p, left: in.MaxMatches}
	s.beyondASCII = strings.ContainsFunc(in.Pattern, func(r rune) bool { return r >= utf8.RuneSelf })
	if in.Encoding != "" {
		if s.legacy, err = encodingByName(in.Encoding); err != nil {
			return nil, err
		}
	}
	switch in.Mode {
	case "files":
		s.limits = &grep.Limits{Matches: -1, First: true}
	case "count":
		s.limits = &grep.Limits{Matches: -1}
	default:
		s.limits = &grep.Limits{Matches: in.MaxMatches, Before: in.Context, After: in.Context, Line: maxGrepLine, Bytes: maxOutput}
	}
	if err := s.filter(in.Glob); err != nil {
		return nil, err
	}
	if in.Type == "" {
		return s, nil
	}
	glob, err := typeGlob(in.Type)
	if err != nil {
		return nil, err
	}
	return s, s.filter(glob)
}

// A filter leaves out files that its pattern does not match or, if it is
// negated, files that it matches.
type filter struct {
	pattern
	negated bool
}

// filter adds the filter that glob describes: !*_test.go leaves out what matches,
// and sub/ matches what is in sub.
func (s *search) filter(glob string) error {
	if glob == "" {
		return nil
	}
	glob, negated := strings.CutPrefix(glob, "!")
	if inner, ok := strings.CutSuffix(glob, "/"); ok {
		glob = inner + "/**"
	} else if !strings.Contains(glob, "/") {
		glob = "**/" + glob
	}
	p, err := parsePattern(glob)
	s.filters = append(s.filters, filter{p, negated})
	return err
}

func (s *search) selects(name string) bool {
	for _, f := range s.filters {
		if full, _ := f.match(name, false); full == f.negated {
			return false
		}
	}
	return true
}

// add shows what was found in a file.
func (s *search) add(f *fileResult) {
	if f.result == nil {
		s.skipped++
		return
	}
	s.files++
	if f.foreign {
		s.foreign++
	}
	s.matches += f.result.Matches
	name := printable(f.name)
	switch {
	case f.result.Matches == 0 || s.full:
	case s.Mode != "content" && s.left == 0:
		s.full = true
	case s.Mode == "files":
		s.out.WriteString(name + "\n")
		s.left--
	case s.Mode == "count":
		fmt.Fprintf(&s.out, "%s: %d\n", name, f.result.Matches)
		s.left--
	default:
		s.lines(name, f.result)
	}
	s.full = s.full || s.out.Len() > maxOutput
}

func (s *search) lines(name string, r *grep.Result) {
	last := int64(-1) // so that files are apart, too
	for _, l := range r.Lines {
		if l.Match && s.left == 0 || s.out.Len() > maxOutput {
			s.full = true
			return
		}
		if s.Context > 0 && s.out.Len() > 0 && l.Number != last+1 {
			s.out.WriteString("--\n")
		}
		last = l.Number
		text := lineText(l)
		if l.Match {
			s.left--
			fmt.Fprintf(&s.out, "%s:%d: %s\n", name, l.Number, text)
		} else {
			fmt.Fprintf(&s.out, "%s-%d- %s\n", name, l.Number, text)
		}
	}
	s.full = s.full || r.Cut != ""
}

// lineText returns the text of a line, with marks where it was cut.
func lineText(l grep.Line) string {
	text := strings.ToValidUTF8(l.Text, "\uFFFD")
	if l.Before > 0 {
		text = "…" + text
	}
	if l.After > 0 {
		text += "…"
	}
	return text
}

// foreignSyntax finds what other programs take for operators, and RE2 does not.
var foreignSyntax = lazyregexp.New(`\\[<>|+(){}?]`)

// explainNothing explains why there is no match.
func (s *search) explainNothing() string {
	note := fmt.Sprintf("[no matches in %d files", s.files)
	if s.files+s.skipped == 0 {
		note = "[no file was searched"
		if s.Glob != "" {
			note += fmt.Sprintf(": no file matches glob %q; a glob is relative to path and must match files, such as *.go, src/** or *.{ts,tsx}", s.Glob)
		}
		if !s.Ignored {
			note += "; set ignored to search files that .gitignore excludes"
		}
		return note + "]"
	}
	if op := foreignSyntax.FindString(s.Pattern); op != "" && !s.Literal {
		note += fmt.Sprintf("; in RE2 syntax %s is a plain character: the operators | ( ) + ? { } need no backslash, and a word boundary is \\b", op)
	}
	if strings.Contains(s.Pattern, `[\s\S]`) || strings.Contains(s.Pattern, `[\n`) {
		note += "; a match cannot span lines"
	}
	return note + "]"
}

func (s *search) text(late bool) string {
	if s.Mode == "count" && s.matches > 0 && !s.full {
		fmt.Fprintf(&s.out, "[%d lines match]\n", s.matches)
	}
	switch {
	case late:
		s.out.WriteString(lateNote())
	case s.full:
		s.out.WriteString("\n[there are more matches: narrow the pattern, path or glob]\n")
	case s.out.Len() == 0:
		s.out.WriteString(s.explainNothing())
	}
	if s.skipped > 0 {
		fmt.Fprintf(&s.out, "\n[%d binary or unreadable files were skipped]\n", s.skipped)
	}
	if s.foreign > 0 {
		fmt.Fprintf(&s.out, "\n[%d files are not UTF-8 and were searched as bytes: only ASCII is found in them and shown; give encoding]\n", s.foreign)
	}
	return s.out.String()
}
