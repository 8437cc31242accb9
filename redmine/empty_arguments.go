package redmine

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// clearableNames returns the texts among the arguments of a change that the word none clears, as
// their descriptions say.
func clearableNames(arguments any) (names []string) {
	eachField(arguments, func(f reflect.StructField, _ reflect.Value) {
		if f.Type.Kind() == reflect.String && strings.Contains(f.Tag.Get("desc"), none) {
			names = append(names, jsonName(f))
		}
	})
	return names
}

type emptyArgumentsKey struct{}

// clearEmpty writes none for the only empty text among arguments, as Redmine's API takes
// that. Several are how some clients leave arguments out: they are left out, and
// [noteEmpty] says so.
func clearEmpty(ctx context.Context, raw json.RawMessage, clearable []string) (context.Context, json.RawMessage) {
	var given map[string]json.RawMessage
	if len(clearable) == 0 || json.Unmarshal(raw, &given) != nil {
		return ctx, raw
	}
	var empty []string
	for _, name := range sortedKeys(given) {
		if text, ok := textOrNumber(given[name]); ok && string(given[name]) != "null" && strings.TrimSpace(text) == "" {
			empty = append(empty, name)
		}
	}
	if len(empty) == 1 && slices.Contains(clearable, empty[0]) {
		given[empty[0]] = encode(none)
		return ctx, encode(given)
	}
	empty = slices.DeleteFunc(empty, func(name string) bool { return !slices.Contains(clearable, name) })
	return context.WithValue(ctx, emptyArgumentsKey{}, empty), raw
}

// noteEmpty notes the empty arguments whose fields have a value.
func (w *write) noteEmpty() {
	empty, _ := w.ctx.Value(emptyArgumentsKey{}).([]string)
	if len(empty) == 0 {
		return
	}
	has := settableFields(w.before)
	empty = slices.DeleteFunc(slices.Clone(empty), func(name string) bool { return has[name] == nil || bare(has[name]) == "" })
	if len(empty) > 0 {
		w.notes = append(w.notes, fmt.Sprintf("Empty, so the old values were kept: %s. Write none to clear one.", strings.Join(empty, ", ")))
	}
}
