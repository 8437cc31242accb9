package gateway

// A bell wakes who waits for it; it is heard once, however often it rang
// meanwhile.
type bell chan struct{}

func newBell() bell { return make(bell, 1) }

func (b bell) ring() {
	select {
	case b <- struct{}{}:
	default:
	}
}
