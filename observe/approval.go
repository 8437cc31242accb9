package observe

// A ruling is what an approval rule of the configuration did with a request.
type ruling struct{ rule, decision string }

// SetApproval records what an approval rule did with the request.
func (r *Request) SetApproval(rule, decision string) {
	if r != nil {
		r.approval.Store(&ruling{rule, decision})
	}
}

// Approval returns the approval rule of the configuration that decided about the request, such
// as approvals[2], and what it, or the user whom it asks, decided: allow, deny, approved,
// declined, unanswered if the user did not answer or the client left, cannot_ask if the client
// cannot ask its user, or changed if the tool changed while the user was asked. After allow
// and approved the request runs. Both are empty if no rule matched.
func (r *Request) Approval() (rule, decision string) {
	if r == nil {
		return "", ""
	}
	if decided := r.approval.Load(); decided != nil {
		return decided.rule, decided.decision
	}
	return "", ""
}
