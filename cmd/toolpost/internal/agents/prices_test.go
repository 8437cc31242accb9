package agents

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/usage"
)

// TestPrices lists prices, what is missing, and models that are not known.
func TestPrices(t *testing.T) {
	prices, err := usage.ParsePrices([]byte(`{"prices":[{"providers":["a","b"],"models":[
		{"names":["full","alias"],"input":0.25,"output":2,"cache_read":0.025,"context":1000,"max_output":100,"date":"2026-11-20","source":"s"},
		{"names":["window"],"unpriced":true,"context":2000,"date":"2026-11-26","source":"s"},
		{"names":["ended"],"until":"2020-01-01","input":1,"output":1,"date":"2019-11-26","source":"s"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 27, 1, 0, 0, 0, time.UTC)
	const ended = "a/ended   -           price, context window, longest response\n"
	for _, c := range []struct {
		options pricesOptions
		names   []string
		failed  bool
		want    string
	}{
		{pricesOptions{}, nil, false, `MODEL     DATE        INPUT  CACHED  OUTPUT  CONTEXT
a/full    2026-11-20   0.25   0.025       2     1000
a/alias   2026-11-20   0.25   0.025       2     1000
a/window  2026-11-26      -       -       -     2000
a/ended   -               -       -       -        -

Something is missing for 2 of 4 models. The oldest entry is of 2026-11-20, 7 days ago.
`},
		{pricesOptions{missing: true}, nil, false, "MODEL     DATE        MISSING\na/window  2026-11-26  price, longest response\n" + ended + `
Something is missing for 2 of 4 models. The oldest entry is of 2026-11-20, 7 days ago.
`},
		{pricesOptions{}, []string{"b/full-2026-11-01"}, false, `MODEL              DATE        INPUT  CACHED  OUTPUT  CONTEXT
b/full-2026-11-01  2026-11-20   0.25   0.025       2     1000

Something is missing for 0 of 1 model. The oldest entry is of 2026-11-20, 7 days ago.
`},
		{pricesOptions{missing: true}, []string{"c/\x1b"}, true, "MODEL  DATE  MISSING\nc/·    -     price, context window, longest response\n\nSomething is missing for 1 of 1 model.\n"},
		{pricesOptions{missing: true, json: true}, []string{"a/window"}, true, `[
  {
    "model": "a/window",
    "date": "2026-11-26",
    "source": "s",
    "input": null,
    "cachedInput": null,
    "output": null,
    "context": 2000,
    "missing": [
      "price",
      "longest response"
    ]
  }
]
`},
		{pricesOptions{missing: true, json: true}, []string{"a/full"}, false, "[]\n"},
	} {
		var out strings.Builder
		err := c.options.list(&out, prices, c.names, now)
		if errors.Is(err, cli.ErrShown) != c.failed || err != nil && !c.failed {
			t.Errorf("%+v %q: %v", c.options, c.names, err)
		}
		lines := strings.Split(out.String(), "\n")
		for i := range lines {
			lines[i] = strings.TrimRight(lines[i], " ")
		}
		if d := cmp.Diff(c.want, strings.Join(lines, "\n")); d != "" {
			t.Errorf("%+v %q: %s", c.options, c.names, d)
		}
	}
	if err := (&pricesOptions{}).list(new(strings.Builder), prices, []string{"full"}, now); err == nil || !strings.Contains(err.Error(), `"full" has no provider`) {
		t.Errorf("got %v", err)
	}
}

// TestStandardModels: the models that --model chooses have a price and a window.
func TestStandardModels(t *testing.T) {
	for _, p := range providers() {
		if p.standard == "" {
			continue
		}
		if l := listPrice(p.name+"/"+p.standard, usage.Default().Find(p.name, p.standard)); len(l.Missing) > 0 {
			t.Errorf("%s: %q is missing", l.Model, l.Missing)
		}
	}
}
