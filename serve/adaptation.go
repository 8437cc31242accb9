package serve

import (
	"fmt"
	"log/slog"
	"sync"

	"github.com/toolpost/toolpost/schema/dialect"
)

// adaptationReporter returns a function that shows each dialect once, and again when what is lost
// in it has changed.
func (e *Endpoint) adaptationReporter() func(*dialect.Adapted) {
	var mu sync.Mutex
	reported := map[string]string{}
	return func(a *dialect.Adapted) {
		text := fmt.Sprint(len(a.Tools), countLosses(a), a.Withheld, a.Findings)
		mu.Lock()
		defer mu.Unlock()
		if reported[a.Dialect.ID] == text {
			return
		}
		reported[a.Dialect.ID] = text
		e.options.View.Adapted(a)
		logLosses(e.log, a)
	}
}

// countLosses returns how many losses of each kind the tools have.
func countLosses(a *dialect.Adapted) map[dialect.LossKind]int {
	losses := map[dialect.LossKind]int{}
	for _, t := range a.Tools {
		for _, l := range t.Losses {
			losses[l.Kind]++
		}
	}
	return losses
}

// logLosses logs each loss at debug level.
func logLosses(log *slog.Logger, a *dialect.Adapted) {
	for _, t := range a.Tools {
		for _, l := range t.Losses {
			log.Debug("loss", "dialect", a.Dialect.ID, "tool", t.Name, "pointer", l.Pointer, "keyword", l.Keyword, "kind", string(l.Kind), "detail", l.Detail)
		}
	}
}
