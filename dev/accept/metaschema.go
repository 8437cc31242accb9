package accept

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	draft2020 = "https://json-schema.org/draft/2020-12/schema"
	draft7    = "http://json-schema.org/draft-07/schema"
)

// metaschemas are those that a schema may name.
var metaschemas = sync.OnceValue(func() map[string]*jsonschema.Schema {
	all := map[string]*jsonschema.Schema{}
	for _, at := range []string{
		draft2020, draft7, "https://json-schema.org/draft/2019-09/schema",
		"http://json-schema.org/draft-06/schema", "http://json-schema.org/draft-04/schema",
	} {
		all[at] = newCompiler().MustCompile(at)
	}
	return all
})

// metaschema wants the schema to be one in a dialect of JSON Schema.
func metaschema(s *subject, rule, dialect string) {
	if s.root == nil {
		return
	}
	meta := metaschemas()[strings.TrimSuffix(dialect, "#")]
	if meta == nil {
		s.addAt("", rule, "the dialect %q is not known", dialect)
		return
	}
	if len(s.places) > 10_000 || s.cut {
		s.addAt("", rule, "it is too large or too deep to judge")
		return
	}
	if !s.root.computable() {
		s.addAt("", rule, "a number has a huge exponent")
		return
	}
	err := meta.Validate(s.root.plain())
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return
	}
	for _, f := range leaves(invalid, nil) {
		s.addAt(f.InstancePath, rule, "no valid schema of %s: %s", dialect, f.Detail)
	}
}

// declared returns the dialect the schema names, or the default of MCP.
func declared(s *subject) string {
	if d := s.root.get("$schema"); d != nil {
		return d.text
	}
	return draft2020
}

// leaves lists the innermost failures.
func leaves(e *jsonschema.ValidationError, all []Failure) []Failure {
	if len(e.Causes) == 0 {
		return append(all, newFailure(e))
	}
	for _, c := range e.Causes {
		all = leaves(c, all)
	}
	return all
}

// closedLoader keeps the compiler off files and the network.
type closedLoader struct{}

// Load refuses.
func (closedLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("load %q: schemas have to be complete in themselves", url)
}
