package accept

import (
	"regexp"
	"slices"
	"strings"
)

// The rules that several targets share; each takes the id it reports under.

// everyKey is the keyword list that allows all.
func onlyKeys(s *subject, rule, allowed string) {
	keys := strings.Fields(allowed)
	for _, p := range s.places {
		for _, m := range p.v.members {
			if !slices.Contains(keys, m.name) {
				s.add(p, rule, "the keyword %q is not known", m.name)
			}
		}
	}
}

// noKeys reports the keywords of a list, wherever they stand.
func noKeys(s *subject, rule, forbidden string) {
	for _, key := range strings.Fields(forbidden) {
		for _, p := range s.places {
			if p.has(key) {
				s.add(p, rule, "the keyword %q is not accepted", key)
			}
		}
	}
}

// rootObject wants {"type":"object"} at the root.
func rootObject(s *subject, rule string) {
	switch {
	case s.root == nil:
		s.addAt("", rule, "there is no schema")
	case !s.root.get("type").is("object"):
		s.addAt("", rule, `the root has no "type":"object"`)
	}
}

// noRoot reports keywords at the root.
func noRoot(s *subject, rule, forbidden string) {
	for _, key := range strings.Fields(forbidden) {
		if s.root.get(key) != nil {
			s.addAt("", rule, "the keyword %q is not accepted at the root", key)
		}
	}
}

// rootKeys wants the names of the root's properties to match.
func rootKeys(s *subject, rule string, like *regexp.Regexp) {
	for _, p := range s.places {
		if p.parent != nil && p.parent.parent == nil && p.via == "properties" && !like.MatchString(p.name) {
			s.add(p, rule, "the name does not match %s", like)
		}
	}
}

// schemasAreObjects refuses true, false and everything else that is not an object, except
// for additionalProperties.
func schemasAreObjects(s *subject, rule string) {
	for _, p := range s.places {
		if !p.v.isObject() && !(p.via == "additionalProperties" && p.v.kind == boolean) {
			s.add(p, rule, "the schema is not an object")
		}
	}
}

// refsResolve wants every $ref to point to a schema in the same document.
func refsResolve(s *subject, rule string) {
	for _, p := range s.places {
		for _, key := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
			ref := p.v.get(key)
			switch {
			case ref == nil:
			case ref.kind != text:
				s.add(p, rule, "%s is not text", key)
			case s.resolve(ref.text) == nil:
				s.add(p, rule, "%s %q points to no schema in here", key, ref.text)
			}
		}
	}
}

// refsAlone wants nothing beside $ref but the keywords of a list.
func refsAlone(s *subject, rule, beside string) {
	allowed := strings.Fields("$ref " + beside)
	for _, p := range s.places {
		if !p.has("$ref") {
			continue
		}
		for _, m := range p.v.members {
			if !slices.Contains(allowed, m.name) {
				s.add(p, rule, "%q stands beside $ref", m.name)
			}
		}
	}
}

// arraysHaveItems wants a schema for the items of every array. A tuple's
// prefixItems do where they are accepted.
func arraysHaveItems(s *subject, rule string, prefix bool) {
	for _, p := range s.places {
		if slices.Contains(p.v.types(), "array") && !p.v.get("items").isObject() && !(prefix && p.has("prefixItems")) {
			s.add(p, rule, "the array has no items that are a schema")
		}
	}
}

// closed wants "additionalProperties":false on every object.
func closed(s *subject, rule string) {
	for _, p := range s.places {
		if !p.objects() {
			continue
		}
		if a := p.v.get("additionalProperties"); a == nil || a.kind != boolean || a.truth {
			s.add(p, rule, "the object is not closed")
		}
	}
}

// objects reports whether p describes objects.
func (p *place) objects() bool {
	return slices.Contains(p.v.types(), "object") || p.has("properties")
}

func formats(s *subject, rule, allowed string) {
	for _, p := range s.places {
		if f := p.v.get("format"); f != nil && !slices.Contains(strings.Fields(allowed), f.text) {
			s.add(p, rule, "the format %q is not known", f.text)
		}
	}
}

// requiredExist wants every name of required to be a property.
func requiredExist(s *subject, rule string) {
	for _, p := range s.places {
		for _, name := range p.v.required() {
			if p.v.get("properties").get(name) == nil {
				s.add(p, rule, "the required %q is not a property", name)
			}
		}
	}
}

// named wants the tool's name to match.
func named(s *subject, rule string, like *regexp.Regexp) {
	if !like.MatchString(s.Name) {
		s.addAt("", rule, "the tool's name does not match %s", like)
	}
}

// jsonSchema is what nearly everybody wants: a name, and a valid schema of a
// dialect, whose references resolve, with an object at the root.
func jsonSchema(s *subject, set string, name *regexp.Regexp, dialect string) {
	named(s, set+"/name", name)
	rootObject(s, set+"/root")
	metaschema(s, set+"/metaschema", dialect)
	refsResolve(s, set+"/ref")
}

// pattern reports the texts in pattern that match.
func patterns(s *subject, rule string, refused *regexp.Regexp) {
	for _, p := range s.places {
		if t := p.v.get("pattern"); t != nil && refused.MatchString(t.text) {
			s.add(p, rule, "the pattern %q is not accepted", t.text)
		}
	}
}

var (
	portableName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	apiKey       = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)
	lookaround   = regexp.MustCompile(`\(\?(=|!|<=|<!)|\\[1-9]|\\k<`)
)

// atMost limits the number of tools.
func atMost(rule string, n int) func([]*subject, report) {
	return func(all []*subject, add report) {
		if len(all) > n {
			add(rule, "there are %d tools, at most %d are accepted", len(all), n)
		}
	}
}

// uniqueNames is for every target: two tools cannot be distinguished.
func uniqueNames(all []*subject, add report) {
	distinct(all, add, "names", func(s *subject) string { return s.Name })
}

// naming is how a client names a tool of a server. The zero one keeps the name.
type naming struct {
	client string
	of     func(*subject) string
	most   int // bytes; 0 for no limit
}

// joined puts the names of server and tool together, with _ in place of
// characters that a client does not take.
func joined(outside *regexp.Regexp, before, between string) func(*subject) string {
	return func(s *subject) string {
		return outside.ReplaceAllString(before+s.Server+between+s.Name, "_")
	}
}

// length reports a name of which the client refuses or cuts a part.
func (n naming) length(s *subject) {
	if n.most == 0 {
		return
	}
	if name := n.of(s); len(name) > n.most {
		s.addAt("", n.client+"/name", "the name %q has %d characters, %d are kept", name, len(name), n.most)
	}
}

// collisions reports the tools that the client gives the same name.
func (n naming) collisions(all []*subject, add report) {
	if n.of != nil {
		distinct(all, add, n.client+"/collision", n.of)
	}
}

// distinct reports the tools that have the same name after a client rewrote it.
func distinct(all []*subject, add report, rule string, rewritten func(*subject) string) {
	first := map[string]string{}
	for _, s := range all {
		name := rewritten(s)
		if other, taken := first[name]; taken {
			add(rule, "the tools %q and %q are both %q", other, s.Name, name)
			continue
		}
		first[name] = s.Name
	}
}
