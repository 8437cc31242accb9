package config

import (
	"maps"
	"slices"

	"github.com/tailscale/hujson"

	"github.com/toolpost/toolpost/internal/policy/approval"
)

// An ApprovalList is the rules of calls in one place of the configuration. The first rule
// that matches a call decides; a call that none matches runs.
type ApprovalList struct {
	Name  string // such as "approvals"
	Rules []ApprovalRule
}

// An ApprovalRule decides about some calls. Conditions that are left out match every call.
type ApprovalRule struct {
	Action      string             // "allow", "ask" or "deny"
	Servers     []string           // globs of the configuration's names of servers
	Tools       []string           // globs of the servers' own names of tools
	Annotations Claims             // what the tool claims
	Arguments   []ApprovalArgument // all have to match
	Reason      string             // for the user and the model
}

// Claims are conditions on what a tool claims to do; nil matches every tool.
type Claims struct {
	ReadOnly, Destructive, Idempotent, OpenWorld *bool
}

// An ApprovalArgument is a condition on one argument of a call.
type ApprovalArgument struct {
	Name    string // of the argument; a JSON pointer if it begins with "/"; "*" for all arguments
	Pattern string // a glob, or a regular expression
	Regexp  bool
}

// rule returns r as package approval has it.
func (r *ApprovalRule) rule() *approval.Rule {
	one := &approval.Rule{Action: approval.Action(r.Action), Servers: r.Servers, Tools: r.Tools, Annotations: approval.Annotations(r.Annotations), Reason: r.Reason}
	for _, a := range r.Arguments {
		one.Arguments = append(one.Arguments, approval.Argument(a))
	}
	return one
}

// approvalKeys says what each key of a rule of approvals sets.
var approvalKeys = map[string]func(s *source, r *ApprovalRule, v hujson.Value, path string){
	"action": func(s *source, r *ApprovalRule, v hujson.Value, path string) {
		r.Action = s.text(v, path)
	},
	"servers": func(s *source, r *ApprovalRule, v hujson.Value, path string) { r.Servers = s.someTexts(v, path) },
	"tools":   func(s *source, r *ApprovalRule, v hujson.Value, path string) { r.Tools = s.someTexts(v, path) },
	"annotations": func(s *source, r *ApprovalRule, v hujson.Value, path string) {
		s.claims(&r.Annotations, v, path)
	},
	"arguments": func(s *source, r *ApprovalRule, v hujson.Value, path string) {
		r.Arguments = s.argumentConditions(v, path)
	},
	"reason": func(s *source, r *ApprovalRule, v hujson.Value, path string) { r.Reason = s.text(v, path) },
}

// approvals reads the rules of calls, such as
// [{"action": "ask", "servers": ["github"], "tools": ["delete_*"]}].
func (f *file) approvals(v hujson.Value, path string) {
	f.cfg.Approvals = []ApprovalList{{Name: path, Rules: f.rules(v, path)}}
}

func (f *file) profileApprovals(p *Profile, v hujson.Value, path string) {
	p.Approvals = []ApprovalList{{Name: path, Rules: f.rules(v, path)}}
}

func (s *source) rules(v hujson.Value, path string) (rules []ApprovalRule) {
	s.each(v, path, func(v hujson.Value, path string) {
		if len(rules) == approval.MaxRules {
			s.fail(v.StartOffset, "%s is one of more than %d rules; remove some", path, approval.MaxRules)
			return
		}
		var r ApprovalRule
		before := len(s.problems)
		s.members(v, path, func(m *hujson.ObjectMember) {
			if set := approvalKeys[key(m)]; set != nil {
				set(s, &r, m.Value, path+"."+key(m))
				return
			}
			s.unknown(m, path, slices.Sorted(maps.Keys(approvalKeys)))
		})
		if len(s.problems) > before {
			return
		}
		if err := r.rule().Check(); err != nil {
			s.fail(v.StartOffset, "%s: %v", path, err)
		}
		rules = append(rules, r)
	})
	return rules
}

// someTexts reads an array of strings that is not empty: an empty one could mean all
// or none.
func (s *source) someTexts(v hujson.Value, path string) []string {
	texts := s.texts(v, path)
	if len(texts) == 0 && v.Value.Kind() == '[' {
		s.fail(v.StartOffset, `%s is empty; leave it out for all, or write ["*"]`, path)
	}
	return texts
}

// claims reads {"readOnly": true, "destructive": false, …}.
func (s *source) claims(a *Claims, v hujson.Value, path string) {
	hints := map[string]**bool{"readOnly": &a.ReadOnly, "destructive": &a.Destructive, "idempotent": &a.Idempotent, "openWorld": &a.OpenWorld}
	s.members(v, path, func(m *hujson.ObjectMember) {
		hint := hints[key(m)]
		if hint == nil {
			s.unknown(m, path, slices.Sorted(maps.Keys(hints)))
			return
		}
		value := s.boolean(m.Value, path+"."+key(m))
		*hint = &value
	})
}

// argumentConditions reads {"path": "/etc/*", "/options/mode": {"regexp": "^rw$"}}.
func (s *source) argumentConditions(v hujson.Value, path string) (all []ApprovalArgument) {
	s.members(v, path, func(m *hujson.ObjectMember) {
		a, at := ApprovalArgument{Name: key(m)}, path+"."+key(m)
		if m.Value.Value.Kind() != '{' {
			a.Pattern = s.text(m.Value, at)
			all = append(all, a)
			return
		}
		s.members(m.Value, at, func(m *hujson.ObjectMember) {
			if key(m) != "regexp" {
				s.unknown(m, at, []string{"regexp"})
				return
			}
			a.Pattern, a.Regexp = s.text(m.Value, at+".regexp"), true
		})
		if !a.Regexp {
			s.fail(m.Value.StartOffset, `%s is empty; write a pattern, such as "/etc/*", or {"regexp": "…"}`, at)
		}
		all = append(all, a)
	})
	return all
}
