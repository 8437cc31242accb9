package toolpost

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/codec"
)

// resultOf returns the result of a tool that returned v: text, parts, or JSON. Nil
// becomes empty text, and a value that is already an MCP result stays unchanged.
func resultOf(out any) (*Result, error) {
	switch v := reflect.ValueOf(out); {
	case !v.IsValid(), v.Kind() == reflect.Pointer && v.IsNil():
		return TextResult(""), nil
	}
	r, err := result(out)
	if err == nil && isResult(r.value) {
		return RawResult(r.value), nil
	}
	return r, err
}

// errNoResult reports a value that is not an MCP result.
var errNoResult = errors.New("it is not an MCP result")

// isResult reports whether raw is an MCP result and nothing else: a document
// that has content, too, would lose the rest of it.
func isResult(raw json.RawMessage) bool {
	if !bytes.HasPrefix(raw, []byte("{")) || !bytes.Contains(raw, []byte(`"content"`)) {
		return false
	}
	var content []json.RawMessage
	sure := false // it has what only MCP results have
	err := eachMember(raw, func(name string, value json.RawMessage) error {
		switch {
		case name == "content" && value[0] == '[':
			return codec.Decode(value, &content)
		case !besideContent(name, value[0]):
			return errNoResult
		}
		sure = true
		return nil
	})
	if err != nil || content == nil {
		return false
	}
	for _, block := range content {
		if !isBlock(block, sure) {
			return false
		}
	}
	return true
}

// besideContent reports whether MCP results have members of that name, with
// values that begin so.
func besideContent(name string, begin byte) bool {
	switch name {
	case "structuredContent":
		return true
	case "isError":
		return begin == 't' || begin == 'f'
	case "_meta":
		return begin == '{' || begin == 'n'
	case "resultType":
		return begin == '"'
	}
	return false
}

// isBlock reports whether raw is a content block; if sure, it may be of any
// type.
func isBlock(raw json.RawMessage, sure bool) bool {
	var block struct {
		Type string `json:"type"`
	}
	if codec.Decode(raw, &block) != nil || block.Type == "" {
		return false
	}
	if sure {
		return true
	}
	members := strings.Fields(blockMembers(block.Type))
	whole := false
	err := eachMember(raw, func(name string, value json.RawMessage) error {
		switch {
		case !slices.Contains(members, name):
			return errNoResult
		case name == members[0]:
			whole = value[0] == '"' || block.Type == "resource" && value[0] == '{'
		}
		return nil
	})
	return err == nil && whole
}

// blockMembers are those of a type of content block, first what it must have;
// none if the type is not known.
func blockMembers(kind string) string {
	const all = " type annotations _meta"
	switch kind {
	case "text":
		return "text" + all
	case "image", "audio":
		return "data mimeType" + all
	case "resource":
		return "resource" + all
	case "resource_link":
		return "uri name title description mimeType size icons" + all
	}
	return ""
}
