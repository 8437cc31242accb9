package owner_test

import (
	"errors"
	"net/http"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/owner"
	"github.com/toolpost/toolpost/upstream"
)

// serverSettings are the fields that may change without an approval, and those that a file
// does not set.
var serverSettings = []string{"Allow", "Config.CallTimeout", "Config.ConnectTimeout", "Config.MaxMessage", "Config.ProbeTimeout", "Config.ProtocolVersion", "Config.Wrap",
	"Deny", "Disabled", "Err", "Extensions", "Outputs", "Prefix", "Required", "Source.Groups", "Source.ReadOnly", "Source.Timeout"}

// TestGuardOfEveryField: a change of any field of a server waits for an approval, unless the
// field is a setting. A field that is added waits too, until it is listed above.
func TestGuardOfEveryField(t *testing.T) {
	whole := config.Server{Config: upstream.Config{Name: "a"}, Auth: &config.Auth{}, Source: &config.Source{}}
	guard := owner.NewGuard(&config.Config{Servers: []config.Server{whole}})
	var unguarded []string
	eachField(t, reflect.TypeFor[config.Server](), "", func(path string, index []int) {
		changed := config.Server{Config: upstream.Config{Name: "a"}, Auth: &config.Auth{}, Source: &config.Source{}}
		field := fieldOf(reflect.ValueOf(&changed).Elem(), index)
		change(t, path, field)
		next := &config.Config{Servers: []config.Server{changed}}
		if _, waiting := guard.Admit(&config.Config{Servers: []config.Server{whole}}, next, ""); len(waiting) == 0 {
			unguarded = append(unguarded, path)
		}
	})
	slices.Sort(unguarded)
	if diff := cmp.Diff(serverSettings, unguarded); diff != "" {
		t.Errorf("what changes without an approval is another (-want +got):\n%s", diff)
	}
}

// eachField calls f with each field of a struct, and of the structs in it.
func eachField(t *testing.T, of reflect.Type, path string, f func(path string, index []int)) {
	for i := range of.NumField() {
		field := of.Field(i)
		if !field.IsExported() {
			continue // no file sets it
		}
		inner := field.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if inner.Kind() != reflect.Struct {
			f(path+field.Name, []int{i})
			continue
		}
		eachField(t, inner, path+field.Name+".", func(path string, index []int) { f(path, append([]int{i}, index...)) })
	}
}

func fieldOf(v reflect.Value, index []int) reflect.Value {
	for _, i := range index {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		v = v.Field(i)
	}
	return v
}

// change gives a field another value.
func change(t *testing.T, path string, v reflect.Value) {
	t.Helper()
	switch at := v.Addr().Interface().(type) {
	case *error:
		*at = errors.New("it is not valid")
		return
	case *time.Duration:
		*at = time.Second
		return
	case *http.RoundTripper:
		*at = http.DefaultTransport
		return
	case *func(*http.Transport) http.RoundTripper:
		*at = func(base *http.Transport) http.RoundTripper { return base }
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("changed")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("k"), reflect.Zero(v.Type().Elem()))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Func:
		v.Set(reflect.MakeFunc(v.Type(), func([]reflect.Value) []reflect.Value { panic("not called") }))
	default:
		t.Fatalf("%s: a field of kind %s", path, v.Kind())
	}
}
