// Package pins remembers the definitions of tools, so that a server cannot
// change them behind the back of the user.
//
//	definition of a server ── Review ──▶ served, or withheld until ── Approve
//	                            │
//	                       Lock, in a File
package pins

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolpost/toolpost/internal/wire"
)

// A Lock is the content of a lock file: the pins of the servers of one
// configuration.
type Lock struct {
	Version int              `json:"version"`
	Config  string           `json:"config,omitempty"` // whose servers they are, for people
	Servers map[string]Tools `json:"servers"`
}

// version is that of the format.
const version = 1

// Tools are the pins of one server, by the server's own names of its tools. A
// Pin is never changed, only replaced.
type Tools map[string]*Pin

// A Pin remembers one tool.
type Pin struct {
	Approved *Definition `json:"approved,omitempty"` // nil for a new tool that waits for approval
	Pending  *Definition `json:"pending,omitempty"`  // what the server says instead; nil if it says the same
}

// A Definition is what a server says about a tool.
type Definition struct {
	Hash string          `json:"sha256"`
	JSON json.RawMessage `json:"definition,omitempty"` // canonical; nil if it is not kept, because it is too long
	Seen time.Time       `json:"seen,omitzero"`        // set while the definition is pending
}

// NewDefinition returns the canonical form of an MCP Tool object: without white
// space, with the members of objects in order. Icons are left out, because
// models do not read them and their addresses may expire. If an object has two
// members of one name, members keep their order and icons stay.
func NewDefinition(tool json.RawMessage) *Definition {
	v := jsontext.Value(bytes.Clone(tool))
	unique := v.IsValid(jsontext.AllowInvalidUTF8(true)) // of members with one name, readers take the first or the last
	err := v.Format(jsontext.ReorderRawObjects(unique), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return &Definition{Hash: hash(tool)} // not JSON
	}
	raw := json.RawMessage(v)
	if unique {
		raw = wire.Delete(raw, "icons")
	}
	return &Definition{Hash: hash(raw), JSON: raw}
}

func hash(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// equals reports whether two definitions are the same; none differs from all.
func (d *Definition) equals(other *Definition) bool {
	return d != nil && other != nil && d.Hash == other.Hash
}

// Waiting returns the tools whose definition waits for an approval, by name.
func (t Tools) Waiting() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(t)) {
		if t[name].Pending != nil {
			names = append(names, name)
		}
	}
	return names
}
