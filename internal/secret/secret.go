// Package secret recognizes texts that are probably secrets, and hides known secrets in
// texts, JSON and logs.
package secret

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/toolpost/toolpost/internal/lazyregexp"
	"github.com/toolpost/toolpost/internal/wire"
)

// Shorter values are flags and parts of words: they would be found everywhere.
const (
	shortest     = 6
	shortestLine = 8 // of a value that has several lines
)

// Replacer returns a replacer that puts mark in place of the values, also as they are
// written in addresses, in JSON and in base64, and in place of the lines of a value such
// as a private key, because logs contain them one by one.
func Replacer(mark string, values ...string) *strings.Replacer {
	var all []string
	for _, v := range values {
		if len(v) < shortest {
			continue
		}
		all = append(append(all, v), escapedForms(v)...)
		if !strings.Contains(v, "\n") {
			continue
		}
		for line := range strings.Lines(v) {
			if line = strings.TrimSpace(line); len(line) >= shortestLine && !strings.HasPrefix(line, "-----") {
				all = append(all, line)
			}
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	slices.SortStableFunc(all, func(a, b string) int { return len(b) - len(a) }) // one may be a part of another
	pairs := make([]string, 0, 2*len(all))
	for _, form := range all {
		pairs = append(pairs, form, mark)
	}
	return strings.NewReplacer(pairs...)
}

// escapedForms returns a value as addresses, JSON and base64 have it: as the functions
// of Go, JavaScript, Python and PHP write it.
func escapedForms(v string) []string {
	unreserved := strings.NewReplacer("%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*") // as encodeURIComponent leaves them
	forHTML := strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`)                   // as encoding/json writes them
	component := strings.ReplaceAll(url.QueryEscape(v), "+", "%20")
	forms := []string{url.QueryEscape(v), url.PathEscape(v), component, unreserved.Replace(component)}
	for _, form := range slices.Clone(forms) {
		forms = append(forms, escape.ReplaceAllStringFunc(form, strings.ToLower))
	}
	quoted := wire.Quote(v)
	inJSON := string(quoted[1 : len(quoted)-1])
	forms = append(forms, inJSON, strings.ReplaceAll(inJSON, "/", `\/`), forHTML.Replace(inJSON), inASCII(inJSON))
	for _, e := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		forms = append(forms, e.EncodeToString([]byte(v)))
	}
	return forms
}

var escape = lazyregexp.New(`%[0-9A-F]{2}`)

// inASCII returns a text with the characters beyond ASCII as escapes of JSON.
func inASCII(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf:
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
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
