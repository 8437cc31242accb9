package upstream

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

var (
	secretName  = regexp.MustCompile(`(?i)(token|key|secret|pass|pwd|auth|credential|header|cookie|bearer|dsn)`)
	secretValue = regexp.MustCompile(`^(sk-|gh[a-z]_|github_pat_|glpat-|xox|AKIA|eyJ|Bearer |Basic )`)
	random      = regexp.MustCompile(`^[A-Za-z0-9_+/=-]{20,}$`)
	hexadecimal = regexp.MustCompile(`^[0-9a-fA-F-]{24,}$`)
	reference   = regexp.MustCompile(`^\$\{[^}]*\}$`)
	variable    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	headerName  = regexp.MustCompile(`^[A-Za-z0-9-]+$`)
)

// RedactArgs returns the arguments of a command with hide in place of each
// secret: the values of options, variables and headers with telling names,
// parts of addresses, and what looks like a token by itself.
func RedactArgs(args []string, hide func(secret string) string) []string {
	out := make([]string, len(args))
	valueNext := false
	for i, arg := range args {
		option := strings.HasPrefix(arg, "-")
		if valueNext && !option && !reference.MatchString(arg) {
			out[i] = hide(arg)
		} else {
			out[i] = redactArg(arg, hide)
		}
		valueNext = option && !strings.Contains(arg, "=") &&
			(secretName.MatchString(arg) || slices.Contains([]string{"-H", "-u", "-p"}, arg))
	}
	return out
}

func redactArg(arg string, hide func(string) string) string {
	name, value, assigned := strings.Cut(arg, "=")
	header, content, isHeader := strings.Cut(arg, ":")
	content = strings.TrimSpace(content)
	switch {
	case reference.MatchString(arg):
		return arg
	case strings.Contains(name, "://"):
		return RedactURL(arg, hide)
	case isHeader && headerName.MatchString(header) && secretName.MatchString(header) && !reference.MatchString(content):
		return header + ": " + hide(content)
	case assigned && (secretName.MatchString(name) || looksSecret(value) || variable.MatchString(name)):
		return name + "=" + hide(value)
	case looksSecret(arg):
		return hide(arg)
	}
	return RedactURL(arg, hide)
}

// IsSecret reports whether a variable, option or header of that name and value
// probably holds a secret.
func IsSecret(name, value string) bool { return secretName.MatchString(name) || looksSecret(value) }

// looksSecret says that s has the form of a token: a known prefix, or long
// with small letters, capitals and digits mixed.
func looksSecret(s string) bool {
	return secretValue.MatchString(s) || random.MatchString(s) && !strings.HasPrefix(s, "/") &&
		strings.ContainsAny(s, "0123456789") && strings.ToLower(s) != s && strings.ToUpper(s) != s ||
		hexadecimal.MatchString(s)
}

// RedactURL returns s, if it is an address, without fragment and with hide in
// place of the user, the values of the query and secret parts of the path.
func RedactURL(s string, hide func(secret string) string) string {
	if !strings.Contains(s, "://") {
		return s
	}
	scheme, rest, _ := strings.Cut(s, "://")
	rest, _, _ = strings.Cut(rest, "#")
	rest, query, asked := strings.Cut(rest, "?")
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		rest = hide(rest[:at]) + rest[at:]
	}
	segments := strings.Split(rest, "/")
	for i, segment := range segments {
		if looksSecret(segment) {
			segments[i] = hide(segment)
		}
	}
	s = scheme + "://" + strings.Join(segments, "/")
	if asked {
		values, _ := url.ParseQuery(query)
		var pairs []string
		for _, name := range slices.Sorted(maps.Keys(values)) {
			for _, value := range values[name] {
				pairs = append(pairs, name+"="+hide(value))
			}
		}
		s += "?" + strings.Join(pairs, "&")
	}
	return s
}
