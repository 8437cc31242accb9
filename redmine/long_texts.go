package redmine

import (
	"encoding/json"
	"fmt"
	"reflect"
	"unicode/utf8"
)

// maxEcho is the number of characters of a text that the answer to a change repeats.
const maxEcho = 2000

// leaveOutLongTexts keeps the answer to a small change of a record small: long texts, and
// long values of custom fields, are not repeated.
func (w *write) leaveOutLongTexts(record any) {
	long := func(n int, what string) bool {
		if n > maxEcho {
			w.notes = append(w.notes, fmt.Sprintf("The %s has %d characters and is not repeated here.", what, n))
		}
		return n > maxEcho
	}
	eachField(record, func(f reflect.StructField, v reflect.Value) {
		if v.Type() == reflect.TypeFor[longText]() && long(utf8.RuneCountInString(v.String()), jsonName(f)) {
			v.SetString("")
		}
	})
	fields := customFieldsOf(record)
	for i := range fields {
		if f := &fields[i]; long(utf8.RuneCount(f.Value), fmt.Sprintf("custom field %s [%d]", f.Name, f.ID)) {
			f.Value, f.Shown = json.RawMessage(`"…"`), nil
		}
	}
}
