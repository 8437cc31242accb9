// Package approval decides which calls of tools run, which the user is asked about,
// and which are denied.
//
//	rules of the configuration ── Compile ──▶ Policy
//	call ── Policy.Decide ──▶ Allow, Deny, or Ask ── NewQuestion ──▶ the user
//
// In one list of rules the first one that matches decides; a call that none matches
// is allowed. Of several lists, the strictest decision counts.
package approval

import (
	"context"
	"fmt"
	"slices"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/cleartext"
)

// Action is what a rule does with a call.
type Action string

// The actions, from the mildest to the strictest.
const (
	Allow Action = "allow"
	Ask   Action = "ask"
	Deny  Action = "deny"
)

// strictness orders the actions.
func (a Action) strictness() int { return slices.Index([]Action{Allow, Ask, Deny}, a) }

// A Rule says what happens to some calls. Conditions that are left out match every
// call of a tool.
type Rule struct {
	Action      Action
	Servers     []string    // globs of the configuration's names of servers
	Tools       []string    // globs of the servers' own names of tools
	Annotations Annotations // what the tool claims
	Arguments   []Argument  // all have to match
	Reason      string      // for the user and the model
}

// Annotations are conditions on what a tool claims to do; nil matches every tool.
type Annotations struct {
	ReadOnly, Destructive, Idempotent, OpenWorld *bool
}

// An Argument is a condition on one argument.
type Argument struct {
	Name    string // of the argument; a JSON pointer if it begins with "/"; "*" for all arguments
	Pattern string // a glob, or a regular expression
	Regexp  bool
}

// Limits of one list of rules.
const (
	MaxRules      = 200
	maxPatterns   = 200 // of one condition
	maxPatternLen = 1000
)

// A List is the rules of one place of the configuration.
type List struct {
	Name  string // such as "approvals"
	Rules []Rule
}

// A Target is the tool of a call. A request of an extension has no Tool.
type Target struct {
	Server, Tool string // the server as the configuration names it, the tool as the server does
	Definition   *toolpost.Definition
}

// A Decision is what happens to a call.
type Decision struct {
	Action Action
	Rule   string // that decides, such as "approvals[2]"; empty if none matches
	Reason string // of the rule, or why the arguments cannot be decided about
}

// A Policy is compiled lists. The nil Policy allows every call.
type Policy []*compiledList

type compiledList struct {
	name  string
	rules []*compiledRule
}

// A compiledRule is a Rule that is ready to be matched.
type compiledRule struct {
	*Rule
	servers, tools []glob // nil for all
	arguments      []*condition
}

// Compile returns the policy of lists.
func Compile(lists []List) (Policy, error) {
	var p Policy
	for _, l := range lists {
		if len(l.Rules) == 0 {
			continue
		}
		if len(l.Rules) > MaxRules {
			return nil, fmt.Errorf("%s has more than %d rules", l.Name, MaxRules)
		}
		c := &compiledList{name: l.Name}
		for i := range l.Rules {
			r, err := l.Rules[i].compile()
			if err != nil {
				return nil, fmt.Errorf("%s[%d]: %w", l.Name, i, err)
			}
			c.rules = append(c.rules, r)
		}
		p = append(p, c)
	}
	return p, nil
}

func (r *Rule) compile() (c *compiledRule, err error) {
	if r.Action.strictness() < 0 {
		return nil, fmt.Errorf(`the action is %q; want "allow", "ask" or "deny"`, r.Action)
	}
	c = &compiledRule{Rule: r}
	if c.servers, err = compileGlobs(r.Servers); err != nil {
		return nil, err
	}
	if c.tools, err = compileGlobs(r.Tools); err != nil {
		return nil, err
	}
	if len(r.Arguments) > maxPatterns {
		return nil, fmt.Errorf("it has more than %d arguments", maxPatterns)
	}
	for _, a := range r.Arguments {
		one, err := a.compile(r.Action == Allow)
		if err != nil {
			return nil, fmt.Errorf("argument %q: %w", a.Name, err)
		}
		c.arguments = append(c.arguments, one)
	}
	return c, nil
}

