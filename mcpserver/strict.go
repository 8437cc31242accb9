package mcpserver

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"log/slog"
	"runtime"
	"sync"
	"weak"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/dialect"
)

// A strictLister prepares tools for clients that read a list strictly: one
// definition that they refuse costs them all tools. A tool that they accept keeps
// its bytes.
type strictLister struct {
	log *reports
	ids map[string][sha256.Size]byte // of output schemas in all lists so far, with the hash of the schema
}

// repairs are the schemas that were changed for lists, each once: lists are encoded for
// each view, and after each change. The zero value is ready.
type repairs struct {
	mu   sync.Mutex
	made map[repairKey]repair
}

type repairKey struct {
	of     weak.Pointer[schema.Schema]
	output bool
}

// A repair is the schema that takes the place of another one, nil for none, and why.
type repair struct {
	schema *schema.Schema
	losses []dialect.Loss
}

// schema returns the input or output schema that is listed in the place of s. It is
// remembered as long as s is used, if it is another one.
func (r *repairs) schema(s *schema.Schema, output bool) repair {
	key := repairKey{weak.Make(s), output}
	r.mu.Lock()
	known, found := r.made[key]
	r.mu.Unlock()
	if found {
		return known
	}
	var now repair
	if output {
		now.schema, now.losses = dialect.StrictOutput(s, false)
	} else {
		now.schema, now.losses = dialect.StrictInput(s)
	}
	if now.schema == s {
		return now
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.made == nil {
		r.made = map[repairKey]repair{}
	}
	if _, found := r.made[key]; !found {
		runtime.AddCleanup(s, r.forget, key)
	}
	r.made[key] = now
	return now
}

func (r *repairs) forget(key repairKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.made, key)
}

// maxIDs is how many ids of output schemas a strictLister remembers.
const maxIDs = 10_000

var errStrictInput = errors.New("its input schema accepts no object, or clients cannot read it")

// add adds a tool to the list, unless its policy leaves it out.
func (l *strictLister) add(listed *collector, t *toolpost.Tool) error {
	if t.Policy.Unlisted {
		return nil
	}
	t, err := l.tool(t)
	if err != nil {
		return err
	}
	item, err := t.MarshalJSON()
	if err != nil {
		return err
	}
	return listed.add(t.Name, item)
}

// tool returns t, or a copy with schemas that strict clients accept.
func (l *strictLister) tool(t *toolpost.Tool) (*toolpost.Tool, error) {
	if t.Input == nil {
		return nil, errStrictInput
	}
	made := l.log.repairs.schema(t.Input, false)
	input, losses := made.schema, made.losses
	if input == nil {
		return nil, errStrictInput
	}
	if input != t.Input {
		l.report(t, "input schema is repaired for the list", losses)
	}
	output := l.output(t)
	if input == t.Input && output == t.Output {
		return t, nil
	}
	c := *t
	c.Input, c.Output = input, output
	return &c, nil
}

// output returns the output schema that is listed, nil for none.
func (l *strictLister) output(t *toolpost.Tool) *schema.Schema {
	if t.Output == nil {
		return nil
	}
	made := l.log.repairs.schema(t.Output, true)
	output, losses := made.schema, made.losses
	if output != nil && !l.claim(output) {
		output, losses = dialect.StrictOutput(output, true)
	}
	switch output {
	case t.Output:
	case nil:
		l.report(t, "output schema is left out of the list", losses)
	default:
		l.report(t, "output schema is repaired for the list", losses)
	}
	return output
}

func (l *strictLister) report(t *toolpost.Tool, message string, losses []dialect.Loss) {
	var why string
	if len(losses) > 0 {
		why = losses[0].Detail
	}
	l.log.report(slog.LevelWarn, message, wire.KindTool, t.Name, why)
}

// claim reports whether no other schema has an id of s. Validators of a client
// keep the schemas of all tools under their ids for good: a second one is not
// compiled, or replaced by the first.
func (l *strictLister) claim(s *schema.Schema) bool {
	if !bytes.Contains(s.Raw(), []byte(`"$id"`)) {
		return true
	}
	sum := sha256.Sum256(s.Raw())
	ids := s.IDs()
	for _, id := range ids {
		if other, known := l.ids[id]; known && other != sum || !known && len(l.ids) >= maxIDs {
			return false
		}
	}
	for _, id := range ids {
		l.ids[id] = sum
	}
	return true
}
