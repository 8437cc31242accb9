package bind

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/codec"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/schema"
)

// Where Adapt looks, in order. Each step is a method without arguments (but
// perhaps a context), or an exported field.
const (
	schemaPaths = "ParametersJSONSchema FunctionSchema.JSONSchema Definition.ParametersJSONSchema " +
		"InputSchema Definition.InputSchema Parameters Info.ParamsOneOf.ToJSONSchema"
	namePaths        = "Name Definition.Name Info.Name"
	descriptionPaths = "Description Definition.Description Info.Description Info.Desc"
	functionPaths    = "Call Run RunRaw Invoke InvokableRun Execute Function Func Handler"
)

// textSchema is that of a tool that takes one text, as those of langchaingo do.
const textSchema = `{"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}`

// Adapt makes a tool of a value from another framework: any value that has a
// name, a description, a JSON Schema of its parameters and a function, as
// methods or as exported fields.
//
// The schema is the first of ParametersJSONSchema, FunctionSchema.JSONSchema,
// Definition.ParametersJSONSchema, InputSchema, Definition.InputSchema and
// Parameters that exists. It is JSON, or a value that encodes as a JSON object.
// If there is none, Adapt infers the schema from the function's argument; a
// function of one string gets the parameters {"input": string}.
//
// The function is Call, Run, RunRaw, Invoke, InvokableRun, Execute, Function,
// Func or Handler. It may take a context and one argument: a struct, a map,
// json.RawMessage, []byte or string for the JSON itself, any, or *[toolpost.Call]. It
// may return a value, an error, or both. When the call's context ends, the call
// does not wait for a function that takes no context.
//
// Adapt checks a *[toolpost.Tool] and returns it unchanged. If the value cannot be
// adapted, the error is a *[toolpost.ToolValidationError].
func Adapt(v any) (t *toolpost.Tool, err error) {
	a := &adapting{tool: new(toolpost.Tool)}
	defer func() {
		if p := recover(); p != nil {
			t, err = nil, a.invalid("value", fmt.Errorf("reading it panicked: %v", p))
		}
	}()
	switch v := v.(type) {
	case *toolpost.Tool:
		if v != nil {
			a.tool = v
		}
		return a.checkTool()
	case interface{ Definition() toolpost.Definition }: // a Tool of this package
		a.tool.Definition = v.Definition()
		return nil, a.invalid("function", errors.New("it has no dependencies yet; adapt what Bind returns"))
	}
	a.value = reflect.ValueOf(v)
	if err := a.read(); err != nil {
		return nil, err
	}
	return a.checkTool()
}

// adapting is one run of [Adapt].
type adapting struct {
	value reflect.Value
	tool  *toolpost.Tool
}

func (a *adapting) invalid(field string, err error) error {
	return &toolpost.ToolValidationError{Tool: a.tool.Name, Field: field, Err: err}
}

// checkTool returns the tool if it is whole.
func (a *adapting) checkTool() (*toolpost.Tool, error) {
	switch t := a.tool; {
	case t.Name == "":
		return nil, a.invalid("name", errors.New("it is empty; give the tool a name"))
	case t.Handler == nil:
		return nil, a.invalid("function", errors.New("there is none; give the tool a handler"))
	case t.Input == nil:
		return nil, a.invalid("schema", errors.New(`there is none; use {"type":"object"} for no parameters`))
	default:
		if _, err := parameters(t.Input); err != nil {
			return nil, a.invalid("schema", err)
		}
		return t, nil
	}
}

func (a *adapting) read() error {
	var err error
	if a.tool.Name, err = a.text(namePaths); err != nil {
		return a.invalid("name", err)
	}
	if a.tool.Description, err = a.text(descriptionPaths); err != nil {
		return a.invalid("description", err)
	}
	if a.tool.Name == "" {
		return nil // checked reports the error
	}
	f, err := a.function()
	if err != nil {
		return a.invalid("function", err)
	}
	if a.tool.Input, err = a.schema(); err == nil && a.tool.Input == nil {
		f.text = f.in != nil && f.in.Kind() == reflect.String
		a.tool.Input, err = f.schema()
	}
	if err != nil {
		return a.invalid("schema", err)
	}
	a.tool.Handler = f.handle
	return nil
}

