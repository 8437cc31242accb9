package tooltest_test

import (
	"context"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/tooltest"
)

// A test that fails when what models see of a tool changes, or when a target would not
// take it. TOOLPOST_UPDATE=1 writes the files.
func ExampleGolden() {
	weather := toolpost.New("weather", "Returns the weather of a city.",
		func(_ context.Context, in struct{ City string }) (string, error) { return "Sunny in " + in.City, nil }, nil)
	_ = func(t *testing.T) { // TestTools
		tooltest.Golden(t, toolpost.Tools{weather})
		tooltest.Lint(t, toolpost.Tools{weather}, "openai-strict", nil)
		if text, isError := tooltest.Call(t.Context(), t, toolpost.Tools{weather}, "weather", `{"City":"Oslo"}`); isError || text != "Sunny in Oslo" {
			t.Errorf("got %q", text)
		}
	}
}
