package claude

import (
	"slices"
	"sync"
	"time"

	"github.com/toolpost/toolpost/claude/message"
)

// turns tracks which prompts have been answered, and whether the CLI still works.
type turns struct {
	mu      sync.Mutex
	feeding bool                       // a sequence of prompts has not ended yet
	pending []string                   // UUIDs of prompts without a result, oldest first
	watched map[string]*message.Result // by the UUID of the prompt that the result answers
	begun   []string                   // prompts that the CLI works on, if it reports that
	reports bool                       // the CLI reports the lifecycle of prompts
	last    *message.Result
	state   string // of the session, if the CLI reports it
	idle    bool   // the session has been idle since the last result
	works   bool   // a turn runs
	tasks   taskList
	silence silenceTimer
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

// answers reports whether r is the result that answers the prompt.
func (t *turns) answers(r *message.Result, uuid string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.watched[uuid] != r {
		return false
	}
	delete(t.watched, uuid)
	return true
}

// hasAnswer reports whether the prompt has a result that was not read yet.
func (t *turns) hasAnswer(uuid string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.watched[uuid] != nil
}

// result returns the last result.
func (t *turns) result() *message.Result {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last
}

// see records a message. It reports whether every prompt is answered, no more come,
// no background task runs, and no turn that the end of one causes is to come.
func (t *turns) see(m message.Message) (settled bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch m := m.(type) {
	case *message.Result:
		t.last, t.idle, t.works = m, false, false
		t.tasks.reported()
		t.answer(m)
	case *message.SessionState:
		t.state, t.idle, t.works = m.State, m.State == "idle", m.State != "idle"
		if t.works {
			t.tasks.reported()
		}
	case *message.Init: // the first message of every turn
		if t.state == "" && t.last != nil {
			t.works = true
		}
	case *message.CommandLifecycle:
		t.reports = true
		if m.State == "started" && slices.Contains(t.pending, m.CommandUUID) {
			t.begun = append(t.begun, m.CommandUUID)
		}
	default:
		t.tasks.see(m, t.resting())
	}
	return t.isSettled()
}

func (t *turns) isSettled() bool {
	return !t.feeding && t.resting() && !t.tasks.running() && !t.tasks.unreported
}

// endFeed records the end of a sequence of prompts. It reports whether nothing is left
// to wait for.
func (t *turns) endFeed() (settled bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.feeding = false
	return t.isSettled() || t.last == nil && len(t.pending) == 0
}

// resting reports whether every prompt is answered and no turn runs.
func (t *turns) resting() bool {
	if t.last == nil || len(t.pending) > 0 {
		return false
	}
	if t.state != "" {
		return t.idle
	}
	return !t.works
}

// busy reports whether the CLI works on anything.
func (t *turns) busy() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.pending) > 0 || t.tasks.running() || t.works
}

// hasPending reports whether a prompt has no answer yet.
func (t *turns) hasPending() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.pending) > 0
}

// isDone reports whether nothing is left to wait for but a turn that the end of a
// background task may cause.
func (t *turns) isDone() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.awaitsReport()
}

func (t *turns) awaitsReport() bool {
	return t.resting() && !t.tasks.running() && t.tasks.unreported
}

// asks reports whether the CLI waits for somebody's decision.
func (t *turns) asks() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state == "requires_action"
}

// runs reports whether the CLI works on that prompt, which has no result yet.
func (t *turns) runs(uuid string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.reports {
		return slices.Contains(t.begun, uuid)
	}
	return len(t.pending) > 0 && t.pending[0] == uuid
}

// forget removes a prompt that was taken back.
func (t *turns) forget(uuid string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending, t.begun = removeID(t.pending, uuid), removeID(t.begun, uuid)
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
		t.pending, t.begun = removeID(t.pending, uuid), removeID(t.begun, uuid)
		if _, ok := t.watched[uuid]; ok {
			t.watched[uuid] = r
		}
	}
}

// removeID removes an id.
func removeID(ids []string, id string) []string {
	return slices.DeleteFunc(ids, func(other string) bool { return other == id })
}

// expect calls late if expect is not called again within idle after a result, and
// nothing is busy. Within grace, if all that is awaited is a turn that may not come.
func (t *turns) expect(idle, grace time.Duration, busy func() bool, late func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last == nil || t.feeding {
		return
	}
	if t.awaitsReport() {
		idle = min(idle, grace)
	}
	t.silence.restart(idle, busy, late)
}

// stop ends the waiting.
func (t *turns) stop() { t.silence.stop() }
