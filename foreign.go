package toolpost

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/schema"
)

// A foreign is a function of another framework's tool.
type foreign struct {
	call    reflect.Value
	context bool         // it takes one
	in      reflect.Type // of its argument, nil if it takes none
	text    bool         // the argument is the member input
	fails   bool         // what it returns last is an error
}

// foreignFunction returns nil if f cannot be called with a JSON object.
func foreignFunction(f reflect.Value) *foreign {
	t := f.Type()
	ins, outs := t.NumIn(), t.NumOut()
	if t.IsVariadic() {
		ins-- // options, which are left out
	}
	s := &foreign{call: f, fails: outs > 0 && t.Out(outs-1) == reflect.TypeFor[error]()}
	at := 0
	if at < ins && t.In(at) == reflect.TypeFor[context.Context]() {
		s.context = true
		at++
	}
	if at < ins {
		s.in = t.In(at)
		at++
	}
	if at < ins || outs > 2 || outs == 2 && !s.fails || s.in != nil && !takesObject(s.in) {
		return nil
	}
	return s
}

func takesObject(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct, reflect.Map, reflect.String:
		return true
	case reflect.Slice:
		return t.Elem().Kind() == reflect.Uint8
	case reflect.Interface:
		return t.NumMethod() == 0
	case reflect.Pointer:
		return t.Elem().Kind() == reflect.Struct
	}
	return false
}

// schema is inferred from the argument; nil if that tells nothing.
func (f *foreign) schema() (*schema.Schema, error) {
	switch {
	case f.text:
		return schema.Parse([]byte(textSchema))
	case f.in == nil:
		return schema.Parse([]byte(`{"type":"object"}`))
	case f.in == reflect.TypeFor[*Call]():
		return nil, nil
	}
	switch in := f.in; {
	case in.Kind() == reflect.Pointer:
		s, _, err := schema.Infer(in.Elem(), nil)
		return s, err
	case in.Kind() == reflect.Struct:
		s, _, err := schema.Infer(in, nil)
		return s, err
	}
	return nil, nil
}

// handle is the Handler.
func (f *foreign) handle(ctx context.Context, call *Call) (*Result, error) {
	in, err := f.argument(call)
	if err != nil {
		return nil, &ArgumentsError{call.Name, err}
	}
	if f.context {
		return f.run(ctx, in)
	}
	return apart(ctx, func() (r *Result, err error) {
		defer func() {
			if p := recover(); p != nil {
				r, err = nil, recovered(ctx, call.Name, p)
			}
		}()
		return f.run(ctx, in)
	})
}

func (f *foreign) run(ctx context.Context, in []reflect.Value) (*Result, error) {
	out, err := f.invoke(ctx, in)
	switch {
	case err != nil:
		return nil, err
	case !out.IsValid():
		return Text(""), nil
	}
	return anyResult(out.Interface())
}

// argument makes the function's argument of a call.
func (f *foreign) argument(call *Call) ([]reflect.Value, error) {
	raw := arguments(call)
	switch {
	case f.in == nil:
		return nil, nil
	case f.in == reflect.TypeFor[*Call]():
		return []reflect.Value{reflect.ValueOf(call)}, nil
	case f.text:
		var in struct {
			Input string `json:"input"`
		}
		err := decode(raw, &in)
		return []reflect.Value{reflect.ValueOf(in.Input).Convert(f.in)}, err
	case f.in.Kind() == reflect.String, f.in.Kind() == reflect.Slice:
		return []reflect.Value{reflect.ValueOf(bytes.Clone(raw)).Convert(f.in)}, nil
	}
	in := reflect.New(f.in)
	err := decode(raw, in.Interface())
	return []reflect.Value{in.Elem()}, err
}

// invoke returns what the function returns besides an error; it is invalid if
// that is nothing.
func (f *foreign) invoke(ctx context.Context, in []reflect.Value) (value reflect.Value, err error) {
	if f.context {
		in = append([]reflect.Value{reflect.ValueOf(ctx)}, in...)
	}
	out := f.call.Call(in)
	if f.fails {
		last := out[len(out)-1]
		out = out[:len(out)-1]
		err, _ = last.Interface().(error)
	}
	if len(out) > 0 {
		value = out[0]
	}
	return value, err
}

// anyResult makes a result of a value whose type is not known: nil becomes
// empty text, and an MCP result remains unchanged.
func anyResult(out any) (*Result, error) {
	switch v := reflect.ValueOf(out); {
	case !v.IsValid(), v.Kind() == reflect.Pointer && v.IsNil():
		return Text(""), nil
	}
	r, err := result(out)
	if err == nil && isResult(r.value) {
		return Raw(r.value), nil
	}
	return r, err
}

// errNoResult ends the reading of what is no MCP result.
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
			return decode(value, &content)
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
	if decode(raw, &block) != nil || block.Type == "" {
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
