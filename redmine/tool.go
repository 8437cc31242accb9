package redmine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/lazyregexp"
	"github.com/toolpost/toolpost/schema"
)

// An entry is a tool of a group.
type entry struct {
	*toolpost.Tool
	effect  effect
	checked *schema.Schema // what the arguments are checked with
}

// An effect is what a tool does to Redmine.
type effect int

const (
	reads effect = iota
	adds
	changes
	removes
)

// tool makes a tool. Its text has at most four lines, and neither brackets nor
// underscores, which some clients do not take.
func tool[In any](s *Toolset, name, title, description string, e effect, fn func(ctx context.Context, in In) (*toolpost.Result, error)) entry {
	inferred, opts := toolOptions(name, title, e, new(In))
	t := toolpost.New(name, description, func(ctx context.Context, in In) (*toolpost.Result, error) {
		return s.checkAndCall(ctx, e, func(ctx context.Context) (*toolpost.Result, error) { return fn(ctx, in) })
	}, opts)
	return newEntry(s, t, e, inferred, new(In))
}

// toolOptions returns the schema that arguments, a pointer to a struct, publish, and the
// options of a tool that takes them.
func toolOptions(name, title string, e effect, arguments any) (inferred *schema.Schema, opts *toolpost.Options) {
	// What is left out has the value that MCP defines for a tool without it.
	no, yes, hints := false, true, toolpost.Annotations{}
	switch e {
	case reads:
		hints.ReadOnly = &yes
	case adds:
		hints.Destructive = &no
	case removes:
		hints.Idempotent = &yes
	}
	inferred, err := schema.ForInputType(reflect.TypeOf(arguments).Elem())
	if err == nil {
		err = checkFillers(arguments)
	}
	if err != nil {
		panic(fmt.Sprintf("redmine: the arguments of %s: %v", name, err))
	}
	return inferred, &toolpost.Options{
		Title: title, Annotations: hints, Input: boundSchema(inferred), Policy: toolpost.Policy{Timeout: 5 * time.Minute},
	}
}

// checkAndCall calls a tool with an account that Redmine accepts.
func (s *Toolset) checkAndCall(ctx context.Context, e effect, call func(context.Context) (*toolpost.Result, error)) (*toolpost.Result, error) {
	ctx = withCache(ctx)
	if e == reads {
		return readAndVerify(ctx, s, func() (*toolpost.Result, error) { return call(ctx) })
	}
	if err := s.Check(ctx); err != nil { // nobody may be allowed to write as well
		return nil, err
	}
	return call(ctx)
}

// newEntry returns the entry of a tool that takes arguments, a pointer to a struct, and
// publishes their inferred schema.
func newEntry(s *Toolset, t *toolpost.Tool, e effect, inferred *schema.Schema, arguments any) entry {
	checked := t.Input
	var clears []string
	if e == changes {
		clears = clearableNames(arguments)
	}
	t = redactErrors(s, coerceNumbers(t, clears))
	t.Input = schema.MustParse(unpublished.ReplaceAllString(string(inferred.Raw()), ""))
	return entry{t, e, checked}
}

// The limits of texts, of the values of custom fields in lists, and of lists that have
// none of their own.
const (
	longestText  = 1000
	longestValue = 100_000
	longestList  = 200
)

// boundSchema returns a schema in which nothing can grow without limit.
func boundSchema(s *schema.Schema) *schema.Schema {
	var root any
	if err := json.Unmarshal(s.Raw(), &root); err != nil {
		panic(err) // it was made of a type
	}
	bound(root, longestText)
	return schema.MustParse(string(encode(root)))
}

// bound limits a schema, and a text to longest.
func bound(v any, longest int) {
	m, _ := v.(map[string]any)
	switch {
	case m["type"] == "string" && m["maxLength"] == nil && m["enum"] == nil:
		m["maxLength"] = longest
	case m["type"] == "array":
		if m["maxItems"] == nil {
			m["maxItems"] = longestList
		}
		bound(m["items"], longest)
	}
	properties, _ := m["properties"].(map[string]any)
	for name, property := range properties {
		longest := longestText
		if name == "values" {
			longest = longestValue
		}
		bound(property, longest)
	}
}

// unpublished is what the tools check and do not publish, such as the numbers of
// states beside their names: models keep to it anyway, and it would be a tenth of
// the tokens of the definitions.
var unpublished = lazyregexp.New(`,"(?:additionalProperties|minLength|maxLength|minimum|maximum|default)":(?:false|\d+)|,"\d"`)

