package tooltest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dep"
	"github.com/toolpost/toolpost/tooltest"
)

type greeting struct {
	Name string `json:"name" description:"Who is greeted."`
}

func greet(name, description string) *toolpost.Tool {
	return toolpost.New(name, description, func(_ context.Context, in greeting) (string, error) {
		if in.Name == "" {
			return "", errors.New("nobody to greet")
		}
		return "Hello, " + in.Name + "!", nil
	}, nil)
}

// A verdict is a test that is watched while it fails.
type verdict struct {
	testing.TB
	errors []string
}

func (v *verdict) Errorf(format string, args ...any) {
	v.errors = append(v.errors, fmt.Sprintf(format, args...))
}

func TestGolden(t *testing.T) {
	t.Chdir(t.TempDir())
	compare := func(ts ...*toolpost.Tool) []string {
		v := &verdict{TB: t}
		tooltest.Golden(v, toolpost.Tools(ts))
		return v.errors
	}
	if got := compare(greet("greet", "Greets.")); len(got) != 1 || !strings.Contains(got[0], "TOOLPOST_UPDATE=1") {
		t.Errorf("no file: got %q", got)
	}
	t.Setenv("TOOLPOST_UPDATE", "1")
	if got := compare(greet("greet", "Greets.")); got != nil {
		t.Errorf("update: got %q", got)
	}
	t.Setenv("TOOLPOST_UPDATE", "")
	if got := compare(greet("greet", "Greets.")); got != nil {
		t.Errorf("nothing changed: got %q", got)
	}
	data, err := os.ReadFile(filepath.Join("testdata", "tools", "greet.json"))
	if err != nil || !strings.HasPrefix(string(data), "{\n  \"name\": \"greet\",\n  \"description\": \"Greets.\",\n") {
		t.Errorf("the file is %q, %v", data, err)
	}
	if got := compare(greet("greet", "Greets others.")); len(got) != 1 || !strings.Contains(got[0], "Greets others.") {
		t.Errorf("another description: got %q", got)
	}
	if got := compare(); len(got) != 1 || !strings.Contains(got[0], "belongs to no tool") {
		t.Errorf("no such tool: got %q", got)
	}
}

func TestCall(t *testing.T) {
	ts := toolpost.Tools{greet("greet", "Greets.")}
	if text, isError := tooltest.Call(t.Context(), t, ts, "greet", `{"name":"Ada"}`); text != "Hello, Ada!" || isError {
		t.Errorf("got %q, %v", text, isError)
	}
	if text, isError := tooltest.Call(t.Context(), t, ts, "greet", `{"name":""}`); text != "nobody to greet" || !isError {
		t.Errorf("got %q, %v", text, isError)
	}
}

// TestCallWithDependency tests a tool that needs something, with another one.
func TestCallWithDependency(t *testing.T) {
	shop := dep.New("shop", dep.PerProcess, func(context.Context) (map[string]int, error) {
		return nil, errors.New("no database configured")
	})
	price := toolpost.New("price", "Returns a price.", func(ctx context.Context, in struct {
		Item string `json:"item"`
	}) (int, error) {
		prices, err := shop.Get(ctx)
		return prices[in.Item], err
	}, nil)
	ctx := shop.With(t.Context(), map[string]int{"tea": 3})
	if text, isError := tooltest.Call(ctx, t, toolpost.Tools{price}, "price", `{"item":"tea"}`); text != "3" || isError {
		t.Errorf("got %q, %v", text, isError)
	}
	if text, isError := tooltest.Call(t.Context(), t, toolpost.Tools{price}, "price", `{"item":"tea"}`); !isError || !strings.Contains(text, "no database configured") {
		t.Errorf("without the dependency: got %q, %v", text, isError)
	}
}

func TestRecord(t *testing.T) {
	r := tooltest.Record(toolpost.Prefix(toolpost.Tools{greet("greet", "Greets.")}, "my_"))
	tooltest.Call(t.Context(), t, r, "my_greet", `{"name":"Ada"}`)
	tooltest.Call(t.Context(), t, r, "my_greet", `{"name":""}`)
	calls := r.Calls()
	if len(calls) != 2 {
		t.Fatalf("got %d calls, want 2", len(calls))
	}
	if text, _ := calls[0].Result.FirstText(); calls[0].Name != "my_greet" || calls[0].Arguments != `{"name":"Ada"}` || text != "Hello, Ada!" {
		t.Errorf("first call: got %+v, text %q", calls[0], text)
	}
	if calls[1].Err == nil || calls[1].Err.Error() != "nobody to greet" || calls[1].Result != nil {
		t.Errorf("second call: got %+v", calls[1])
	}
}

// What was done to the arguments on the way is in the record.
func TestRecordNotes(t *testing.T) {
	repaired := greet("greet", "Greets.")
	next := repaired.Handler
	repaired.Handler = func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		result, err := next(ctx, call)
		return result.WithNotes("the name was trimmed"), err
	}
	r := tooltest.Record(toolpost.Tools{repaired})
	tooltest.Call(t.Context(), t, r, "greet", `{"name":"Ada"}`)
	if notes := r.Calls()[0].Result.Notes(); len(notes) != 1 || notes[0] != "the name was trimmed" {
		t.Errorf("got %q", notes)
	}
}

func ExampleRecord() {
	recorder := tooltest.Record(toolpost.Tools{greet("greet", "Greets.")})
	set, err := toolpost.NewSet(context.Background(), recorder)
	if err != nil {
		panic(err)
	}
	text, _ := set.CallText(context.Background(), "greet", greeting{"Ada"})
	fmt.Println(text, len(recorder.Calls()))
	// Output: Hello, Ada! 1
}
