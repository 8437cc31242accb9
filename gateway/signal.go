package gateway

// A signal wakes a goroutine that receives from it. Signals that are sent before
// it receives count as one.
type signal chan struct{}

func newSignal() signal { return make(signal, 1) }

func (s signal) send() {
	select {
	case s <- struct{}{}:
	default:
	}
}