// A projectID names the project that a tool works in.
type projectID struct {
	Project string `json:"project_id" desc:"Id, key or name"`
}

func (in projectID) project() string { return in.Project }

// projectTool makes a tool that works in one project.
func projectTool[In interface{ project() string }](s *Toolset, name, title, description string, e effect, fn func(ctx context.Context, in In, p idName) (*toolpost.Result, error)) entry {
	return tool(s, name, title, description, e, func(ctx context.Context, in In) (*toolpost.Result, error) {
		p, err := s.project(ctx, in.project())
		if err != nil {
			return nil, err
		}
		return fn(ctx, in, p)
	})
}

// An optionalProject names the project that a tool is limited to, if any.
type optionalProject struct {
	Project string `json:"project_id,omitempty" desc:"Id, key or name; default all"`
}

func (in optionalProject) ifProject() string { return in.Project }

// listTool makes a tool that lists records, in the project p if its arguments name one.
func listTool[In any](s *Toolset, name, title, description, what, key string, list func(ctx context.Context, in In, p idName) (*listing, error)) entry {
	return tool(s, name, title, description, reads, func(ctx context.Context, in In) (*toolpost.Result, error) {
		p, err := s.projectOfList(ctx, in)
		if err != nil {
			return nil, err
		}
		l, err := list(ctx, in, p)
		if err != nil {
			return nil, err
		}
		l.what, l.key = cmp.Or(l.what, what), key
		return l.answer(s)
	})
}

// projectOfList returns the project that the arguments of a list name, if any.
func (s *Toolset) projectOfList(ctx context.Context, arguments any) (idName, error) {
	switch in := arguments.(type) {
	case interface{ project() string }:
		return s.project(ctx, in.project())
	case interface{ ifProject() string }:
		if in.ifProject() != "" {
			return s.project(ctx, in.ifProject())
		}
	}
	return idName{}, nil
}

// A locator is the arguments of a tool that name one record.
type locator[T, In any] interface {
	*In
	find(ctx context.Context, s *Toolset) (*T, error)
}

// showTool makes a tool that shows the record that its arguments name.
func showTool[In, T any, L locator[T, In]](s *Toolset, name, title, description string) entry {
	return tool(s, name, title, description, reads, func(ctx context.Context, in In) (*toolpost.Result, error) {
		record, err := L(&in).find(ctx, s)
		if err != nil {
			return nil, err
		}
		return s.showRecord(ctx, record)
	})
}

// showRecord answers with a record and the names of what its custom fields refer to.
func (s *Toolset) showRecord(ctx context.Context, record any) (*toolpost.Result, error) {
	nameFields(ctx, s, projectOf(record), projectOf(record), customFieldsOf(record))
	return s.show("", record, nil)
}

// changeTool makes a tool that changes the record that its arguments name. Fill
// finds what to set.
func changeTool[In, T any, L locator[T, In]](s *Toolset, k func() endpoint[T], name, title, description string, fill func(w *write, in *In, before *T)) entry {
	return tool(s, name, title, description, changes, func(ctx context.Context, in In) (*toolpost.Result, error) {
		before, err := L(&in).find(ctx, s)
		if err != nil {
			return nil, err
		}
		w := newChange(ctx, s, before)
		fill(w, &in, before)
		return k().change(w, before)
	})
}

// A confirmation is the argument without which a deletion only shows what it would
// delete.
type confirmation struct {
	Confirm bool `json:"confirm,omitempty" desc:"Without it, only a preview"`
}

func (c confirmation) isConfirmed() bool { return c.Confirm }

// deleteTool makes a tool that deletes the record that its arguments name. Plan
// completes what the answer shows before it is confirmed.
func deleteTool[In interface{ isConfirmed() bool }, T any, L locator[T, In]](s *Toolset, k func() endpoint[T], name, title, description string, plan func(ctx context.Context, in *In, record *T, r *removal) error) entry {
	return tool(s, name, title, description, removes, func(ctx context.Context, in In) (*toolpost.Result, error) {
		record, err := L(&in).find(ctx, s)
		if err != nil {
			return nil, err
		}
		r := newRemoval(k().name(record), k().key, record, in.isConfirmed())
		if err := plan(ctx, &in, record, r); err != nil {
			return nil, err
		}
		return k().remove(ctx, s, record, r)
	})
}
