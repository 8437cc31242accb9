package dialect

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
)

func offRules() []*Rule {
	return []*Rule{{
		Name: "off", All: true, Effect: advice,
		What:  "Every rule that is switched off exists and has a reason.",
		Why:   "A name that no rule has switches nothing off. Without a reason, the finding still counts.",
		Fix:   `Give the rule's id, a glob of ids such as "*/pattern", or the rule's name alone, and the reason why it does not matter.`,
		check: check{list: switchedOff},
	}}
}

func switchedOff(v *view, _ []*toolpost.Tool) {
	if v.opts == nil {
		return
	}
	rules := rulebook()
	for _, key := range slices.Sorted(maps.Keys(v.opts.Off)) {
		switch _, err := path.Match(key, ""); {
		case err != nil:
			v.add("", "", "%q is switched off but is not a valid glob", clip(key, 80))
		case !slices.ContainsFunc(rules, func(r *Rule) bool { return r.matchesKey(key, v.Dialect) }):
			v.add("", "", "%q is switched off but is not a rule", clip(key, 80))
		case strings.TrimSpace(v.opts.Off[key]) == "":
			v.add("", "", "%q is switched off without a reason", clip(key, 80))
		}
	}
}

// matchesKey reports whether a key of [Options.Off] may be about the rule, for d or
// for another dialect, which has ids of its own.
func (r *Rule) matchesKey(key string, d *Dialect) bool {
	whose, name, isID := strings.Cut(key, "/")
	if !isID {
		return key == r.Name
	}
	known, _ := path.Match(name, r.Name)
	ours, _ := path.Match(whose, d.ID)
	all, _ := path.Match(whose, "all")
	return known && (all == r.All || !all && !ours || ours && all)
}
