package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/extension"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/internal/suggest"
	"github.com/toolpost/toolpost/internal/wire"
)

// Limits of the tasks that are remembered. The oldest are forgotten.
const (
	maxTasks      = 10_000
	maxTasksOfOne = 1_000 // of one client
	maxTaskID     = 512
	maxTaskResult = 64 << 10       // bytes of a result that creates a task
	maxTaskTime   = 24 * time.Hour // that a process is kept for a task that has not ended as far as is known
)

// tasks holds the tasks that servers created. Only the client for which a task was
// created can access it, whatever ids the servers choose.
type tasks struct {
	mu     sync.Mutex
	of     map[clientKey]*clientTasks
	server map[serverTask]*task
}

// clientTasks holds the tasks of one client.
type clientTasks struct {
	ids   map[string]*task // as the client knows them
	order []*task          // the oldest first
}

// A serverTask is a task as its server knows it.
type serverTask struct {
	link    *link
	process *process // that has the task, if the server has several
	id      string
}

type task struct {
	serverTask
	client clientKey
	shown  string    // its id for the client
	open   time.Time // until when its process is kept for it; guarded by tasks.mu
}

func newTasks() *tasks {
	return &tasks{of: map[clientKey]*clientTasks{}, server: map[serverTask]*task{}}
}

// remember remembers the task that a result is about, and returns the result
// with the task's id as the client knows it.
func (t *tasks) remember(ctx context.Context, m *member, call *toolpost.Call, result json.RawMessage) json.RawMessage {
	if len(result) > maxTaskResult || !bytes.Contains(result, []byte(`"taskId"`)) {
		return result
	}
	var id string
	switch {
	case text(result, "resultType") == "task":
		id = text(result, "taskId")
	case wire.Get(result, "content") == nil:
		id = text(wire.Get(result, "task"), "taskId")
	}
	if id == "" || len(id) > maxTaskID {
		return result
	}
	added := t.add(serverTask{m.link, m.processOf(ctx, call), id}, m.key, call)
	t.note(added, result)
	return added.show(result)
}

// note records what a result or notification about a task says of its end.
func (t *tasks) note(of *task, about json.RawMessage) {
	if inner := wire.Get(about, "task"); wire.IsObject(inner) {
		about = inner
	}
	status := text(about, "status")
	if status == "" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch status {
	case "completed", "failed", "cancelled":
		of.open = time.Time{}
	default:
		left := maxTaskTime
		if ttl, err := strconv.ParseFloat(string(wire.Get(about, "ttl")), 64); err == nil && ttl < float64(left.Milliseconds()) {
			left = time.Duration(max(ttl, 0)) * time.Millisecond
		}
		of.open = time.Now().Add(left)
	}
}

// hasOpen reports whether a process has a task that has not ended.
func (t *tasks) hasOpen(own *process) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	for of, one := range t.server {
		if of.process == own && now.Before(one.open) {
			return true
		}
	}
	return false
}

// add remembers a task of the call's client. If the id was that of another
// client's task, the server has reused it for a new one.
func (t *tasks) add(own serverTask, server string, call *toolpost.Call) *task {
	t.mu.Lock()
	defer t.mu.Unlock()
	client := clientOf(call)
	if before := t.server[own]; before != nil {
		if before.client == client {
			return before
		}
		t.remove(before)
	}
	mine := t.of[client]
	if mine == nil {
		mine = &clientTasks{ids: map[string]*task{}}
		t.of[client] = mine
	}
	shown := own.id
	if mine.ids[shown] != nil { // of another server
		shown = suggest.Free(server+"__"+own.id, func(name string) bool { return mine.ids[name] != nil })
	}
	added := &task{serverTask: own, client: client, shown: shown}
	t.server[own], mine.ids[shown] = added, added
	mine.order = append(mine.order, added)
	t.shrink(mine)
	return added
}

// shrink forgets the oldest task of a client, or of the one that has most. The
// mutex is held.
func (t *tasks) shrink(mine *clientTasks) {
	if len(mine.order) > maxTasksOfOne {
		t.remove(mine.order[0])
	}
	if len(t.server) <= maxTasks {
		return
	}
	for _, other := range t.of {
		if len(other.order) > len(mine.order) {
			mine = other
		}
	}
	t.remove(mine.order[0])
}

// remove forgets a task. The mutex is held.
func (t *tasks) remove(gone *task) {
	mine := t.of[gone.client]
	delete(t.server, gone.serverTask)
	delete(mine.ids, gone.shown)
	mine.order = slices.Delete(mine.order, slices.Index(mine.order, gone), slices.Index(mine.order, gone)+1)
	if len(mine.order) == 0 {
		delete(t.of, gone.client)
	}
}

