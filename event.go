package toolpost

// An Event is a change that a Toolset reports outside of calls. The zero Event
// reports that the result of Tools or Features has changed.
type Event struct {
	Server       string // the server that reports it, where a Toolset has several; "" if it has not
	Resource     string // the URI of a resource that has changed
	Notification *Call  // a notification of an extension, or a log message: Name is its method; for the client session Session, or for all if that is empty
}

// lists reports whether the lists have changed.
func (e Event) lists() bool { return e == Event{} }
