package mcpserver

import (
	"net/http"
	"sync/atomic"

	"github.com/toolpost/toolpost/internal/budget"
	"github.com/toolpost/toolpost/internal/wire"
)

// Limits of what the messages of one client hold, from their first byte until they are
// answered. Four such clients together reach the limit of all. A client is an
// authenticated caller, else all clients at one address.
const (
	maxClientMessages = 4000
	maxClientBytes    = 256 << 20
	clientsInAll      = 4
)

// smallPart is how many bytes of a body may come, and of a result may wait to be read,
// that are not counted one by one: the number of messages bounds them.
const smallPart = 64 << 10

// holders count what clients hold.
type holders = budget.Shares[quotaHolder]

// newHolders returns shares of which each has at most the limit.
func newHolders(each budget.Limit) *holders {
	all := budget.Limit{Number: clientsInAll * each.Number, Bytes: clientsInAll * each.Bytes}
	return budget.NewShares[quotaHolder](budget.New(nil, all), each)
}

// newMessageHolders returns the shares of messages. A client can always send two of the
// largest, also if they are calls, which may have half of its room.
func newMessageHolders(o *Options) *holders {
	return newHolders(budget.Limit{Number: maxClientMessages, Bytes: max(maxClientBytes, 4*int(o.Limits.Body))})
}

// A hold is what one message, or what came with it, holds. A nil hold holds nothing and
// refuses nothing.
type hold struct {
	share budget.Share[quotaHolder]
	bytes atomic.Int64
	given atomic.Bool
}

// newHold returns a hold of so many bytes, nil if the client has no room for it.
func newHold(of *holders, holder quotaHolder, bytes int) *hold {
	if h := new(hold); h.take(of, holder, bytes) {
		return h
	}
	return nil
}

// take reports whether the client has room for so many bytes, which h holds then.
func (h *hold) take(of *holders, holder quotaHolder, bytes int) bool {
	h.share = of.Of(holder)
	if !h.share.Take(bytes) {
		return false
	}
	h.bytes.Store(int64(bytes))
	return true
}

// grow reports whether the client has room for more bytes, which the hold has then.
func (h *hold) grow(bytes int) bool {
	if h == nil {
		return true
	}
	if !h.share.Grow(bytes) {
		return false
	}
	h.bytes.Add(int64(bytes))
	return true
}

// growPast is grow, but the last bytes may exceed the room of the client.
func (h *hold) growPast(bytes int) bool {
	if h == nil {
		return true
	}
	if !h.share.GrowPast(bytes) {
		return false
	}
	h.bytes.Add(int64(bytes))
	return true
}

// size returns how many bytes are held.
func (h *hold) size() int {
	if h == nil {
		return 0
	}
	return int(h.bytes.Load())
}

// release gives the room back, once.
func (h *hold) release() {
	if h != nil && h.given.CompareAndSwap(false, true) {
		h.share.Give(h.size())
	}
}

// move returns a hold that takes the place of h, whose release does nothing any more.
func (h *hold) move() *hold {
	if h == nil || !h.given.CompareAndSwap(false, true) {
		return nil
	}
	moved := &hold{share: h.share}
	moved.bytes.Store(h.bytes.Load())
	return moved
}

// hasRoomToCall reports whether the client may begin more. It may fill half of its room
// with calls, so that there is room for its answers to what these ask.
func (h *hold) hasRoomToCall(of *holders) bool {
	held, limit := h.share.Held(), of.Limit()
	return held.Number <= limit.Number/2 && held.Bytes <= limit.Bytes/2
}

// keep returns a result that waits for its client to read it, or an error if the client
// has no room left. The last result that is kept may be larger than the room, so that a
// client can get every result, as long as there is room of all.
func (h *hold) keep(result payload, err error) (payload, error) {
	size := result.heldBytes()
	if err != nil || size <= smallPart || h.growPast(size) {
		return result, err
	}
	result.close()
	return nil, wire.Errorf(wire.CodeInternal, "the request was carried out, but there was no room for its result of %d bytes, because others wait to be read; read those, and repeat the request only if that is safe", size)
}

// tooMuch refuses a request of a client that has no room for it.
func tooMuch(w http.ResponseWriter) *refusal {
	w.Header().Set("Retry-After", "5")
	return &refusal{http.StatusServiceUnavailable, errTooMuch()}
}

func errTooMuch() *wire.Error {
	return wire.Errorf(wire.CodeInvalidRequest, "too many or too large requests of this client are under way; wait for some of them, and try again")
}