// text returns the first text that is not empty.
func (a *adapting) text(paths string) (string, error) {
	for path := range strings.FieldsSeq(paths) {
		v, err := lookup(a.value, path)
		if err != nil {
			return "", err
		}
		if v.Kind() == reflect.String && v.Len() > 0 {
			return v.String(), nil
		}
	}
	return "", nil
}

// schema returns the first schema that there is; nil if there is none.
func (a *adapting) schema() (*schema.Schema, error) {
	for path := range strings.FieldsSeq(schemaPaths) {
		v, err := lookup(a.value, path)
		if err != nil {
			return nil, err
		}
		if !v.IsValid() || v.IsZero() {
			continue
		}
		s, err := parameters(v.Interface())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return s, nil
	}
	return nil, nil
}

// parameters reads a schema that describes an object.
func parameters(v any) (*schema.Schema, error) {
	var raw []byte
	switch v := v.(type) {
	case *schema.Schema:
		raw = v.Raw()
	case json.RawMessage:
		raw = v
	case []byte:
		raw = v
	case string:
		raw = []byte(v)
	default:
		var err error
		if raw, err = codec.Encode(v); err != nil {
			return nil, err
		}
	}
	kind := wire.Get(raw, "type")
	switch {
	case !wire.IsObject(raw):
		return nil, fmt.Errorf("want a JSON object, got %.20q", raw)
	case kind != nil && !strings.Contains(string(kind), `"object"`):
		return nil, fmt.Errorf(`its type is %.40s, want "object"`, kind)
	}
	return schema.Parse(raw)
}

// function returns the first function that can be called.
func (a *adapting) function() (*foreign, error) {
	err := errors.New("there is none; give the tool a method Call(context.Context, json.RawMessage) (any, error)")
	for path := range strings.FieldsSeq(functionPaths) {
		v := method(a.value, path)
		if !v.IsValid() {
			v = field(a.value, path)
		}
		if v.Kind() != reflect.Func || v.IsNil() {
			continue
		}
		if f := foreignFunction(v); f != nil {
			return f, nil
		}
		err = fmt.Errorf("%s has the type %v; it may take a context and one argument, and return a value and an error", path, v.Type())
	}
	return nil, err
}

// lookup follows a path of methods and fields. The result is
// invalid if a step of the path does not exist.
func lookup(v reflect.Value, path string) (reflect.Value, error) {
	for name := range strings.SplitSeq(path, ".") {
		m := method(v, name)
		if !m.IsValid() {
			v = field(v, name)
			continue
		}
		out, err := get(m)
		if err != nil {
			return reflect.Value{}, fmt.Errorf("%s: %w", path, err)
		}
		v = out
	}
	return open(v), nil
}

// get calls a method that takes nothing but perhaps a context.
func get(m reflect.Value) (reflect.Value, error) {
	f := foreignFunction(m)
	if f == nil || f.in != nil {
		return reflect.Value{}, nil
	}
	return f.invoke(context.Background(), nil)
}

// open returns what an interface holds.
func open(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	return v
}

func method(v reflect.Value, name string) reflect.Value {
	v = open(v)
	switch {
	case !v.IsValid(), v.Kind() == reflect.Pointer && v.IsNil():
		return reflect.Value{}
	case v.CanAddr() && v.Kind() != reflect.Pointer:
		v = v.Addr()
	}
	return v.MethodByName(name)
}

func field(v reflect.Value, name string) reflect.Value {
	v = reflect.Indirect(open(v))
	if v.Kind() != reflect.Struct {
		return reflect.Value{}
	}
	if v = v.FieldByName(name); !v.IsValid() || !v.CanInterface() {
		return reflect.Value{}
	}
	return open(v)
}
