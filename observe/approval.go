package observe

// A Ruling is what an approval rule of the configuration did with a request.
type Ruling struct {
	Rule     string // that decided, such as approvals[2]
	Approval Approval
}

// An Approval is how a rule, and the user whom it asks, decided.
type Approval string

// The approvals. Of those, allow and approved let the request run.
const (
	ApprovalAllowed    Approval = "allow"      // by a rule that allows
	ApprovalDenied     Approval = "deny"       // by a rule that denies, or because the arguments cannot be judged
	ApprovalGiven      Approval = "approved"   // by the user
	ApprovalDeclined   Approval = "declined"   // by the user
	ApprovalUnanswered Approval = "unanswered" // the user did not answer, or the client left
	ApprovalImpossible Approval = "cannot_ask" // the client cannot ask its user
	ApprovalChanged    Approval = "changed"    // the tool changed while the user was asked
)

// SetApproval records what an approval rule did with the request.
func (r *Request) SetApproval(rule string, a Approval) {
	if r != nil {
		r.approval.Store(&Ruling{rule, a})
	}
}

// Ruling returns what an approval rule did with the request, nil if none matched.
func (r *Request) Ruling() *Ruling {
	if r == nil {
		return nil
	}
	return r.approval.Load()
}
