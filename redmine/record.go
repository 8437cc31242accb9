package redmine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// A record is a struct that Redmine's answers are decoded into and that ours are
// encoded from. The tags of a field say everything about it:
//
//	Due string `json:"due_date,omitempty" text:"due" row:"due %s" set:"due_date"`
//
//   - json is its name, in Redmine's answers and in ours.
//   - text is its label in the text of the record: "- due: 2026-01-31".
//   - row is its part of the record's line in a list, after its String. One that begins
//     with a space continues the part before it; one that begins with ! is for a zero
//     value.
//   - brief is its name in a list for programs, in which a record has names in place
//     of other records.
//   - set is its name in a change, by which it is compared with what was asked for.
//
// Zero values have no place in a text or a list, unless ",always" ends the tag. A field
// whose type has lines() needs no label: it adds those lines to the text.

// A titledRecord has a text of several lines under a title.
type titledRecord interface{ title() string }

// A block has lines of its own in the text of a record.
type block interface{ lines() string }

// A preparer completes a record before it is shown.
type preparer interface{ prepare() }

// textOf returns the text of a record: its title and fields, or only its line.
func textOf(record any) string {
	t, ok := record.(titledRecord)
	if !ok {
		return "- " + lineOf(record) + "\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", t.title())
	eachField(record, func(f reflect.StructField, v reflect.Value) {
		label, always := strings.CutSuffix(f.Tag.Get("text"), ",always")
		if lines, ok := v.Interface().(block); ok {
			b.WriteString(lines.lines())
		} else if label != "" && (always || !v.IsZero()) {
			if text := valueText(v, always); text != "" {
				fmt.Fprintf(&b, "- %s: %s\n", label, text)
			}
		}
	})
	return b.String()
}

// lineOf returns a record as a line of a list.
func lineOf(record any) string {
	var parts []string
	if named, ok := record.(fmt.Stringer); ok {
		parts = append(parts, named.String())
	}
	eachField(record, func(f reflect.StructField, v reflect.Value) {
		form, always := strings.CutSuffix(f.Tag.Get("row"), ",always")
		form, whenEmpty := strings.CutPrefix(form, "!")
		if form == "" || !always && isEmpty(v) != whenEmpty {
			return
		}
		text := valueText(v, false)
		if t, ok := v.Interface().(timestamp); ok {
			text = t.day()
		}
		if n, ok := v.Interface().(referrer); ok && strings.Contains(form, "%n") {
			form, text = strings.Replace(form, "%n", "%s", 1), n.reference().Name
		}
		if text == "" && strings.Contains(form, "%s") {
			return
		}
		if part := strings.Replace(form, "%s", text, 1); unicode.IsSpace(rune(form[0])) {
			parts[len(parts)-1] += part
		} else {
			parts = append(parts, part)
		}
	})
	return strings.Join(parts, " | ")
}

// isEmpty reports whether a value has no place in a list: it is zero, or says so.
func isEmpty(v reflect.Value) bool {
	if v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0 {
		return true
	}
	z, ok := v.Interface().(interface{ IsZero() bool })
	return ok && z.IsZero()
}

// A referrer is a value that stands for another record.
type referrer interface{ reference() idRef }

// A brief is a record as programs get it in a list: the fields with a tag brief.
type brief struct{ record any }

// MarshalJSON implements [json.Marshaler].
func (b brief) MarshalJSON() ([]byte, error) {
	var members []string
	eachField(b.record, func(f reflect.StructField, v reflect.Value) {
		name, always := strings.CutSuffix(f.Tag.Get("brief"), ",always")
		if name == "" || !always && isEmpty(v) {
			return
		}
		value := v.Interface()
		switch is := value.(type) {
		case timestamp:
			value = is.day()
		case *issueRef:
			value = is.ID
		case referrer:
			if value = is.reference().Name; value == "" {
				return
			}
		}
		members = append(members, fmt.Sprintf("%q:%s", name, encode(value)))
	})
	return []byte("{" + strings.Join(members, ",") + "}"), nil
}

// valueText is the text of a field.
func valueText(v reflect.Value, always bool) string {
	switch value := v.Interface().(type) {
	case fmt.Stringer:
		return value.String()
	case []idName:
		return listNames(value)
	case []string:
		return strings.Join(value, ", ")
	case bool:
		if !always {
			return "yes"
		}
	}
	return fmt.Sprint(reflect.Indirect(v).Interface())
}

// eachField calls do for the exported fields of a record, also those of the structs
// that it embeds.
func eachField(record any, do func(reflect.StructField, reflect.Value)) {
	eachOf(reflect.Indirect(reflect.ValueOf(record)), do)
}

func eachOf(v reflect.Value, do func(reflect.StructField, reflect.Value)) {
	for i := range v.NumField() {
		switch f := v.Type().Field(i); {
		case f.Anonymous:
			eachOf(v.Field(i), do)
		case f.IsExported():
			do(f, v.Field(i))
		}
	}
}

// idOf returns the id of a record.
func idOf(record any) int {
	return int(reflect.Indirect(reflect.ValueOf(record)).FieldByName("ID").Int())
}

