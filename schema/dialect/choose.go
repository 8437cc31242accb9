package dialect

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/toolpost/toolpost/internal/lazyregexp"
)

// Choose returns the dialect for a client. Name and version are those of
// clientInfo, and userAgent is the HTTP header; each may be empty. A user agent
// such as claude-code/2.1.329 (cli) replaces a missing name or version. Clients
// of overlays take precedence over built-in ones, then those that match a name,
// then those that match a version, then those that match a user agent. Unknown
// clients get "mcp".
func (b *Book) Choose(name, version, userAgent string) *Dialect {
	name, version = identify(name, version, userAgent)
	for _, m := range b.clients {
		if m.fits(name, version, userAgent) {
			return b.dialect(m.id)
		}
	}
	return b.dialect("mcp")
}

// identify fills in what a client does not claim from its user agent.
func identify(name, version, userAgent string) (string, string) {
	product, rest, _ := strings.Cut(userAgent, "/")
	if name == "" {
		name = product
	}
	if version == "" && strings.EqualFold(name, product) {
		version = rest
	}
	return name, version
}

// Matcher compiles c: what it returns reports whether a client with these claims is
// selected; see [Book.Choose] for their meaning. The error says what is wrong with c.
func (c Client) Matcher() (func(name, version, userAgent string) bool, error) {
	m, err := newMatch("", c, false)
	if err != nil {
		return nil, err
	}
	return func(name, version, userAgent string) bool {
		name, version = identify(name, version, userAgent)
		return m.fits(name, version, userAgent)
	}, nil
}

// A match is a Client that is ready to be asked.
type match struct {
	Client
	id          string         // of the dialect
	name, agent *clientPattern // nil for any
	rank        int
}

func newMatch(id string, c Client, overlaid bool) (m *match, err error) {
	m = &match{Client: c, id: id}
	if m.name, err = newClientPattern(c.Name); err != nil {
		return nil, fmt.Errorf("name: %w", err)
	}
	if m.agent, err = newClientPattern(c.UserAgent); err != nil {
		return nil, fmt.Errorf("userAgent: %w", err)
	}
	if m.name == nil && m.agent == nil {
		return nil, fmt.Errorf("give a name or a userAgent; a version alone does not identify a client")
	}
	for i, asked := range []bool{m.agent != nil, c.Since+c.Before != "", m.name != nil, overlaid} {
		if asked {
			m.rank |= 1 << i
		}
	}
	return m, nil
}

// byRank sorts those that ask for more before others.
func byRank(x, y *match) int {
	return cmp.Or(
		cmp.Compare(y.rank, x.rank),
		cmp.Compare(len(y.Name)+len(y.UserAgent), len(x.Name)+len(x.UserAgent)),
		strings.Compare(x.id, y.id),
	)
}

func (m *match) fits(name, version, userAgent string) bool {
	return (m.name == nil || m.name.matches(name)) &&
		(m.agent == nil || m.agent.matches(userAgent)) &&
		isInRange(version, m.Since, m.Before)
}

// isInRange reports whether version is since or later, and earlier than before.
// An unknown version is in no range that has bounds.
func isInRange(version, since, before string) bool {
	if since == "" && before == "" {
		return true
	}
	return len(numbers(version)) > 0 &&
		(since == "" || compareVersions(version, since) >= 0) &&
		(before == "" || compareVersions(version, before) < 0)
}

// compareVersions compares versions such as 2.1.329, v1.138.0-insider or 1.0
// number by number. Text after the numbers does not count.
func compareVersions(a, b string) int {
	x, y := numbers(a), numbers(b)
	for i := range max(len(x), len(y)) {
		var m, n string
		if i < len(x) {
			m = x[i]
		}
		if i < len(y) {
			n = y[i]
		}
		if c := cmp.Or(cmp.Compare(len(m), len(n)), strings.Compare(m, n)); c != 0 {
			return c
		}
	}
	return 0
}

var versionPattern = lazyregexp.New(`^[vV]?(\d+(?:\.\d+)*)`)

// numbers returns those that a version begins with, without leading zeros, as
// text: they may be of any length.
func numbers(version string) []string {
	found := versionPattern.FindStringSubmatch(strings.TrimSpace(version))
	if found == nil {
		return nil
	}
	parts := strings.Split(found[1], ".")
	for i, p := range parts {
		parts[i] = strings.TrimLeft(p, "0")
	}
	return parts
}
