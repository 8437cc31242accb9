package claude

import (
	"slices"
	"sync"
	"time"

	"github.com/toolpost/toolpost/claude/message"
)

// turns follows which prompts are answered, and whether the CLI still works.
type turns struct {
	mu      sync.Mutex
	pending []string                   // UUIDs of prompts without a result, oldest first
	watched map[string]*message.Result // by the UUID of the prompt that it answers
	begun   []string                   // prompts that the CLI works on, for one that tells
	tells   bool                       // it does
	last    *message.Result
	state   string   // of the CLI, for one that tells it
	idle    bool     // since the last result
	works   bool     // since it, or since the start
	tasks   []string // sub-agents that work
	ceiling *time.Timer
	heard   time.Time // when something was, last
}

func (t *turns) sent(uuid string, watch bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending = append(t.pending, uuid)
	if watch {
		if t.watched == nil {
			t.watched = map[string]*message.Result{}
		}
		t.watched[uuid] = nil
	}
}

// answers says that r is the result for the prompt.
func (t *turns) answers(r *message.Result, uuid string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.watched[uuid] != r {
		return false
	}
	delete(t.watched, uuid)
	return true
}

// answered says that there is a result for the prompt, which was not read yet.
func (t *turns) answered(uuid string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.watched[uuid] != nil
}

// result is the last one.
func (t *turns) result() *message.Result {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last
}

// see notes a message. It returns whether everything is answered and done.
func (t *turns) see(m message.Message) (settled bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch m := m.(type) {
	case *message.Result:
		t.last, t.idle, t.works = m, false, false
		t.answer(m)
	case *message.SessionState:
		t.state, t.idle, t.works = m.State, m.State == "idle", m.State != "idle"
	case *message.CommandLifecycle:
		t.tells = true
		if m.State == "started" && slices.Contains(t.pending, m.CommandUUID) {
			t.begun = append(t.begun, m.CommandUUID)
		}
	case *message.TaskStarted:
		t.tasks = append(t.tasks, m.TaskID)
	case *message.TaskNotification:
		t.tasks = without(t.tasks, m.TaskID)
	}
	if t.last == nil || len(t.pending) > 0 {
		return false
	}
	if t.state != "" {
		return t.idle
	}
	return len(t.tasks) == 0
}

// busy says that the CLI works on something.
func (t *turns) busy() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.pending) > 0 || len(t.tasks) > 0 || t.works
}

// asks says that the CLI waits for somebody's decision.
func (t *turns) asks() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state == "requires_action"
}

// runs says that the CLI works on that prompt, which has no result yet.
func (t *turns) runs(uuid string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tells {
		return slices.Contains(t.begun, uuid)
	}
	return len(t.pending) > 0 && t.pending[0] == uuid
}

// forget says that a prompt was taken back.
func (t *turns) forget(uuid string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending, t.begun = without(t.pending, uuid), without(t.begun, uuid)
	delete(t.watched, uuid)
}

// answer takes the prompts that r answers from those that wait: the ones that
// it names, or the oldest if it names none and no task caused it.
func (t *turns) answer(r *message.Result) {
	uuids := r.UserMessageUUIDs
	if len(uuids) == 0 && (r.Origin == nil || r.Origin.Kind == "human") && len(t.pending) > 0 {
		uuids = t.pending[:1]
	}
	for _, uuid := range slices.Clone(uuids) {
		t.pending, t.begun = without(t.pending, uuid), without(t.begun, uuid)
		if _, ok := t.watched[uuid]; ok {
			t.watched[uuid] = r
		}
	}
}

// without removes an id.
func without(ids []string, id string) []string {
	return slices.DeleteFunc(ids, func(other string) bool { return other == id })
}

// expect calls late if it is not called again within d after a result.
func (t *turns) expect(d time.Duration, late func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last == nil {
		return
	}
	t.heard = time.Now()
	if t.ceiling != nil {
		t.ceiling.Reset(d)
		return
	}
	t.ceiling = time.AfterFunc(d, func() {
		t.mu.Lock()
		silence := time.Since(t.heard)
		t.mu.Unlock()
		if silence >= d { // else the timer was set anew while it fired
			late()
		}
	})
}

// stop ends the waiting.
func (t *turns) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ceiling != nil {
		t.ceiling.Stop()
	}
}
