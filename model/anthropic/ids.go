package anthropic

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/toolpost/toolpost/internal/lazyregexp"
)

// validID matches the ids of calls that the provider accepts.
var validID = lazyregexp.New(`^[a-zA-Z0-9_-]+$`)

const maxID = 256 // bytes of an id; longer ones are replaced

// callIDs gives every call of a conversation an id that the provider accepts:
// its own one if that is valid and no call before has it. The same conversation
// gives the same ids, so that the provider's cache recognizes it.
type callIDs struct {
	used   map[string]bool
	latest map[string]string // by the ids in the conversation
}

func newCallIDs() callIDs { return callIDs{map[string]bool{}, map[string]string{}} }

// add returns the id of the next call.
func (c *callIDs) add(id string) string {
	unique := id
	if !validID.MatchString(id) || len(id) > maxID {
		unique = derivedID(id, 0)
	}
	for n := 1; c.used[unique]; n++ {
		unique = derivedID(id, n)
	}
	c.used[unique], c.latest[id] = true, unique
	return unique
}

// of returns the id that the latest call with this id has.
func (c *callIDs) of(id string) string { return c.latest[id] }

// derivedID returns a valid id for the n-th call with an id.
func derivedID(id string, n int) string {
	sum := sha256.Sum256([]byte(strconv.Itoa(n) + " " + id))
	return "toolu_" + hex.EncodeToString(sum[:12])
}
