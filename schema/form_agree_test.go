package schema_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/internal/form"
)

// agreeRandom compares the form of one random schema with the validator.
func agreeRandom(t testing.TB, a, b uint64, values int) (fit int, whole bool) {
	t.Helper()
	g := newGenerator(a, b)
	raw, err := json.Marshal(g.document())
	if err != nil {
		t.Fatal(err)
	}
	s := schema.MustParse(string(raw))
	d, v := form.Read(s.Raw()), s.Validator()
	for range values {
		if agree(t, string(raw), d, v, []byte(g.text(g.value(3)))) {
			fit++
		}
	}
	return fit, exact(d)
}

func TestFormAgrees(t *testing.T) {
	fit, whole := 0, 0
	for seed := range uint64(1000) {
		n, ok := agreeRandom(t, seed, 1, 20)
		fit += n
		if ok {
			whole++
		}
	}
	t.Logf("%d of 20000 values fit; %d of 1000 forms say all", fit, whole)
	if fit < 4_000 || fit > 16_000 || whole < 750 {
		t.Errorf("%d of 20000 values fit; %d of 1000 forms say all", fit, whole)
	}
}

func TestFormOfCorpus(t *testing.T) {
	whole, all := 0, 0
	for _, e := range readLines[corpusEntry](t, "testdata/corpus.jsonl") {
		s := schema.MustParse(string(e.Schema))
		d := form.Read(s.Raw())
		for _, value := range append(e.Valid, e.Invalid...) {
			agree(t, string(e.Schema), d, s.Validator(), value)
		}
		all++
		if exact(d) {
			whole++
		} else {
			t.Logf("%s: %s\n%v", e.Name, text(d), d.Changes)
		}
	}
	for _, e := range readLines[struct {
		Tool   string
		Schema json.RawMessage
	}](t, "testdata/tools.jsonl") {
		s := schema.MustParse(string(e.Schema))
		d := form.Read(s.Raw())
		g := newGenerator(1, uint64(len(e.Schema)))
		for range 20 {
			agree(t, string(e.Schema), d, s.Validator(), []byte(g.text(g.value(3))))
		}
		all++
		if exact(d) {
			whole++
		} else {
			t.Logf("%s: %s\n%v", e.Tool, text(d), d.Changes)
		}
	}
	t.Logf("%d of %d forms say all", whole, all)
}

func TestFormOfSuite(t *testing.T) {
	dir := suiteDir(t)
	whole, all := 0, 0
	for _, draft := range []struct{ name, dialect string }{
		{"draft7", "http://json-schema.org/draft-07/schema#"},
		{"draft2020-12", "https://json-schema.org/draft/2020-12/schema"},
	} {
		files, _ := filepath.Glob(filepath.Join(dir, draft.name, "*.json"))
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var groups []suiteGroup
			if err := json.Unmarshal(raw, &groups); err != nil {
				t.Fatal(err)
			}
			for _, g := range groups {
				raw := withDialect(string(g.Schema), draft.dialect)
				s := schema.MustParse(raw)
				d := form.Read(s.Raw())
				all++
				if exact(d) {
					whole++
				}
				for _, test := range g.Tests {
					agree(t, raw, d, s.Validator(), test.Data)
				}
			}
		}
	}
	t.Logf("%d of %d forms say all", whole, all)
}