// settableFields returns what may be set of a record, as it is: the fields with a tag set.
// It leaves out a list that Redmine did not send and, with omitempty, what is empty:
// Redmine does not always send it.
func settableFields(record any) map[string]any {
	now := map[string]any{}
	eachField(record, func(f reflect.StructField, v reflect.Value) {
		name, omitEmpty := strings.CutSuffix(f.Tag.Get("set"), ",omitempty")
		isList := v.Kind() == reflect.Slice
		if name == "" || isList && v.IsNil() || omitEmpty && (v.IsZero() || isList && v.Len() == 0) {
			return
		}
		if v.Kind() == reflect.Pointer && v.IsNil() {
			now[name] = ""
			return
		}
		now[name] = settableValue(v)
	})
	return now
}

func settableValue(v reflect.Value) any {
	if r, ok := v.Interface().(referrer); ok {
		return r.reference()
	}
	switch v = reflect.Indirect(v); v.Kind() {
	case reflect.String:
		return normalizeNewlines(v.String())
	case reflect.Float64:
		return v.Float()
	case reflect.Int:
		return int(v.Int())
	case reflect.Bool:
		return v.Bool()
	}
	if list := reflect.TypeFor[[]idName](); v.CanConvert(list) {
		return idsOf(v.Convert(list).Interface().([]idName))
	}
	if list := reflect.TypeFor[[]string](); v.CanConvert(list) {
		return slices.Sorted(slices.Values(v.Convert(list).Interface().([]string)))
	}
	return v.Interface()
}

// customFieldsOf returns the custom fields of a record, if it has any.
func customFieldsOf(record any) (fields customFields) {
	eachField(record, func(_ reflect.StructField, v reflect.Value) {
		if of, ok := v.Interface().(customFields); ok {
			fields = of
		}
	})
	return fields
}

// projectOf returns the id of the project of a record, 0 if it has none.
func projectOf(record any) int {
	if p, ok := record.(*project); ok {
		return p.ID
	}
	if p := reflect.Indirect(reflect.ValueOf(record)).FieldByName("Project"); p.IsValid() {
		return idOf(p.Interface())
	}
	return 0
}

// customFields are the custom fields of a record. Those without a value are not
// shown.
type customFields []field

// MarshalJSON implements [json.Marshaler]: the values by the names of the fields.
func (all customFields) MarshalJSON() ([]byte, error) { return encode(fieldsOf(all)), nil }

// IsZero reports whether no field has a value.
func (all customFields) IsZero() bool { return len(fieldsOf(all)) == 0 }

func (all customFields) lines() string {
	text, shown := "", fieldsOf(all)
	for _, name := range sortedKeys(shown) {
		text += fmt.Sprintf("- %s: %s\n", name, quoteMultiline(shown[name]))
	}
	return text
}

// values are the values by the ids of the fields.
func (all customFields) values() map[int][]string {
	values := map[int][]string{}
	for _, f := range all {
		values[f.ID] = f.values()
	}
	return values
}

// A longText is a text of several lines, with the line ends that Redmine keeps. It
// is shown with the usual ones.
type longText string

// MarshalText implements [encoding.TextMarshaler].
func (t longText) MarshalText() ([]byte, error) { return []byte(normalizeNewlines(string(t))), nil }

func (t longText) lines() string {
	if t == "" {
		return ""
	}
	return "\n" + quoteText(string(t)) + "\n"
}

// A timestamp is a date and time as Redmine writes it (ISO 8601).
type timestamp string

func (t timestamp) day() string { return string(t[:min(len(t), len("2006-01-02"))]) }

// hours are hours of work. Redmine 6.0.0 and 6.0.1 write some of them as a fraction
// in a text, such as "5/4".
type hours float64

// UnmarshalJSON implements [json.Unmarshaler].
func (h *hours) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	over, under, two := strings.Cut(strings.Trim(string(data), `"`), "/")
	n, err := strconv.ParseFloat(over, 64)
	if err == nil && two {
		var d float64
		d, err = strconv.ParseFloat(under, 64)
		n /= d
	}
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return fmt.Errorf("%.40s is not a number", data)
	}
	*h = hours(math.Round(n*100) / 100)
	return nil
}

// exact returns the whole minutes that Redmine rounded to hundredths of an hour: a third
// for 0.33. Others stay as they are.
func (h hours) exact() hours {
	whole := math.Round(float64(h)*60) / 60
	if math.Round(whole*100) == math.Round(float64(h)*100) {
		return hours(whole)
	}
	return h
}

// String returns the hours as a number and as a clock shows them.
func (h hours) String() string {
	minutes := int(float64(h)*60 + 0.5)
	return fmt.Sprintf("%g h, %d:%02d", float64(h), minutes/60, minutes%60)
}

// A percentage is a number from 0 to 100.
type percentage int

func (p percentage) String() string { return fmt.Sprintf("%d%%", int(p)) }

// files are the attachments of a record.
type files []attachment

func (all files) lines() string { return filesText(all) }

// idsOf are the ids of records, in order.
func idsOf(all []idName) []int {
	ids := []int{}
	for _, n := range all {
		ids = append(ids, n.ID)
	}
	slices.Sort(ids)
	return ids
}

func sortedKeys[V any](m map[string]V) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// encode is for what is always JSON.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // texts and lists of them are always encoded
	}
	return b.Bytes()
}
