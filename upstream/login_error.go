package upstream

// A LoginError means that a server wants a login that only the user can do. A
// layer of [Config].Wrap returns it in the place of a response.
type LoginError struct {
	Command string // that logs in
	Why     string // a sentence without its full stop; may be empty
	More    bool   // the login is good, but not enough for this request
}

func (e *LoginError) Error() string {
	text := "it needs a login"
	if e.More {
		text = "this needs more permissions than its login has"
	}
	if e.Why != "" {
		text += " (" + e.Why + ")"
	}
	return text + "; run: " + e.Command
}
