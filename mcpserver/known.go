package mcpserver

import "crypto/sha256"

// A listSum identifies the bytes of a list. The zero listSum is that of a list
// that is not known.
type listSum [sha256.Size]byte

// knownLists are the lists that a client knows: those that it has read or was
// notified of last, or would have read with its first answer. It is notified of
// others only, and not of a list that it is about to read.
type knownLists struct {
	begun bool               // the client had its first answer
	sums  map[string]listSum // by the method that lists
	asked map[string]int     // requests under way, by the method that lists
}

// begin records that the client gets its first answer now: what has changed before
// is not news for it.
func (l *listener) begin() {
	l.changes.mu.Lock()
	defer l.changes.mu.Unlock()
	l.firstAnswer()
}

// firstAnswer is begin. The lock is held.
func (l *listener) firstAnswer() {
	if l.lists.begun {
		return
	}
	l.lists = knownLists{begun: true, sums: map[string]listSum{}, asked: l.lists.asked}
	for method := range changeOf {
		l.lists.sums[method] = l.view.sum(method)
	}
}

// asks records that the client has asked for a list. It is notified of changes
// since its answer once the function that asks returns is called.
func (l *listener) asks(method string) (answered func()) {
	t := topicOf(method)
	if t == (topic{}) {
		return func() {}
	}
	l.changes.mu.Lock()
	defer l.changes.mu.Unlock()
	if l.lists.asked == nil {
		l.lists.asked = map[string]int{}
	}
	l.lists.asked[method]++
	return func() {
		l.changes.mu.Lock()
		defer l.changes.mu.Unlock()
		if l.lists.asked[method]--; l.lists.asked[method] == 0 {
			delete(l.lists.asked, method)
		}
		l.mark(t)
	}
}

// reads records that the client reads a list from its beginning. One that goes on
// with a later page still knows the first pages as they were.
func (l *listener) reads(method string, list listing) {
	l.changes.mu.Lock()
	defer l.changes.mu.Unlock()
	l.firstAnswer()
	l.lists.sums[method] = list.sum
}

// isNews reports whether the client does not know the state of a topic. The lock
// is held.
func (l *listener) isNews(t topic) bool {
	if t.method == resourceUpdated {
		return true
	}
	for method, change := range changeOf {
		if change == t.method && l.lists.begun && l.lists.asked[method] == 0 && l.lists.sums[method] != l.view.sum(method) {
			return true
		}
	}
	return false
}

// setKnown records that the client is notified of a topic, or with known false that
// it could not be. The lock is held.
func (l *listener) setKnown(t topic, known bool) {
	for method, change := range changeOf {
		switch {
		case change != t.method:
		case known:
			l.lists.sums[method] = l.view.sum(method)
		default:
			l.lists.sums[method] = listSum{}
		}
	}
}

// sum returns the sum of the list that a method returns in a view.
func (s *view) sum(method string) listSum {
	if s == nil {
		return listSum{}
	}
	return s.catalog.Load().list(method).sum
}
