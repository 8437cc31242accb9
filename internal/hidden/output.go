package hidden

import (
	"crypto/sha256"
	"encoding/base32"
	"strings"
)

// The smallest limits of a view of an output: smaller views would contain only the note
// about the rest.
const (
	MinLines = 10
	MinChars = 1000
)

// RefSize is the length of a reference to a stored output: 80 random bits.
const RefSize = 16

// OutputName returns the name of an output in the store. It differs for each holder,
// also after a restart, but does not reveal the holder.
func OutputName(holder, ref string) string {
	sum := sha256.Sum256([]byte("toolpost output " + holder))
	return strings.ToLower(base32.StdEncoding.EncodeToString(sum[:15])) + "." + ref
}

// SplitOutputName returns the parts of an [OutputName]: the holder, as a hash, and the
// reference.
func SplitOutputName(name string) (holder, ref string, ok bool) {
	holder, ref, ok = strings.Cut(name, ".")
	return holder, ref, ok && len(holder) == 24 && len(ref) == RefSize
}
