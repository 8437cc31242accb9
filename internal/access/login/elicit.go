package login

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/wire"
)

// askTime is how long a caller is asked, and its browser waited for.
const askTime = 5 * time.Minute

// A sharedLogin is under way, or was the last one to its server. Several calls
// may wait for it.
type sharedLogin struct {
	done  chan struct{}
	err   error     // after done; nil if it succeeded
	gone  bool      // after done: the client that was asked cannot complete it, another one may
	ended time.Time // after done
}

// LogInFor logs in to a server for a call that needs it, with an elicitation: the
// client of the call shows the login page. There is one login to a server at a time.
// Calls that come meanwhile wait for it, and their clients are not asked. It returns
// at once if a login has succeeded since the call began.
func (l *Logins) LogInFor(ctx context.Context, cfg *config.Server, call *toolpost.Call, began time.Time) error {
	if err := checkServer(cfg); err != nil {
		return err
	}
	within, cancel := context.WithTimeoutCause(ctx, askTime, fmt.Errorf("the login was not completed within %v", askTime))
	defer cancel()
	for {
		s, mine := l.share(cfg, began)
		if mine {
			l.ask(within, s, cfg, call)
		}
		select {
		case <-s.done:
		case <-within.Done():
			return context.Cause(within)
		}
		if mine || !s.gone {
			return s.err
		}
	}
}

// share returns the login to wait for. It is mine if this call has to do it.
func (l *Logins) share(cfg *config.Server, began time.Time) (s *sharedLogin, mine bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	name := nameOf(cfg)
	if s = l.shared[name]; s != nil {
		select {
		case <-s.done:
			if s.err == nil && !s.ended.Before(began) {
				return s, false
			}
		default:
			return s, false
		}
	}
	s = &sharedLogin{done: make(chan struct{})}
	l.shared[name] = s
	return s, true
}

// end lets the calls that wait go on. If the client that was asked has left, or did not
// show the page to its end, one of them asks its own client.
func (s *sharedLogin) end(ctx context.Context, now time.Time) {
	s.ended = now
	s.gone = s.err != nil && (ctx.Err() != nil || errors.Is(s.err, errNotShown) && !errors.Is(s.err, errDeclined))
	close(s.done)
}

// ask does a shared login. It ends with the call: only its client knows the page.
func (l *Logins) ask(ctx context.Context, s *sharedLogin, cfg *config.Server, call *toolpost.Call) {
	s.err = errors.New("the login ended with an internal error")
	defer func() { s.end(ctx, l.now()) }() // also after a panic: other calls wait
	id := rand.Text()
	_, s.err = l.Login(ctx, cfg, nil, &Person{Own: true, Visit: func(ctx context.Context, page *Page) error {
		return elicit(ctx, cfg, page, id, call)
	}})
	if s.err == nil {
		done := wire.SetAll(nil, wire.Member{Name: "elicitationId", Value: wire.Quote(id)})
		_ = call.Caller.Notify(ctx, "notifications/elicitation/complete", done) // the client may have left
	}
}

// errNotShown is the error of a login whose page was not shown, errDeclined of one whose
// user did not want that.
var (
	errNotShown = errors.New("the login page was not shown")
	errDeclined = fmt.Errorf("%w: the user did not agree to open it", errNotShown)
)

// elicit asks a client to show a login page. The answer means that the user agreed to
// open it, not that the login is complete.
func elicit(ctx context.Context, cfg *config.Server, page *Page, id string, call *toolpost.Call) error {
	text := fmt.Sprintf("Toolpost needs a login to the server %q at %s. Open the page at %s, and log in only if you know it. Your browser then returns to this machine.", cfg.Name, hostOf(cfg.URL), page.Host)
	answer, err := call.Caller.Request(ctx, "elicitation/create", wire.SetAll(nil,
		wire.Member{Name: "mode", Value: json.RawMessage(`"url"`)},
		wire.Member{Name: "message", Value: wire.Quote(text)},
		wire.Member{Name: "url", Value: wire.Quote(page.Address)},
		wire.Member{Name: "elicitationId", Value: wire.Quote(id)}, // MCP 2025-11-25; later versions ignore it
	))
	if err != nil {
		return fmt.Errorf("%w: ask the client: %w", errNotShown, err)
	}
	if action := wire.Unquote(wire.Get(answer, "action")); action != "accept" {
		return errDeclined
	}
	return nil
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "?"
	}
	return u.Host
}