// forget forgets all tasks of a client.
func (t *tasks) forget(client clientKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if mine := t.of[client]; mine != nil {
		for _, gone := range mine.order {
			delete(t.server, gone.serverTask)
		}
		delete(t.of, client)
	}
}

// find returns the task that the call's client knows under an id, nil if there
// is none.
func (t *tasks) find(call *toolpost.Call, id string) *task {
	t.mu.Lock()
	defer t.mu.Unlock()
	if mine := t.of[clientOf(call)]; mine != nil {
		return mine.ids[id]
	}
	return nil
}

// findOfServer returns a task of a server, nil if no client has it.
func (t *tasks) findOfServer(own serverTask) *task {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.server[own]
}

// showItem returns an item of a server's list of tasks as the call's client gets
// it: nil if the task is not one of that client's. Clients that cannot be
// distinguished get no lists.
func (t *tasks) showItem(ctx context.Context, m *member, call *toolpost.Call, item json.RawMessage) json.RawMessage {
	found := t.findOfServer(serverTask{m.link, m.processOf(ctx, call), text(item, "taskId")})
	if found == nil || found.client != clientOf(call) || hidden.OwnerOf(call).Shared {
		return nil
	}
	return found.show(item)
}

// show returns a result about the task with the id that the client knows.
func (t *task) show(result json.RawMessage) json.RawMessage {
	if t.shown == t.id {
		return result
	}
	return wire.Edit(result, func(name string, value json.RawMessage) json.RawMessage {
		switch {
		case name == "taskId" && wire.Unquote(value) == t.id:
			return wire.Quote(t.shown)
		case (name == "task" || name == "_meta" || name == relatedTask) && wire.IsObject(value):
			return t.show(value)
		}
		return value
	})
}

// restoreID returns params with the task's id as its server knows it, and without
// other spellings of the member, which some servers would take instead.
func (t *task) restoreID(params json.RawMessage) json.RawMessage {
	return wire.Edit(params, func(name string, value json.RawMessage) json.RawMessage {
		switch {
		case name == "taskId" && t.shown != t.id:
			return wire.Quote(t.id)
		case name != "taskId" && wire.Alike(name, "taskId"):
			return nil
		}
		return value
	})
}

func (x *router) find(call *toolpost.Call, id string) *task {
	if len(x.members) == 0 {
		return nil
	}
	return x.members[0].tasks.find(call, id)
}

const relatedTask = wire.MetaPrefix + "related-task"

func unknownTask(id string) error {
	return invalid("unknown task %.100q: no server created it for this client, or that was too long ago; call the tool again", id)
}

// hasAny reports whether a client has a task.
func (t *tasks) hasAny() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.server) > 0
}

// taskMethods are the methods for tasks, of both eras.
var taskMethods = []string{"tasks/cancel", "tasks/get", "tasks/list", "tasks/result", "tasks/update"}

// handleTask routes a method for tasks. Another spelling of one goes to no
// server: some read it as the same.
func (x *router) handleTask(ctx context.Context, targets []*member, call *toolpost.Call) (*toolpost.Result, error) {
	plain := extension.Plain(call.Name)
	id, known := wire.Get(call.Params, "taskId"), slices.Contains(taskMethods, plain)
	switch {
	case known && plain != strings.TrimPrefix(call.Name, wire.MetaPrefix):
		return nil, fmt.Errorf("method %s: %w", call.Name, toolpost.ErrNotFound)
	case plain == "tasks/list":
		return x.list(ctx, targets, call)
	case known || id != nil:
		return x.task(ctx, targets, call, wire.Unquote(id))
	}
	return x.route(ctx, targets, call)
}

// task sends a request about a task to the server that created it.
func (x *router) task(ctx context.Context, targets []*member, call *toolpost.Call, id string) (*toolpost.Result, error) {
	t := x.find(call, id)
	i := slices.IndexFunc(targets, func(m *member) bool { return t != nil && m.link == t.link })
	if i < 0 {
		return nil, unknownTask(id)
	}
	c := *call
	c.Params = t.restoreID(call.Params)
	if t.process != nil && isStateless(call) {
		ctx = context.WithValue(ctx, preferredKey{}, t.process)
	}
	result, err := targets[i].send(ctx, &c)
	if err != nil {
		return nil, err
	}
	about := hidden.EncodedOf(result).Raw
	if extension.Plain(call.Name) == "tasks/result" { // which a server has when the task has ended
		about = json.RawMessage(`{"status":"completed"}`)
	}
	targets[i].tasks.note(t, about)
	if t.shown == t.id {
		return result, nil
	}
	return toolpost.RawResult(t.show(hidden.EncodedOf(result).Raw)), nil
}
