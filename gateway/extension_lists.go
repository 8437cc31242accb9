package gateway

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"sync"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/extension"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/internal/wire"
)

// Limits of a list that is merged from those of several servers.
const (
	maxMerged      = 10_000  // items of one server
	largestMerged  = 4 << 20 // bytes of one server
	maxMergedPages = 100
	maxClaimed     = 10_000 // URIs of one list that may get another name: each is compared with all resources
)

// list returns the list of one server, or those of several as one page.
func (x *router) list(ctx context.Context, targets []*member, call *toolpost.Call) (*toolpost.Result, error) {
	if len(targets) == 1 {
		result, err := targets[0].send(ctx, call)
		if err != nil {
			return nil, err
		}
		raw := hidden.EncodedOf(result).Raw
		key, array := listOf(call.Name, raw)
		claims := maxClaimed
		shown := editElements(array, func(item json.RawMessage) json.RawMessage { return x.item(ctx, targets[0], call, item, &claims) })
		if bytes.Equal(shown, array) {
			return result, nil
		}
		return toolpost.RawResult(wire.Set(raw, key, shown)), nil
	}
	if wire.Get(call.Params, "cursor") != nil {
		return nil, invalid("unknown cursor; list again from the start")
	}
	all := make([]part, len(targets))
	var asked sync.WaitGroup
	for i, m := range targets {
		asked.Go(func() { all[i] = m.gather(ctx, call) })
	}
	asked.Wait()
	return x.merge(ctx, targets, all, call)
}

// A part is what one server adds to a list.
type part struct {
	*member
	first json.RawMessage // its first page
	list  string          // the member that has the items
	items []json.RawMessage
	err   error
}

// merge joins the lists of servers. One that does not answer is left out,
// unless none does.
func (x *router) merge(ctx context.Context, targets []*member, all []part, call *toolpost.Call) (*toolpost.Result, error) {
	var base *part
	var failure error
	var items [][]byte
	claims := maxClaimed
	for i := range all {
		p := &all[i]
		if p.err != nil || p.list == "" {
			failure = cmp.Or(failure, p.err)
			continue
		}
		if base == nil {
			base = p
		}
		prefix := p.prefixAmong(targets)
		for _, item := range p.items {
			if item = x.item(ctx, p.member, call, item, &claims); item == nil {
				continue
			}
			if key, name := nameOf(item); name != "" && prefix != "" {
				item = wire.Set(item, key, wire.Quote(prefix+name))
			}
			items = append(items, item)
		}
	}
	switch {
	case base == nil && failure != nil:
		return nil, failure
	case base == nil:
		return nil, invalid("servers %s answer %s without a list", serverNames(targets), call.Name)
	}
	merged := append(append([]byte{'['}, bytes.Join(items, []byte{','})...), ']')
	return toolpost.RawResult(wire.Edit(wire.Set(base.first, base.list, merged), func(name string, value json.RawMessage) json.RawMessage {
		switch name {
		case "_meta", "nextCursor":
			return nil
		case "ttlMs":
			return json.RawMessage("0")
		case "cacheScope":
			return json.RawMessage(`"private"`)
		}
		return value
	})), nil
}

// nameOf returns the identifier of an item of a list: its URI, or otherwise its
// name.
func nameOf(item json.RawMessage) (key, name string) {
	if wire.Get(item, "uri") != nil || wire.Get(item, "taskId") != nil {
		return "", ""
	}
	for _, key := range []string{"name", "id"} {
		if name := text(item, key); name != "" {
			return key, name
		}
	}
	return "", ""
}

// item returns an item of a server's list as clients get it, nil to leave it out.
// Claims is how many more URIs of the list are compared with those of others.
func (x *router) item(ctx context.Context, m *member, call *toolpost.Call, item json.RawMessage, claims *int) json.RawMessage {
	if extension.IsOfTasks(call.Name) {
		return m.tasks.showItem(ctx, m, call, item)
	}
	if text(item, "uri") == "" {
		return item
	}
	claim := func(of json.RawMessage) {
		if *claims--; *claims >= 0 {
			x.claim(m, text(of, "uri"))
		}
	}
	claim(item)
	for part := range wire.Elements(wire.Get(item, "resources")) { // the files of a skill
		claim(part)
	}
	return m.aliases.show(m.key, item)
}

// listOf returns the array of a list's result: the one that the method names,
// otherwise the first.
func listOf(method string, result json.RawMessage) (key string, array json.RawMessage) {
	words := strings.Split(method, "/")
	if len(words) > 1 {
		key = words[len(words)-2]
	}
	if array = wire.Get(result, key); len(array) > 0 && array[0] == '[' {
		return key, array
	}
	for key, value := range wire.Members(result) {
		if value[0] == '[' {
			return key, value
		}
	}
	return "", nil
}

// claim gives a URI that a server lists another name if another server has it.
func (x *router) claim(m *member, uri string) {
	switch o := serverOf(x.members, uri); {
	case uri == "" || m.aliases.has(uri) || m.aliases.restore(m.key, uri) != "":
	case o == nil:
		m.linked.add(uri)
	case o.link != m.link:
		m.aliases.add(m.key, uri)
	}
}
