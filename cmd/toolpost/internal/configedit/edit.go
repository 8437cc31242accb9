// Package configedit changes single members of configuration files that people write, JSON
// with comments and trailing commas, and reads TOML within limits. Everything else in a
// changed file stays as it is: comments, order, indentation, line endings, a byte order mark.
package configedit

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// A Document is the content of a configuration file. A path is the names of the
// tables that contain a member, from the outside in, and its own name.
type Document interface {
	// Get returns a member as JSON, nil if the document does not have it.
	Get(path ...string) (json.RawMessage, error)

	// SetAll adds members to the table at path, or replaces their values. It adds the
	// tables of the path. If one of the members cannot be written, none is.
	SetAll(members []Member, path ...string) error

	// Remove removes a member. It is not an error if there is none.
	Remove(path ...string) error

	// Restore sets a member to the value that it has in an older content, which has one. The
	// comments in that value come back too.
	Restore(old Document, path ...string) error

	// Bytes returns the whole content.
	Bytes() []byte
}

// A Member is a name and its value as JSON.
type Member struct {
	Name  string
	Value json.RawMessage
}

// Open parses JSON with comments. The error does not quote the content, which may be
// secret.
func Open(data []byte) (Document, error) { return openJSON(data) }

// Set adds a member, and the tables that contain it, or replaces its value.
func Set(d Document, value json.RawMessage, path ...string) error {
	last := len(path) - 1
	return d.SetAll([]Member{{path[last], value}}, path[:last]...)
}

var byteOrderMark = []byte("\ufeff")

// errUnreadable is the cause of [Open]'s errors about the content.
var errUnreadable = errors.New("it cannot be parsed")

func unreadable(why string) error { return fmt.Errorf("%w: %s", errUnreadable, why) }

// newline returns the line ending that a text uses.
func newline(data []byte) string {
	if before, _, found := strings.Cut(string(data), "\n"); found && strings.HasSuffix(before, "\r") {
		return "\r\n"
	}
	return "\n"
}

// notTable reports that a part of a path has a value that cannot contain members.
func notTable(path []string) error {
	return fmt.Errorf("%q is not an object", strings.Join(path, "."))
}
