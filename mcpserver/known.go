package mcpserver

import "crypto/sha256"

// A listSum identifies the bytes of a list. The zero listSum is that of a list
// that is not known.
type listSum [sha256.Size]byte

// knownLists are the lists that a client knows: those that it has read or was
// notified of last, or would have read with its first answer. It is notified of
// others only, and not of a list that it is about to read.
type knownLists struct {
	begun bool // the client had its first answer
	sums  [len(lists)]listSum
	asked [len(lists)]int32 // requests under way
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
	l.lists.begun = true
	for i := range lists {
		l.lists.sums[i] = l.view.sum(i)
	}
}

// asks records that the client has asked for a list. It is notified of changes
// since its answer once the function that asks returns is called.
func (l *listener) asks(method string) (answered func()) {
	i := listNumber(method)
	if i < 0 {
		return func() {}
	}
	l.changes.mu.Lock()
	defer l.changes.mu.Unlock()
	l.lists.asked[i]++
	return func() {
		l.changes.mu.Lock()
		defer l.changes.mu.Unlock()
		l.lists.asked[i]--
		l.mark(topicOf(method))
	}
}

// reads records that the client reads a list from its beginning. One that goes on
// with a later page still knows the first pages as they were.
func (l *listener) reads(method string, list listing) {
	l.changes.mu.Lock()
	defer l.changes.mu.Unlock()
	l.firstAnswer()
	l.lists.sums[listNumber(method)] = list.sum
}

// isNews reports whether the client does not know the state of a topic. The lock
// is held.
func (l *listener) isNews(t topic) bool {
	if t.method == resourceUpdated {
		return true
	}
	for i := range lists {
		if lists[i].changed == t.method && l.lists.begun && l.lists.asked[i] == 0 && l.lists.sums[i] != l.view.sum(i) {
			return true
		}
	}
	return false
}

// setKnown records that the client is notified of a topic, or with known false that
// it could not be. The lock is held.
func (l *listener) setKnown(t topic, known bool) {
	for i := range lists {
		switch {
		case lists[i].changed != t.method:
		case known:
			l.lists.sums[i] = l.view.sum(i)
		default:
			l.lists.sums[i] = listSum{}
		}
	}
}

// sum returns the sum of one of lists in a view.
func (s *view) sum(number int) listSum {
	if s == nil {
		return listSum{}
	}
	return s.catalog.Load().list(lists[number].method).sum
}
