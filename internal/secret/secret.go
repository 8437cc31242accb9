// Package secret finds secrets in configurations and hides them in texts.
package secret

import (
	"net/url"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/lazyregexp"
	"github.com/toolpost/toolpost/internal/wire"
)

// Shorter values are flags and parts of words: they would be found everywhere.
const (
	shortest     = 6
	shortestLine = 8 // of a value that has several lines
)

// Replacer returns a replacer that puts mark in place of the values, also as
// they are written in addresses and in JSON, and in place of the lines of a
// value such as a private key, because logs contain them one by one.
func Replacer(mark string, values ...string) *strings.Replacer {
	var forms []string
	for _, v := range values {
		if len(v) < shortest {
			continue
		}
		quoted := wire.Quote(v)
		forms = append(forms, v, url.QueryEscape(v), url.PathEscape(v), string(quoted[1:len(quoted)-1]))
		if !strings.Contains(v, "\n") {
			continue
		}
		for line := range strings.Lines(v) {
			if line = strings.TrimSpace(line); len(line) >= shortestLine && !strings.HasPrefix(line, "-----") {
				forms = append(forms, line)
			}
		}
	}
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) }) // one may be a part of another
	var pairs []string
	for _, form := range forms {
		pairs = append(pairs, form, mark)
	}
	return strings.NewReplacer(pairs...)
}

var (
	secretName  = lazyregexp.New(`(?i)(token|key|secret|pass|pwd|auth|credential|header|cookie|bearer|dsn)`)
	secretValue = lazyregexp.New(`^(sk-|toolpost_|gh[a-z]_|github_pat_|glpat-|xox|AKIA|eyJ|Bearer |Basic )`)
	random      = lazyregexp.New(`^[A-Za-z0-9_+/=-]{20,}$`)
	hexadecimal = lazyregexp.New(`^[0-9a-fA-F-]{24,}$`)
	reference   = lazyregexp.New(`^\$\{[^}]*\}$`)
	variable    = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
	headerName  = lazyregexp.New(`^[A-Za-z0-9-]+$`)
)

// Is reports whether a variable, option or header of that name and value
// probably holds a secret.
func Is(name, value string) bool { return secretName.MatchString(name) || isToken(value) }

// isToken reports whether s has the form of a token: a known prefix, or long
// with small letters, capitals and digits mixed.
func isToken(s string) bool {
	return secretValue.MatchString(s) || random.MatchString(s) && !strings.HasPrefix(s, "/") &&
		strings.ContainsAny(s, "0123456789") && strings.ToLower(s) != s && strings.ToUpper(s) != s ||
		hexadecimal.MatchString(s)
}

// InArgs returns the secrets in the arguments of a command: the values of
// options, variables and headers with the names of secrets, parts of addresses, and
// tokens.
func InArgs(args []string) (found []string) {
	valueNext := false
	for _, arg := range args {
		option := strings.HasPrefix(arg, "-")
		if valueNext && !option && !reference.MatchString(arg) {
			found = append(found, arg)
		} else {
			found = append(found, inArg(arg)...)
		}
		valueNext = option && !strings.Contains(arg, "=") &&
			(secretName.MatchString(arg) || slices.Contains([]string{"-H", "-u", "-p"}, arg))
	}
	return found
}

func inArg(arg string) []string {
	name, value, assigned := strings.Cut(arg, "=")
	header, content, isHeader := strings.Cut(arg, ":")
	content = strings.TrimSpace(content)
	switch {
	case reference.MatchString(arg):
		return nil
	case strings.Contains(name, "://"):
		return InURL(arg)
	case isHeader && headerName.MatchString(header) && secretName.MatchString(header) && !reference.MatchString(content):
		return []string{content}
	case assigned && (secretName.MatchString(name) || isToken(value) || variable.MatchString(name)):
		return []string{value}
	case isToken(arg):
		return []string{arg}
	}
	return InURL(arg)
}

// InURL returns the secrets in s, if it is an address: the user, the values of
// the query, and tokens in the path.
func InURL(s string) (found []string) {
	_, rest, ok := strings.Cut(s, "://")
	if !ok {
		return nil
	}
	rest, _, _ = strings.Cut(rest, "#")
	rest, query, _ := strings.Cut(rest, "?")
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		found = append(found, rest[:at])
	}
	for segment := range strings.SplitSeq(rest, "/") {
		if isToken(segment) {
			found = append(found, segment)
		}
	}
	values, _ := url.ParseQuery(query)
	for _, of := range values {
		found = append(found, of...)
	}
	return found
}
