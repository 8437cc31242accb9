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
		option := strings.HasPrefix(arg, "-")
		if out[i] = redactArg(arg); valueNext && !option && !reference.MatchString(arg) {
			out[i] = hidden
		}
		valueNext = option && !strings.Contains(arg, "=") &&
			(secretName.MatchString(arg) || slices.Contains([]string{"-H", "-u", "-p"}, arg))
	}
	return out
}

func redactArg(arg string) string {
	name, value, assigned := strings.Cut(arg, "=")
	switch {
	case reference.MatchString(arg):
		return arg
	case assigned && (secretName.MatchString(name) || looksSecret(value) || variableName.MatchString(name)):
		return name + "=" + hidden
	case looksSecret(arg):
		return hidden
	}
	return redactURL(arg)
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
