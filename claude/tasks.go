package claude

import (
	"sync"
	"time"

	"github.com/toolpost/toolpost/claude/message"
)

// A taskList tracks the background tasks of a session: shells and sub-agents.
// The end of one causes a turn, in which the model hears of it. That turn may
// call tools of this process, so the CLI's input stays open for it.
type taskList struct {
	ids        []string
	listed     bool // the CLI sends whole lists, which replace the count of starts and ends
	unreported bool // a task has ended while no turn ran, and the turn that this causes has not begun
}

// see records a message about tasks. Resting is whether no turn runs.
func (l *taskList) see(m message.Message, resting bool) {
	before := len(l.ids)
	switch m := m.(type) {
	case *message.BackgroundTasksChanged:
		l.listed, l.ids = true, nil
		for _, task := range m.Tasks {
			if !task.Ambient { // one that is there for the whole session
				l.ids = append(l.ids, task.TaskID)
			}
		}
	case *message.TaskStarted:
		if !l.listed && !m.Ambient {
			l.ids = append(l.ids, m.TaskID)
		}
	case *message.TaskNotification:
		if !l.listed {
			l.ids = removeID(l.ids, m.TaskID)
		}
	}
	if len(l.ids) < before && resting {
		l.unreported = true
	}
}

// reported records that a turn has begun, in which the model hears of the tasks
// that have ended.
func (l *taskList) reported() { l.unreported = false }

// running reports whether a task runs.
func (l *taskList) running() bool { return len(l.ids) > 0 }

// A silenceTimer calls a function once nothing has restarted it for a time, and
// restarts by itself while there is work.
type silenceTimer struct {
	mu       sync.Mutex
	timer    *time.Timer
	deadline time.Time
}

// restart begins to wait anew. Who ends work restarts the timer first.
func (s *silenceTimer) restart(d time.Duration, busy func() bool, late func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deadline = time.Now().Add(d)
	if s.timer != nil {
		s.timer.Stop()
	}
	s.timer = time.AfterFunc(d, func() {
		if busy() {
			s.restart(d, busy, late)
		} else if s.hasPassed() { // asked last: work that ended since the timer fired has restarted it
			late()
		}
	})
}

func (s *silenceTimer) hasPassed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !time.Now().Before(s.deadline)
}

func (s *silenceTimer) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil {
		s.timer.Stop()
	}
}
