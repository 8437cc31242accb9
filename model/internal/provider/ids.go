package provider

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/toolpost/toolpost/internal/lazyregexp"
)

var notInName = lazyregexp.New(`[^a-zA-Z0-9_-]`)

// IsName reports whether a text has between 1 and most letters, digits, _ and -,
// and nothing else, as names of tools and ids of calls must.
func IsName(text string, most int) bool {
	return text != "" && len(text) <= most && !notInName.MatchString(text)
}

// CallIDs gives every call of a conversation an id that the provider accepts:
// its own one if that is valid and no call before has it. The same conversation
// gives the same ids, so that the provider's cache recognizes it.
type CallIDs struct {
	prefix string
	most   int
	used   map[string]bool
	latest map[string]string // by the ids in the conversation
}

// NewCallIDs returns ids for one conversation. Ids of more than most bytes are
// replaced; those that replace others begin with prefix.
func NewCallIDs(prefix string, most int) *CallIDs {
	return &CallIDs{prefix, most, map[string]bool{}, map[string]string{}}
}

// Keep records a call that is sent with its own id.
func (c *CallIDs) Keep(id string) { c.used[id], c.latest[id] = true, id }

// IsUsed reports whether a call before has the id.
func (c *CallIDs) IsUsed(id string) bool { return c.used[id] }

// Choose returns the id of the next call.
func (c *CallIDs) Choose(id string) string {
	chosen := id
	if !IsName(id, c.most) {
		chosen = DerivedID(c.prefix, id, 0)
	}
	for n := 1; c.used[chosen]; n++ {
		chosen = DerivedID(c.prefix, id, n)
	}
	c.used[chosen], c.latest[id] = true, chosen
	return chosen
}

// Of returns the id that the latest call with this id has.
func (c *CallIDs) Of(id string) string {
	if chosen, known := c.latest[id]; known {
		return chosen
	}
	return id
}

// DerivedID returns the n-th valid id that can be made of a text.
func DerivedID(prefix, text string, n int) string {
	h := sha256.New()
	fmt.Fprintf(h, "%d %s", n, text)
	return prefix + hex.EncodeToString(h.Sum(nil)[:12])
}
