package stdtool

import (
	"bufio"
	"context"
	_ "embed" // for the description
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
)

//go:embed grep.md
var grepDescription string

const maxGrepLine = 400 // bytes of one line that are shown, around its match

type grepInput struct {
	Pattern         string `json:"pattern" jsonschema:"minLength=1,description=Regular expression"`
	Path            string `json:"path,omitempty" jsonschema:"description=File or directory to search; the whole served folder if left out"`
	Glob            string `json:"glob,omitempty" jsonschema:"description=Only files that match; a pattern without a slash matches the file name"`
	CaseInsensitive bool   `json:"case_insensitive,omitempty" jsonschema:"description=Ignore the difference between upper and lower case"`
	Context         int    `json:"context,omitempty" jsonschema:"minimum=0,maximum=20,description=Lines to show before and after each match"`
	MaxMatches      int    `json:"max_matches,omitempty" jsonschema:"minimum=1,maximum=10000,default=100,description=Number of matching lines to return"`
}

// Grep returns the tool grep: lines that match a regular expression.
func Grep(root *os.Root) *toolpost.Tool {
	return toolpost.New("grep", description(grepDescription), func(ctx context.Context, in grepInput) (string, error) {
		s, err := newSearch(root, in)
		if err != nil {
			return "", err
		}
		dir, err := local(in.Path)
		if err != nil {
			return "", err
		}
		late, err := walk(ctx, root, dir, func(ctx context.Context, name string, d fs.DirEntry) error {
			if d.IsDir() || !d.Type().IsRegular() || !s.wanted(below(dir, name)) {
				return nil
			}
			if err := s.file(ctx, name); err != nil {
				return err
			}
			if s.full {
				return errLimit
			}
			return nil
		})
		if err != nil {
			return "", err
		}
		return s.text(late), nil
	}, readOnly("Search in files"))
}

// A search is one run of grep.
type search struct {
	root    *os.Root
	re      *regexp.Regexp
	glob    pattern // nil means all
	context int
	left    int // matches that may still be shown
	full    bool
	files   int
	skipped int // binary or unreadable
	out     strings.Builder

	// Of the file that is searched:
	before []string // lines that were not shown, as context of a match to come
	after  int      // lines that are still to be shown, as context of the last match
	shown  int      // number of the last line that was shown
}

func newSearch(root *os.Root, in grepInput) (*search, error) {
	expr := in.Pattern
	if in.CaseInsensitive {
		expr = "(?i)" + expr
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, toolpost.Retry("pattern %q is not a regular expression of RE2: %v", in.Pattern, err)
	}
	s := &search{root: root, re: re, context: in.Context, left: in.MaxMatches}
	if in.Glob == "" {
		return s, nil
	}
	if !strings.Contains(in.Glob, "/") {
		in.Glob = "**/" + in.Glob
	}
	s.glob, err = parsePattern(in.Glob)
	return s, err
}

func (s *search) wanted(name string) bool {
	if s.glob == nil {
		return true
	}
	full, _ := s.glob.match(name)
	return full
}

// file searches one file. Only the end of the call is an error.
func (s *search) file(ctx context.Context, name string) error {
	f, err := openFile(s.root, name)
	if err != nil {
		s.skipped++
		return nil
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 64<<10)
	if head, err := r.Peek(8000); err != nil && err != io.EOF || binary(head) {
		s.skipped++
		return nil
	}
	s.files++
	err = s.lines(ctx, r, strings.ToValidUTF8(name, "\uFFFD"))
	if err != nil && ctx.Err() == nil {
		s.skipped++
		return nil
	}
	return err
}

func (s *search) lines(ctx context.Context, r *bufio.Reader, name string) error {
	s.before, s.after, s.shown = nil, 0, 0
	for l, err := range lines(r) {
		if err == nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		if s.line(name, l); s.full || s.out.Len() > maxOutput {
			s.full = true
			return nil
		}
	}
	return nil
}

// line shows l if it matches, or if it is context of a match.
func (s *search) line(name string, l line) {
	at := s.re.FindIndex(l.text)
	switch {
	case at != nil && s.left == 0:
		s.full = true
	case at != nil:
		if s.context > 0 && s.out.Len() > 0 && s.shown != l.number-len(s.before)-1 {
			s.out.WriteString("--\n")
		}
		s.out.WriteString(strings.Join(s.before, ""))
		fmt.Fprintf(&s.out, "%s:%d: %s\n", name, l.number, clip(l.text, at[0], maxGrepLine))
		s.before, s.after, s.shown = nil, s.context, l.number
		s.left--
	case s.after > 0:
		s.out.WriteString(contextLine(name, l))
		s.after, s.shown = s.after-1, l.number
	case s.context > 0:
		s.before = append(slices.Delete(s.before, 0, max(0, len(s.before)+1-s.context)), contextLine(name, l))
	}
}

func contextLine(name string, l line) string {
	return fmt.Sprintf("%s-%d- %s\n", name, l.number, clip(l.text, 0, maxGrepLine))
}

func (s *search) text(late bool) string {
	switch {
	case late:
		s.out.WriteString(lateNote())
	case s.full:
		s.out.WriteString("\n[there are more matches: narrow the pattern, path or glob]\n")
	case s.out.Len() == 0:
		fmt.Fprintf(&s.out, "[no line matches in %d files]", s.files)
	}
	if s.skipped > 0 {
		fmt.Fprintf(&s.out, "\n[%d binary or unreadable files were skipped]\n", s.skipped)
	}
	return s.out.String()
}
