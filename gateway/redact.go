package gateway

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

const hidden = "…"

// summary tells how a server is reached: no value of a variable or header, and
// nothing that looks like a secret.
func summary(s *Server) string {
	parts := []string{redactURL(s.URL)}
	if s.Command != "" {
		parts = append([]string{s.Command}, redactArgs(s.Args)...)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		parts = append(parts, name+"="+hidden)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		parts = append(parts, name+": "+hidden)
	}
	if s.Disabled {
		parts = append(parts, "(disabled)")
	}
	return strings.Join(parts, " ")
}

var (
	secretName  = regexp.MustCompile(`(?i)(token|key|secret|pass|pwd|auth|credential|header|cookie|bearer|dsn)`)
	secretValue = regexp.MustCompile(`^(sk-|gh[a-z]_|github_pat_|glpat-|xox|AKIA|eyJ|Bearer |Basic )`)
	random      = regexp.MustCompile(`^[A-Za-z0-9_+/=-]{20,}$`)
	reference   = regexp.MustCompile(`^\$\{[^}]*\}$`)
)

// redactArgs hides the values of options with telling names, and what looks
// like a secret by itself.
func redactArgs(args []string) []string {
	out := make([]string, len(args))
	valueNext := false
	for i, arg := range args {
		name, value, assigned := strings.Cut(arg, "=")
		option := strings.HasPrefix(arg, "-")
		switch {
		case reference.MatchString(arg):
			out[i] = arg
		case valueNext && !option, looksSecret(arg):
			out[i] = hidden
		case assigned && (secretName.MatchString(name) || looksSecret(value) || variableName.MatchString(name)):
			out[i] = name + "=" + hidden
		default:
			out[i] = redactURL(arg)
		}
		valueNext = option && !assigned && (secretName.MatchString(arg) || arg == "-H" || arg == "-u" || arg == "-p")
	}
	return out
}

// looksSecret says that s has the form of a token: a known prefix, or long
// with small letters, capitals and digits mixed.
func looksSecret(s string) bool {
	return secretValue.MatchString(s) || random.MatchString(s) && !strings.HasPrefix(s, "/") &&
		strings.ContainsAny(s, "0123456789") && strings.ToLower(s) != s && strings.ToUpper(s) != s ||
		hexadecimal.MatchString(s)
}

var hexadecimal = regexp.MustCompile(`^[0-9a-fA-F-]{24,}$`)

// redactURL hides the user, the values of the query and secret parts of the
// path, if s is an address.
func redactURL(s string) string {
	if !strings.Contains(s, "://") {
		return s
	}
	scheme, rest, _ := strings.Cut(s, "://")
	rest, _, _ = strings.Cut(rest, "#")
	rest, query, asked := strings.Cut(rest, "?")
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		rest = hidden + rest[at:]
	}
	segments := strings.Split(rest, "/")
	for i, segment := range segments {
		if looksSecret(segment) {
			segments[i] = hidden
		}
	}
	s = scheme + "://" + strings.Join(segments, "/")
	if asked {
		values, _ := url.ParseQuery(query)
		names := slices.Sorted(maps.Keys(values))
		for i, name := range names {
			names[i] = name + "=" + hidden
		}
		s += "?" + strings.Join(names, "&")
	}
	return s
}