// Check returns the mistake in a rule, nil if there is none.
func (r *Rule) Check() error {
	_, err := r.compile()
	return err
}

// covers reports whether a rule is about the calls of a target, whatever their
// arguments. A rule that names no tool, annotation or argument is about the other
// requests of a server too.
func (r *compiledRule) covers(t Target) bool {
	if r.servers != nil && !matchAny(r.servers, t.Server) {
		return false
	}
	if t.Tool == "" {
		return r.tools == nil && r.Annotations == Annotations{} && len(r.arguments) == 0
	}
	return (r.tools == nil || matchAny(r.tools, cleartext.Clean(t.Tool))) && r.Annotations.match(t.Definition)
}

// match compares what a tool claims. A tool without claims changes things, may destroy
// them, and reaches beyond its server, as MCP assumes.
func (a Annotations) match(d *toolpost.Definition) bool {
	claims := toolpost.Annotations{}
	if d != nil {
		claims = d.Annotations
	}
	readOnly := claims.ReadOnly != nil && *claims.ReadOnly
	return holds(a.ReadOnly, claims.ReadOnly, false) && holds(a.Destructive, claims.Destructive, !readOnly) &&
		holds(a.Idempotent, claims.Idempotent, readOnly) && holds(a.OpenWorld, claims.OpenWorld, true)
}

// holds reports whether a claim, or what is assumed without one, is as wanted.
func holds(want, claim *bool, assumed bool) bool {
	if claim != nil {
		assumed = *claim
	}
	return want == nil || *want == assumed
}

// Decide returns what happens to a call with these arguments. The time that it needs is
// bounded; if ctx ends before, the call is denied.
func (p Policy) Decide(ctx context.Context, t Target, arguments []byte) Decision {
	strictest := Decision{Action: Allow}
	args := &decodedArguments{ctx: ctx, raw: arguments, target: t}
	for _, l := range p {
		d := l.decide(t, args)
		if strictest.Rule == "" && d.Action == Allow || d.Action.strictness() > strictest.Action.strictness() {
			strictest = d
		}
	}
	return strictest
}

// MayAsk reports whether the user is asked about some calls of a target.
func (p Policy) MayAsk(t Target) bool {
	return slices.ContainsFunc(p, func(l *compiledList) bool {
		for _, r := range l.rules {
			switch {
			case !r.covers(t):
			case r.Action == Ask:
				return true
			case len(r.arguments) == 0:
				return false // later rules decide about no call
			}
		}
		return false
	})
}

func (l *compiledList) decide(t Target, args *decodedArguments) Decision {
	for i, r := range l.rules {
		if !r.covers(t) {
			continue
		}
		rule := fmt.Sprintf("%s[%d]", l.name, i)
		if len(r.arguments) > 0 || r.Action == Ask {
			if err := args.read(); err != nil {
				return Decision{Deny, rule, err.Error()}
			}
		}
		matches := !slices.ContainsFunc(r.arguments, func(c *condition) bool { return !c.match(args) })
		switch {
		case args.err != nil:
			return Decision{Deny, rule, args.err.Error()}
		case matches:
			return Decision{r.Action, rule, r.Reason}
		}
	}
	return Decision{Action: Allow}
}

// Denies returns the rule that denies all calls of a tool, whatever their arguments,
// and its reason; the rule is empty if there is none.
func (p Policy) Denies(t Target) (rule, reason string) {
	for _, l := range p {
		for i, r := range l.rules {
			if !r.covers(t) || r.Action == Deny && len(r.arguments) > 0 {
				continue // one that denies some calls does not decide about the others
			}
			if r.Action == Deny {
				return fmt.Sprintf("%s[%d]", l.name, i), r.Reason
			}
			break
		}
	}
	return "", ""
}
