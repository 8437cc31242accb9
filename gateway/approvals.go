package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/extension"
	"github.com/toolpost/toolpost/internal/policy/approval"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/observe"
)

// askTime is how long a question to the user is open.
const askTime = 5 * time.Minute

// An approver applies the approval rules to every call that goes to a server, with
// the arguments that the server gets.
type approver struct {
	ask   func(ctx context.Context, question string) (bool, error) // nil asks the caller
	rules atomic.Pointer[approvalRules]
}

// approvalRules are the compiled rules of a configuration.
type approvalRules struct {
	file     approval.Policy
	profiles map[string]approval.Policy // with the rules of the file
}

// newApprovalRules returns the rules of a configuration.
func newApprovalRules(file []config.ApprovalList, profiles map[string]*profile) (r *approvalRules, err error) {
	r = &approvalRules{profiles: map[string]approval.Policy{}}
	if r.file, err = compileApprovals(file); err != nil {
		return nil, err
	}
	for name, p := range profiles {
		r.profiles[name] = slices.Concat(p.approvals, r.file)
	}
	return r, nil
}

// compileApprovals returns the policy of lists of rules.
func compileApprovals(lists []config.ApprovalList) (approval.Policy, error) {
	var all []approval.List
	for _, l := range lists {
		list := approval.List{Name: l.Name}
		for _, r := range l.Rules {
			one := approval.Rule{Action: approval.Action(r.Action), Servers: r.Servers, Tools: r.Tools, Annotations: approval.Annotations(r.Annotations), Reason: r.Reason}
			for _, a := range r.Arguments {
				one.Arguments = append(one.Arguments, approval.Argument(a))
			}
			list.Rules = append(list.Rules, one)
		}
		all = append(all, list)
	}
	return approval.Compile(all)
}

// mayAsk reports whether the user is asked about some calls of a target.
func (a *approver) mayAsk(ctx context.Context, t approval.Target) bool {
	p, err := a.policy(ctx)
	return err == nil && p.MayAsk(t)
}

// profileKey has the profile of a call, in its context.
type profileKey struct{}

// policy returns the rules for the calls of ctx. A profile that is gone has none that
// could be asked, so nothing runs.
func (a *approver) policy(ctx context.Context) (approval.Policy, error) {
	r := a.rules.Load()
	name, named := ctx.Value(profileKey{}).(string)
	if !named || r == nil {
		if r == nil {
			return nil, nil
		}
		return r.file, nil
	}
	p, known := r.profiles[name]
	if !known {
		return nil, toolpost.Denied.Errorf("The profile %q of this call was removed from the configuration; connect again", name)
	}
	return p, nil
}

// inProfile returns a handler whose calls are decided by the rules of a profile.
func inProfile(h toolpost.Handler, profile string) toolpost.Handler {
	return func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		return h(context.WithValue(ctx, profileKey{}, profile), call)
	}
}

// rulesApply reports whether the rules are about requests of a method: calls of tools, and
// methods of extensions but for those of tasks, which a call of a tool has created.
func rulesApply(method string) bool {
	return method == callTool || extension.Method(method) && !extension.IsOfTasks(method)
}

// denial explains to a model why a call is denied.
func denial(d approval.Decision) string {
	text := fmt.Sprintf("it is denied by the rule %s of Toolpost's configuration", d.Rule)
	if d.Reason != "" {
		text += ": " + d.Reason
	}
	return text + ". Do not try to reach the same in another way; tell the user, who can change the rule"
}

// approved runs a request if it may go to the server.
func (m *member) approved(to *observe.Target, next toolpost.Handler) toolpost.Handler {
	return func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		if err := m.approve(ctx, to, call); err != nil {
			return nil, err
		}
		return next(ctx, call)
	}
}

// approve returns nil if a request may go to the server. It asks the user if a rule
// says so.
func (m *member) approve(ctx context.Context, to *observe.Target, call *toolpost.Call) error {
	if !rulesApply(to.Method) {
		return nil
	}
	p, err := m.approver.policy(ctx)
	if err != nil {
		return err
	}
	if len(p) == 0 {
		return nil
	}
	target := approval.Target{Server: to.Server, Tool: to.Name, Definition: to.Definition}
	d := p.Decide(ctx, target, call.Arguments)
	if d.Rule == "" {
		return nil
	}
	decision, err := string(d.Action), error(nil)
	switch d.Action {
	case approval.Deny:
		err = toolpost.Denied.Errorf("This call was not executed: %s.", denial(d))
	case approval.Ask:
		decision, err = m.askUser(ctx, to, target, d, call)
	}
	r := observe.From(ctx)
	r.SetApproval(d.Rule, decision)
	if err != nil && ctx.Err() == nil {
		r.Note(observe.Denied)
	}
	return err
}

