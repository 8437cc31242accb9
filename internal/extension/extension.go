// Package extension knows which methods and capabilities are MCP's own, and
// which can belong to an extension. The declarations of servers and clients stay raw
// JSON: the members of a capabilities object that the protocol does not know,
// among them "extensions" and "experimental", which hold names themselves.
package extension

import (
	"bytes"
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/toolpost/toolpost/internal/wire"
)

// Limits of what one side may declare, and of the names of methods.
const (
	maxDeclared = 16 << 10 // bytes
	maxLevels   = 16
	maxName     = 128
)

// own are the names of MCP's methods and capabilities. An extension has no
// method below one of them.
var own = []string{
	"completion", "completions", "elicitation", "initialize", "logging", "notifications", "ping", "prompts", "roots", "rpc", "sampling", "server",
	"subscriptions", "tools",
}

// ownResources are MCP's methods for resources. Extensions have others there.
var ownResources = []string{"resources/list", "resources/read", "resources/subscribe", "resources/templates/list", "resources/unsubscribe"}

// Method reports whether a request with this method can belong to an extension.
// No spelling of a method of MCP does, so that no check of those is passed by.
func Method(name string) bool {
	if name == "" || len(name) > maxName || strings.IndexFunc(name, isOdd) >= 0 {
		return false
	}
	name = strings.ToLower(name)
	for part := range strings.SplitSeq(name, "/") {
		if strings.Trim(part, ".") == "" { // a server could read it as a path
			return false
		}
	}
	plain := Plain(name)
	return !slices.Contains(own, firstWord(plain)) && !slices.Contains(ownResources, plain) && plain != "resources"
}

// Plain returns the one spelling of a method that others are compared by: in
// lower case, with slashes, and without the name of MCP before it.
func Plain(method string) string {
	words := strings.FieldsFunc(strings.ToLower(method), func(c rune) bool { return strings.ContainsRune("/.:", c) })
	if len(words) > 2 && words[0] == "io" && words[1] == "modelcontextprotocol" {
		words = words[2:]
	}
	return strings.Join(words, "/")
}

// IsOfTasks reports whether a method or notification is about tasks.
func IsOfTasks(method string) bool { return Space(method) == "tasks" }

func isOdd(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("/_-.:$", c)
}

// Notification reports whether a notification with this method can belong to
// an extension.
func Notification(name string) bool {
	name = strings.TrimPrefix(name, "notifications/")
	switch firstWord(Plain(name)) {
	case "cancelled", "initialized", "message", "progress", "resources":
		return false
	}
	return Method(name)
}

// Declared returns the members of capabilities that the protocol does not know,
// nil if there are none. Members that are too large, or that strict readers or
// clients refuse, are left out.
func Declared(capabilities json.RawMessage) json.RawMessage {
	declared := capabilities
	if !sound(declared) {
		return nil
	}
	declared = wire.Edit(declared, func(name string, value json.RawMessage) json.RawMessage {
		switch lower := strings.ToLower(name); {
		case lower == "resources" || slices.Contains(own, lower) || !clean(name):
			return nil
		case holdsNames(name):
			if value = objects(value, 1); empty(value) {
				return nil
			}
		case name == "tasks":
			return objects(value, maxLevels)
		case holdsNames(lower) || lower == "tasks": // some clients would take it for that
			return nil
		}
		return value
	})
	if empty(declared) {
		return nil
	}
	return bytes.Clone(declared)
}

// objects returns an object whose members, down to a number of levels, are
// objects with clean names. The others are left out: clients check the members
// of MCP that they know, and end the handshake where one is something else.
func objects(value json.RawMessage, levels int) json.RawMessage {
	if !wire.IsObject(value) {
		return nil
	}
	return wire.Edit(value, func(name string, value json.RawMessage) json.RawMessage {
		switch {
		case !clean(name) || !wire.IsObject(value):
			return nil
		case levels > 1:
			return objects(value, levels-1)
		}
		return value
	})
}

func holdsNames(name string) bool { return name == "extensions" || name == "experimental" }

func empty(object json.RawMessage) bool {
	for range wire.Members(object) {
		return false
	}
	return true
}

// clean reports whether a name has visible ASCII characters only.
func clean(name string) bool {
	return name != "" && len(name) <= maxName && strings.IndexFunc(name, func(c rune) bool { return c <= ' ' || c > '~' }) < 0
}

// sound reports whether raw is a small object that every reader accepts.
func sound(raw json.RawMessage) bool {
	return len(raw) <= maxDeclared && wire.IsObject(raw) && jsontext.Value(raw).IsValid() && !wire.TooDeep(raw, maxLevels)
}

// Names iterates over the names of what is declared, with what is said of each.
func Names(declared json.RawMessage) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		for name, value := range wire.Members(declared) {
			if !holdsNames(name) {
				if !yield(name, value) {
					return
				}
				continue
			}
			for name, value := range wire.Members(value) {
				if !yield(name, value) {
					return
				}
			}
		}
	}
}

// Keep returns what is declared without the names that keep refuses.
func Keep(declared json.RawMessage, keep func(name string) bool) json.RawMessage {
	edit := func(name string, value json.RawMessage) json.RawMessage {
		if keep(name) {
			return value
		}
		return nil
	}
	declared = wire.Edit(declared, func(name string, value json.RawMessage) json.RawMessage {
		if !holdsNames(name) {
			return edit(name, value)
		}
		if value = wire.Edit(value, edit); empty(value) {
			return nil
		}
		return value
	})
	if empty(declared) {
		return nil
	}
	return declared
}

// Merge returns what two sides declare together. Where they differ, the first
// counts. If one adds nothing, the other's bytes stay unchanged.
func Merge(a, b json.RawMessage) json.RawMessage {
	switch {
	case a == nil:
		return b
	case !wire.IsObject(a) || !wire.IsObject(b):
		return a
	}
	for name, value := range wire.Members(b) {
		if old := wire.Get(a, name); old == nil {
			a = wire.Append(a, string(wire.Quote(name))+":"+string(value))
		} else if both := Merge(old, value); !bytes.Equal(both, old) {
			a = wire.Set(a, name, both)
		}
	}
	return a
}

// Of reports whether a method belongs to something that is declared: the
// method's first word is the last word of the name, or the method begins with
// the whole name. The methods of io.modelcontextprotocol/skills begin with skills.
func Of(method string, declared json.RawMessage) bool {
	space := Space(method)
	for name := range Names(declared) {
		if lastWord(name) == space || strings.HasPrefix(method, name+"/") {
			return true
		}
	}
	return false
}

// Space returns the first word of a method, in lower case, or the name of the
// extension that defines the method.
func Space(method string) string {
	method = strings.TrimPrefix(Plain(method), "notifications/")
	if method == "resources/directory/read" {
		return "skills"
	}
	return firstWord(method)
}

func firstWord(plain string) string {
	first, _, _ := strings.Cut(plain, "/")
	return first
}

func lastWord(name string) string {
	return strings.ToLower(name[strings.LastIndexAny(name, "/.")+1:])
}

// Open reports whether something is declared whose methods may have any names.
func Open(declared json.RawMessage) bool {
	for name := range Names(declared) {
		switch lastWord(name) {
		case "skills", "tasks", "ui":
		default:
			return true
		}
	}
	return false
}
