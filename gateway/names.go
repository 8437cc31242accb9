package gateway

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/lazyregexp"
	"github.com/toolpost/toolpost/internal/suggest"
)

// Names of tools and prompts are KEY__NAME, or what the configuration wants in
// place of KEY__:
//
//	KEY   follows from the server's name alone, has only characters that every
//	      client accepts, no "__", and no "_" at its end. So the first "__" of a
//	      name ends its key, and two servers never have the same name.
//	other prefixes may give two servers the same name. Then the one that had it
//	      first keeps it, see [names].

var (
	refused   = lazyregexp.New(`[^A-Za-z0-9_-]+`)
	separator = lazyregexp.New(`__+`)
)

// keyHash is how many characters of a key are a hash, if it is not the server's name.
const keyHash = 4

// keyOf returns the key of a server in names. It depends on nothing but the
// server's name.
func keyOf(server string) string {
	key := separator.ReplaceAllString(refused.ReplaceAllString(server, "_"), "_")
	if key == server && key != "" && !strings.HasSuffix(key, "_") {
		return key
	}
	return strings.TrimLeft(strings.Trim(key, "_")+"_"+shortHash(server), "_")
}

func shortHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:keyHash]
}

// serverKeys returns the keys of servers. They are none of those that are taken:
// a server whose name is the key of another one gets a number, as no name can be
// a hash by accident.
func serverKeys(servers []config.Server, taken ...string) []string {
	keys := make([]string, len(servers))
	for i, s := range servers {
		keys[i] = suggest.Free(keyOf(s.Name), func(key string) bool {
			return slices.Contains(keys[:i], key) || slices.Contains(taken, key)
		})
	}
	return keys
}

// An owner is the tool or prompt that a name belongs to.
type owner struct{ kind, server, own string }

// A claim asks for a name.
type claim struct {
	owner
	wanted []string // the names that it may get, the best first
	pure   bool     // the best follows from the server's name
	barred bool     // the best is one of another server, whether or not that has listed it
}

// names remembers which name each tool and prompt was given, where it does not
// follow from the server's name: it keeps the name for as long as it claims it,
// whatever other servers come and go. Names that nothing claims are free. They are
// remembered, so that a tool that comes back is called as before, until there are too
// many.
type names struct {
	owners map[string]owner // by kind and name
	given  map[owner]string
}

// maxNames is how many names are remembered.
const maxNames = 50_000

func newNames() *names { return &names{owners: map[string]owner{}, given: map[owner]string{}} }

// remember gives a name to an owner. The owner before loses it.
func (n *names) remember(o owner, name string) (changed bool) {
	if n.given[o] == name || len(n.given) >= maxNames {
		return false
	}
	key := o.kind + " " + name
	n.forget(key)
	n.forget(o.kind + " " + n.given[o])
	n.owners[key], n.given[o] = o, name
	return true
}

// assign returns a name for every claim: the one that it was given before if it
// may still have it, otherwise the first that is free. Those that were given come
// first, then those that follow from the server's name, then the order of claims.
func (n *names) assign(claims []claim) []string {
	all, taken := make([]string, len(claims)), map[string]bool{}
	take := func(i int, name string) {
		barred := claims[i].barred && name == claims[i].wanted[0]
		if all[i] == "" && !taken[name] && !barred {
			all[i], taken[name] = name, true
		}
	}
	for i, c := range claims {
		if given := n.given[c.owner]; slices.Contains(c.wanted, given) {
			take(i, given)
		}
	}
	for i, c := range claims {
		if c.pure {
			take(i, c.wanted[0])
		}
	}
	for best := range maxWanted {
		for i, c := range claims {
			take(i, c.wanted[best])
		}
	}
	return all
}

// maxWanted is how many names a claim may get.
const maxWanted = 3

// learn remembers the names that were given, but for those that follow from the
// server's name: these only end what is remembered about another owner. It reports
// whether something has changed.
func (n *names) learn(claims []claim, given []string) (changed bool) {
	if len(n.given) >= maxNames {
		changed = n.forgetUnclaimed(claims)
	}
	for i, c := range claims {
		switch name := given[i]; {
		case name == "":
		case c.pure && name == c.wanted[0]:
			changed = n.forget(c.kind+" "+name) || changed
		default:
			changed = n.remember(c.owner, name) || changed
		}
	}
	return changed
}

// forgetUnclaimed forgets the names of tools, or of prompts, that are gone: otherwise
// servers that make up names would use up the room for those that are there.
func (n *names) forgetUnclaimed(claims []claim) (changed bool) {
	kinds, claimed := map[string]bool{}, map[owner]bool{}
	for _, c := range claims {
		kinds[c.kind], claimed[c.owner] = true, true
	}
	for o, name := range n.given {
		if kinds[o.kind] && !claimed[o] {
			changed = n.forget(o.kind+" "+name) || changed
		}
	}
	return changed
}

// forget frees a name that was given.
func (n *names) forget(key string) (changed bool) {
	o, known := n.owners[key]
	delete(n.owners, key)
	delete(n.given, o)
	return known
}

// globs compiles patterns in which * matches any characters and ? matches one.
func globs(patterns []string) *regexp.Regexp {
	if len(patterns) == 0 {
		return nil
	}
	quoted := make([]string, len(patterns))
	for i, p := range patterns {
		quoted[i] = strings.NewReplacer(`\*`, `.*`, `\?`, `.`).Replace(regexp.QuoteMeta(p))
	}
	return regexp.MustCompile(`(?s)^(?:` + strings.Join(quoted, "|") + `)$`)
}

// match reports whether one of the names matches; no globs match nothing.
func match(globs *regexp.Regexp, names ...string) bool {
	return globs != nil && slices.ContainsFunc(names, globs.MatchString)
}

// suggestTool returns the tool that an unmatched glob may mean, or the command
// that lists all tools.
func suggestTool(glob string, names []string) string {
	if best := suggest.Nearest(glob, names); best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return `"toolpost list" shows the tools`
}
