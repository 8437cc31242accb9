package redmine

import (
	"fmt"
	"reflect"
	"strings"
)

// fillers read a text for a change, by the tag fill of the argument that has it:
//
//	Due string `json:"due_date,omitempty" fill:"date"`
var fillers = map[string]func(w *write, name, text string){
	"plain":       setPlain,
	"trimmed":     func(w *write, name, text string) { setPlain(w, name, strings.TrimSpace(text)) },
	"text":        (*write).text,
	"date":        (*write).day,
	"hours":       (*write).hours,
	"percent":     func(w *write, name, text string) { set(w, name, text, percent) },
	"yes-no":      func(w *write, name, text string) { set(w, name, text, truth) },
	"person":      (*write).person,
	"issue":       func(w *write, name, text string) { set(w, name, text, issueNumber) },
	"tracker":     func(w *write, name, text string) { w.setNamed(name, text, trackers()) },
	"priority":    func(w *write, name, text string) { w.setNamed(name, text, priorities()) },
	"category":    func(w *write, name, text string) { w.setNamed(name, text, categories(w.project)) },
	"version":     func(w *write, name, text string) { w.setNamed(name, text, versions(w.project)) },
	"user-status": (*write).userStatus,
}

// checkFillers reports a tag fill that fill would ignore.
func checkFillers(arguments any) (err error) {
	eachField(arguments, func(f reflect.StructField, _ reflect.Value) {
		how := f.Tag.Get("fill")
		if _, known := fillers[how]; how != "" && !known && how != "clearable" && how != "value" {
			err = fmt.Errorf("%s: there is no filler %q", f.Name, how)
		}
	})
	return err
}

// fill sets what the arguments of a tool give: texts by the tag fill of their field,
// and pointers and what is tagged "value" as they are. The name is that of the JSON.
func (w *write) fill(arguments any) {
	eachField(arguments, func(f reflect.StructField, v reflect.Value) {
		name, how := jsonName(f), f.Tag.Get("fill")
		switch value := v.Interface().(type) {
		case string:
			if read := fillers[how]; read != nil && value != "" && w.err == nil {
				read(w, name, value)
			}
		case *string:
			if how == "clearable" {
				w.setText(name, value)
			} else {
				setGiven(w, name, value)
			}
		case *bool:
			setGiven(w, name, value)
		default:
			if how == "value" && !v.IsZero() {
				w.set[name] = value
			}
		}
	})
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

func (w *write) userStatus(name, text string) {
	n, err := userStatus(text)
	w.put(name, n, err)
}