// askUser asks about one call, and returns the decision for [observe.Request.Approval]. The answer counts for this call only: for its tool, the
// definition of that, and these arguments, which the client cannot change any more.
func (m *member) askUser(ctx context.Context, to *observe.Target, target approval.Target, d approval.Decision, call *toolpost.Call) (decision string, err error) {
	hash := ""
	if to.Definition != nil {
		hash = definitionOf(&toolpost.Tool{Definition: *to.Definition}).Hash
	}
	q, err := approval.NewQuestion(target, hash, d, call.Arguments)
	if err != nil {
		return string(approval.Deny), toolpost.Denied.Errorf("This call was not executed: the rule %s of Toolpost's configuration wants the user to approve it, and %v.", d.Rule, err)
	}
	within, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	yes, err := m.approver.putQuestion(within, q, call)
	switch {
	case ctx.Err() != nil:
		return "unanswered", context.Cause(ctx)
	case within.Err() != nil:
		return "unanswered", toolpost.Denied.Errorf("This call was not executed: the rule %s of Toolpost's configuration wants the user to approve it, and the user did not answer within %v. Do not call again until the user wants it.", d.Rule, askTime)
	case err != nil:
		return "cannot_ask", toolpost.Denied.Errorf("This call was not executed: the rule %s of Toolpost's configuration wants the user to approve it, and the user cannot be asked: %v. Tell the user, who can use a client that supports elicitation, or change the action of this rule.", d.Rule, err)
	case !yes:
		return "declined", toolpost.Denied.Errorf("This call was not executed: the user declined it. Do not try to reach the same in another way.")
	}
	return m.checkApproval(ctx, to, target, call)
}

// putQuestion asks the user, or the caller, who asks its user.
func (a *approver) putQuestion(ctx context.Context, q *approval.Question, call *toolpost.Call) (bool, error) {
	if isUnasked(ctx) {
		return false, toolpost.ErrNoCaller
	}
	if a.ask != nil {
		return a.ask(ctx, q.Text)
	}
	if call.Caller == nil {
		return false, toolpost.ErrNoCaller
	}
	answer, err := call.Caller.Request(ctx, "elicitation/create", q.Params())
	if p, ok := errors.AsType[*toolpost.ProtocolError](err); ok {
		if p.Code == wire.CodeMissingCapability {
			return false, toolpost.ErrNoCaller
		}
		return false, fmt.Errorf("the client answered with the error %s", cleartext.Escape(strings.ToValidUTF8(p.Message[:min(len(p.Message), 200)], "")))
	}
	if err != nil {
		return false, err
	}
	return approval.Approved(answer)
}

// checkApproval returns nil if what the user approved is still so: the rules do not
// deny the call by now, and the server has not changed the definition of the tool.
func (m *member) checkApproval(ctx context.Context, to *observe.Target, target approval.Target, call *toolpost.Call) (decision string, err error) {
	p, err := m.approver.policy(ctx)
	if err != nil {
		return string(approval.Deny), err
	}
	if d := p.Decide(ctx, target, call.Arguments); d.Action == approval.Deny {
		return string(approval.Deny), toolpost.Denied.Errorf("This call was not executed: %s.", denial(d))
	}
	if to.Definition != nil && !m.lists(ctx, to.Definition) {
		return "changed", toolpost.Denied.Errorf("This call was not executed: the server changed the definition of the tool while the user was asked. List the tools again.")
	}
	return "approved", nil
}

// lists reports whether the server lists a tool with this definition now.
func (m *member) lists(ctx context.Context, d *toolpost.Definition) bool {
	tools, err := m.tools(ctx)
	if err != nil {
		return false
	}
	want := definitionOf(&toolpost.Tool{Definition: *d}).Hash
	for _, t := range tools {
		if t != nil && t.Name == d.Name && t.Input != nil {
			return definitionOf(&toolpost.Tool{Definition: removeHidden(t.Definition)}).Hash == want
		}
	}
	return false
}
