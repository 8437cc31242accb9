// Package budget limits the messages that are held in memory for others: how many
// wait, and how many bytes they have. A message counts until it was delivered or
// dropped.
package budget

import "sync"

// A Limit is how much may be held at a time. Zero members limit nothing.
type Limit struct {
	Number int
	Bytes  int
}

// A Budget counts the pieces that are held. A piece that is taken from a budget is
// taken from the one above it too. A nil Budget limits nothing. It is safe for
// concurrent use.
type Budget struct {
	above *Budget
	limit Limit

	mu   sync.Mutex
	held Limit
}

// New returns a budget of which nothing is held. Above may be nil.
func New(above *Budget, limit Limit) *Budget {
	return &Budget{above: above, limit: limit}
}

// Take takes one piece of so many bytes. It reports whether the budget, and those
// above it, have room for it; otherwise it takes nothing.
func (b *Budget) Take(bytes int) bool { return b.take(Limit{1, bytes}, false) }

// Grow adds bytes to a piece that was taken, on the same condition.
func (b *Budget) Grow(bytes int) bool { return b.take(Limit{0, bytes}, false) }

// GrowPast adds bytes to a piece that was taken, as long as the limits are not reached;
// they may be exceeded then.
func (b *Budget) GrowPast(bytes int) bool { return b.take(Limit{0, bytes}, true) }

// Give gives back one piece that has so many bytes by now.
func (b *Budget) Give(bytes int) { b.give(Limit{1, bytes}) }

func (b *Budget) take(l Limit, past bool) bool {
	switch {
	case b == nil:
		return true
	case !b.add(l, past):
		return false
	case !b.above.take(l, past):
		b.subtract(l)
		return false
	}
	return true
}

func (b *Budget) give(l Limit) {
	for ; b != nil; b = b.above {
		b.subtract(l)
	}
}

func (b *Budget) add(l Limit, past bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	next := Limit{b.held.Number + l.Number, b.held.Bytes + l.Bytes}
	tooLarge := next.Bytes > b.limit.Bytes
	if past {
		tooLarge = b.held.Bytes >= b.limit.Bytes
	}
	if b.limit.Number > 0 && next.Number > b.limit.Number || b.limit.Bytes > 0 && tooLarge {
		return false
	}
	b.held = next
	return true
}

func (b *Budget) subtract(l Limit) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held.Number -= l.Number
	b.held.Bytes -= l.Bytes
}

// Held returns how much is held.
func (b *Budget) Held() Limit {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held
}

// A Room has space for pieces: a [Budget], or the [Share] of one key.
type Room interface {
	Take(bytes int) bool
	Grow(bytes int) bool
	Give(bytes int)
}

// Shares give each key a budget of its own below a common one, so that one client
// cannot use up what is there for all. They are safe for concurrent use.
type Shares[K comparable] struct {
	common *Budget
	limit  Limit

	mu    sync.Mutex
	all   map[K]*counted // of which something is held
	spare *counted       // of which nothing is held any more; nil if there is none
}

type counted struct {
	Budget
	users int // pieces, and takes under way
}

// NewShares returns shares of a common budget, each with a limit of its own.
func NewShares[K comparable](common *Budget, each Limit) *Shares[K] {
	return &Shares[K]{common: common, limit: each, all: map[K]*counted{}}
}

// Limit returns the limit of each share.
func (s *Shares[K]) Limit() Limit { return s.limit }

// Of returns the share of a key.
func (s *Shares[K]) Of(key K) Share[K] { return Share[K]{s, key} }

// A Share is the part of one key. It takes memory only while something is held of it.
type Share[K comparable] struct {
	of  *Shares[K]
	key K
}

// Take takes one piece, like [Budget.Take].
func (s Share[K]) Take(bytes int) bool {
	s.of.mu.Lock()
	own := s.of.all[s.key]
	if own == nil {
		if own = s.of.spare; own == nil {
			own = &counted{Budget: Budget{above: s.of.common, limit: s.of.limit}}
		}
		s.of.spare = nil
		s.of.all[s.key] = own
	}
	own.users++
	s.of.mu.Unlock()
	if own.Take(bytes) {
		return true
	}
	s.leave(own)
	return false
}

// Grow adds bytes to a piece that was taken, like [Budget.Grow].
func (s Share[K]) Grow(bytes int) bool { return s.budget().Grow(bytes) }

// GrowPast adds bytes to a piece that was taken, like [Budget.GrowPast].
func (s Share[K]) GrowPast(bytes int) bool { return s.budget().GrowPast(bytes) }

// Held returns how much of the share is held.
func (s Share[K]) Held() Limit {
	if own := s.budget(); own != nil {
		return own.Held()
	}
	return Limit{}
}

// Give gives back one piece that has so many bytes by now.
func (s Share[K]) Give(bytes int) {
	own := s.budget()
	own.Give(bytes)
	s.leave(own)
}

// budget returns the budget of the key, nil if nothing is held of it.
func (s Share[K]) budget() *counted {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	return s.of.all[s.key]
}

func (s Share[K]) leave(own *counted) {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if own.users--; own.users == 0 {
		delete(s.of.all, s.key)
		s.of.spare = own
	}
}
