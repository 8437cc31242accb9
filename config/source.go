package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"github.com/toolpost/toolpost/internal/lazyregexp"
	"github.com/toolpost/toolpost/internal/nesting"
	"github.com/toolpost/toolpost/internal/suggest"
)

// A source is one file being read. It turns offsets into lines and columns,
// and gathers what is wrong.
type source struct {
	name     string
	data     []byte
	problems []Problem
	notes    []Problem // what has no effect; nothing is wrong with it
}

func newSource(name string, data []byte) *source {
	return &source{name: name, data: bytes.TrimPrefix(data, []byte("\ufeff"))}
}

func (s *source) position(offset int) (line, column int) {
	before := s.data[:min(offset, len(s.data))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return 1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(before[start:])
}

// maxProblems is how many mistakes are reported of one file, and how many keys
// without effect.
const maxProblems = 100

// fail reports a mistake. Its text must not hold values of the file: they may be secret.
func (s *source) fail(offset int, format string, args ...any) {
	if len(s.problems) == maxProblems {
		return
	}
	s.problems = append(s.problems, s.problem(offset, format, args...))
}

// note reports something that is right but has no effect.
func (s *source) note(offset int, format string, args ...any) {
	if len(s.notes) == maxProblems {
		return
	}
	p := s.problem(offset, format, args...)
	p.Warning = true
	s.notes = append(s.notes, p)
}

func (s *source) problem(offset int, format string, args ...any) Problem {
	line, column := s.position(offset)
	return Problem{Line: line, Column: column, Message: fmt.Sprintf(format, args...)}
}

// unknown reports a key that is not one of known, in the object at path.
func (s *source) unknown(m *hujson.ObjectMember, path string, known []string) {
	if len(s.problems) < maxProblems {
		s.wrongKey(m, path, fmt.Sprintf("unknown key %q in %s; %s", key(m), path, suggestKey(key(m), known)))
	}
}

// wrongKey reports a key that must not be in the object at path.
func (s *source) wrongKey(m *hujson.ObjectMember, path, message string) {
	if before := len(s.problems); before < maxProblems {
		s.fail(m.Name.StartOffset, "%s", message)
		s.problems[before].Key = path + "." + key(m)
	}
}

// unused reports a key that has no effect, and why.
func (s *source) unused(m *hujson.ObjectMember, path, why string) {
	if before := len(s.notes); before < maxProblems {
		s.note(m.Name.StartOffset, "%s.%s %s", path, key(m), why)
		s.notes[before].Key = path + "." + key(m)
	}
}

const wantShape = `want {"mcpServers": {"name": {"command": "…"}}}`

// root parses the file and returns its object, nil if there is none.
func (s *source) root() *hujson.Object {
	switch {
	case len(bytes.TrimSpace(s.data)) == 0:
		s.fail(0, "the file is empty; "+wantShape)
		return nil
	case !utf8.Valid(s.data):
		s.fail(0, "the file is not UTF-8 text; save it as UTF-8")
		return nil
	}
	if at := nesting.TooDeep(s.data, nesting.SkipJSON); at >= 0 {
		s.fail(at, "the file is nested more than %d levels deep", nesting.MaxDepth)
		return nil
	}
	v, err := hujson.Parse(s.data)
	if err != nil {
		s.syntax(err)
		return nil
	}
	root, ok := v.Value.(*hujson.Object)
	if !ok {
		s.fail(v.StartOffset, "the file is %s; "+wantShape, kind(v))
	}
	return root
}

// isJSON reports whether a file of that name is JSON, and not one of the other
// formats that MCP clients use.
func isJSON(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".toml", ".yaml", ".yml":
		return false
	}
	return true
}

// syntax reports a parse error without the text it stumbled over.
func (s *source) syntax(err error) {
	offset, cause := s.offsetOf(err), err
	if inner := errors.Unwrap(err); inner != nil {
		cause = inner
	}
	switch {
	case s.otherFormat() != "":
		s.fail(offset, "this is %s; a configuration of toolpost is JSON: "+wantShape, s.otherFormat())
	case errors.Is(err, io.ErrUnexpectedEOF):
		s.fail(offset, `not valid JSON: the file ends too early; a }, ] or " is missing`)
	case offset < len(s.data) && s.data[offset] == '\'':
		s.fail(offset, `not valid JSON: write strings in double quotes, not in single quotes`)
	case !strings.Contains(cause.Error(), "invalid literal"):
		s.fail(offset, "not valid JSON: %v", cause)
	case offset < len(s.data) && s.data[offset] == '"':
		s.fail(offset, `not valid JSON: the string has a line break or a bad escape; write \\ for a backslash`)
	default:
		s.fail(offset, `not valid JSON: want a string in double quotes, a number, true, false or null`)
	}
}

// yamlKey and tomlKey match the first line of files in other formats.
var (
	yamlKey = lazyregexp.New(`^(---|[A-Za-z_"'-][\w"'-]*:(\s|$)|- )`)
	tomlKey = lazyregexp.New(`^(\[+[^\]{}":,]+\]+\s*(#.*)?$|[A-Za-z_"'][\w."'-]* *= )`)
)

