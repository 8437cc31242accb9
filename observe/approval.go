package observe

// A Ruling is what an approval rule of the configuration did with a request.
type Ruling struct {
	Rule string // that decided, such as approvals[2]

	// Decision is what the rule, or the user whom it asks, decided: allow, deny, approved,
	// declined, unanswered if the user did not answer or the client left, cannot_ask if the
	// client cannot ask its user, or changed if the tool changed while the user was asked.
	// After allow and approved the request runs.
	Decision string
}

// SetApproval records what an approval rule did with the request.
func (r *Request) SetApproval(rule, decision string) {
	if r != nil {
		r.approval.Store(&Ruling{rule, decision})
	}
}

// Ruling returns what an approval rule did with the request, nil if none matched.
func (r *Request) Ruling() *Ruling {
	if r == nil {
		return nil
	}
	return r.approval.Load()
}