// otherFormat returns the format of a file that is not JSON, "" if that is not known.
func (s *source) otherFormat() string {
	for line := range bytes.Lines(s.data) {
		switch line = bytes.TrimSpace(line); {
		case len(line) == 0, line[0] == '#':
		case yamlKey.Match(line):
			return "YAML"
		case tomlKey.Match(line):
			return "TOML"
		default:
			return ""
		}
	}
	return ""
}

// offsetOf returns where the parser stopped. The parser says so only in the
// text of its error: the start of the file if that text is another one.
func (s *source) offsetOf(err error) int {
	var line, column int
	if _, scan := fmt.Sscanf(err.Error(), "hujson: line %d, column %d", &line, &column); scan != nil {
		return 0
	}
	start := 0
	for range line - 1 {
		start += bytes.IndexByte(s.data[start:], '\n') + 1
	}
	return min(start+max(column, 1)-1, len(s.data))
}

func kind(v hujson.Value) string {
	switch v.Value.Kind() {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '[':
		return "an array"
	}
	return "an object"
}

func key(m *hujson.ObjectMember) string { return m.Name.Value.(hujson.Literal).String() }

// members calls f for every member of v, an object, and reports names that come twice.
func (s *source) members(v hujson.Value, path string, f func(m *hujson.ObjectMember)) {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		s.fail(v.StartOffset, "%s is %s; want an object", path, kind(v))
		return
	}
	seen := map[string]bool{}
	for i := range o.Members {
		m := &o.Members[i]
		if seen[key(m)] {
			s.fail(m.Name.StartOffset, "%s has the key %q twice; keep one", path, key(m))
			continue
		}
		seen[key(m)] = true
		f(m)
	}
}

func (s *source) text(v hujson.Value, path string) string {
	if v.Value.Kind() != '"' {
		s.fail(v.StartOffset, "%s is %s; want a string", path, kind(v))
		return ""
	}
	return v.Value.(hujson.Literal).String()
}

// scalar is text that may also be written as a number or a boolean.
func (s *source) scalar(v hujson.Value, path string) string {
	l, ok := v.Value.(hujson.Literal)
	if !ok {
		s.fail(v.StartOffset, "%s is %s; want a string", path, kind(v))
	}
	return l.String()
}

func (s *source) boolean(v hujson.Value, path string) bool {
	k := v.Value.Kind()
	if k != 't' && k != 'f' {
		s.fail(v.StartOffset, "%s is %s; want true or false", path, kind(v))
	}
	return k == 't'
}

// each calls f for every element of v, an array.
func (s *source) each(v hujson.Value, path string, f func(v hujson.Value, path string)) {
	a, ok := v.Value.(*hujson.Array)
	if !ok {
		s.fail(v.StartOffset, "%s is %s; want an array", path, kind(v))
		return
	}
	for i, e := range a.Elements {
		f(e, path+"["+strconv.Itoa(i)+"]")
	}
}

func (s *source) texts(v hujson.Value, path string) (all []string) {
	s.each(v, path, func(v hujson.Value, path string) { all = append(all, s.text(v, path)) })
	return all
}

// unlikelySeconds is a number of seconds that may be meant as milliseconds.
const unlikelySeconds = 300

// duration reads "30s" or a number. Numbers are milliseconds, as Claude Code
// and Gemini CLI have it, or below 1000 seconds, as Cline and Roo Code do.
func (s *source) duration(v hujson.Value, path string) time.Duration {
	l, _ := v.Value.(hujson.Literal)
	d, err := time.ParseDuration(l.String())
	if n, e := strconv.ParseFloat(l.String(), 64); e == nil {
		unit := time.Millisecond
		if n < 1000 {
			unit = time.Second
		}
		if d, err = time.Duration(n*float64(unit)), nil; n >= unlikelySeconds && unit == time.Second {
			s.note(v.StartOffset, `%s is %s, because a number below 1000 is in seconds; write %q, or "%sms"`, path, d, d, l)
		}
	}
	if err != nil || d < 0 || d > 1000*time.Hour {
		s.fail(v.StartOffset, `%s is not a duration; write "30s", or a number of milliseconds`, path)
	}
	return d
}

// limit reads a number of at least that.
func limit(s *source, v hujson.Value, path string, least int) int {
	l, _ := v.Value.(hujson.Literal)
	n, err := strconv.ParseInt(l.String(), 10, 32)
	if err != nil || v.Value.Kind() != '0' || n < int64(least) {
		s.fail(v.StartOffset, "%s is not a number from %d to 2147483647", path, least)
	}
	return int(n)
}

// size reads a size that fits into memory.
func size(s *source, v hujson.Value, path string) int {
	l, _ := v.Value.(hujson.Literal)
	n, err := strconv.ParseInt(l.String(), 10, 32)
	if err != nil || v.Value.Kind() != '0' || n < 1 {
		s.fail(v.StartOffset, `%s is not a number of bytes, at most 2147483647`, path)
	}
	return int(n)
}

// suggestKey names the known key nearest to an unknown one, or all of them.
func suggestKey(name string, known []string) string {
	if best := suggest.Nearest(name, known); best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return "known keys are " + strings.Join(known, ", ")
}
