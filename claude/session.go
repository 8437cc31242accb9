package claude

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/toolpost/toolpost/claude/internal/ids"
	"github.com/toolpost/toolpost/claude/message"
)

// A Session is a conversation with one CLI. Only one goroutine at a time may
// read its messages; all other methods may be called concurrently.
type Session struct{ *run }

// ErrClosed reports a session that was closed.
var ErrClosed = errors.New("the session is closed; open another")

// Open starts the CLI for a conversation. When ctx ends, the session is
// interrupted and closed. Unread messages are kept in memory, so read them even
// if the session is only used through its Control.
func Open(ctx context.Context, opts *Options) (*Session, error) {
	r, err := start(ctx, opts, false)
	if err != nil {
		return nil, err
	}
	s := &Session{r}
	if _, err := s.Info(ctx); err != nil {
		_ = s.Close() // the cause is what is told
		return nil, err
	}
	return s, nil
}

// An Info is the CLI's description of itself at the start.
type Info struct {
	Commands []struct {
		Name         string   `json:"name"`
		Description  string   `json:"description"`
		ArgumentHint string   `json:"argumentHint"`
		Aliases      []string `json:"aliases"`
	} `json:"commands"`
	Agents []struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Model       string `json:"model"`
	} `json:"agents"`
	Models []struct {
		Value        string   `json:"value"` // for Options.Model
		Resolved     string   `json:"resolvedModel"`
		DisplayName  string   `json:"displayName"`
		Description  string   `json:"description"`
		EffortLevels []string `json:"supportedEffortLevels"`
	} `json:"models"`
	Account struct {
		Email            string `json:"email"`
		Organization     string `json:"organization"`
		SubscriptionType string `json:"subscriptionType"`
		TokenSource      string `json:"tokenSource"`
		APIKeySource     string `json:"apiKeySource"`
		APIProvider      string `json:"apiProvider"`
	} `json:"account"`
	OutputStyle string          `json:"output_style"`
	Version     string          `json:"claude_code_version"` // empty for an old CLI
	Raw         json.RawMessage `json:"-"`                   // the whole description
}

// Info returns the CLI's description of itself at the start.
func (s *Session) Info(ctx context.Context) (*Info, error) {
	select {
	case <-s.ready:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if s.info == nil {
		<-s.ended
		err := ErrClosed
		if result := s.turns.result(); result != nil && isFailure(result) { // as for an unknown session
			err = resultError(result)
		}
		return nil, s.because(err)
	}
	info := &Info{Raw: s.info}
	if err := json.Unmarshal(s.info, info); err != nil {
		return nil, fmt.Errorf("read the claude CLI's answer to initialize: %w", err)
	}
	return info, nil
}

// Send queues a prompt and returns its UUID, which the result that answers it
// contains in UserMessageUUIDs. One result often answers several queued
// prompts. The blocks, such as images, come after the text.
func (s *Session) Send(ctx context.Context, prompt string, blocks ...Block) (uuid string, err error) {
	return s.SendPrompt(ctx, &Prompt{Text: prompt, Blocks: blocks})
}

// SendPrompt is Send for all that a prompt can have.
func (s *Session) SendPrompt(ctx context.Context, p *Prompt) (uuid string, err error) {
	uuid = cmp.Or(p.UUID, ids.NewUUID())
	return uuid, s.send(ctx, uuid, p, false)
}

// Messages yields messages until the session or ctx ends.
func (s *Session) Messages(ctx context.Context) iter.Seq2[message.Message, error] {
	return func(yield func(message.Message, error) bool) {
		for {
			m, err := s.inbox.next(ctx)
			if err == io.EOF {
				return
			}
			if !yield(m, err) || err != nil {
				return
			}
		}
	}
}

// Turn sends a prompt and yields messages up to the result that answers it. If
// the result reports a failure, Turn ends with an error. If ctx ends or the
// loop is left earlier, Turn interrupts the turn, or removes the prompt from
// the queue; the session remains open.
func (s *Session) Turn(ctx context.Context, prompt string, blocks ...Block) iter.Seq2[message.Message, error] {
	return func(yield func(message.Message, error) bool) {
		uuid := ids.NewUUID()
		if err := s.send(ctx, uuid, &Prompt{Text: prompt, Blocks: blocks}, true); err != nil {
			yield(nil, err)
			return
		}
		reading, stop := s.interruptible(ctx, uuid)
		defer stop()
		for m, err := range s.Messages(reading) {
			if err != nil {
				yield(nil, cmp.Or(context.Cause(ctx), err))
				s.leave(ctx, uuid)
				return
			}
			result, _ := m.(*message.Result)
			done := result != nil && s.turns.answers(result, uuid)
			more := yield(m, nil)
			switch {
			case done && more:
				if err := s.failure(result); err != nil {
					yield(nil, cmp.Or(context.Cause(ctx), s.inbox.stopped.get(), err))
				}
				return
			case done:
				return
			case !more:
				s.leave(ctx, uuid)
				return
			}
		}
		yield(nil, s.because(ErrClosed))
	}
}

// interruptible returns a context that outlives ctx for as long as the CLI may
// take to tell that the turn was interrupted.
func (s *Session) interruptible(ctx context.Context, uuid string) (reading context.Context, stop func()) {
	reading, cancel := context.WithCancel(context.WithoutCancel(ctx))
	unhook := context.AfterFunc(ctx, func() {
		defer cancel()
		patience, done := context.WithTimeout(reading, s.opts.grace())
		defer done()
		if s.withdraw(patience, uuid) {
			<-patience.Done()
		}
	})
	return reading, func() { unhook(); cancel() }
}

// leave ends a turn whose loop was left, and what it still says. If ctx has
// ended, that was done.
func (s *Session) leave(ctx context.Context, uuid string) {
	if ctx.Err() != nil {
		return
	}
	patience, done := context.WithTimeout(context.Background(), s.opts.grace())
	defer done()
	if !s.withdraw(patience, uuid) {
		return
	}
	for m, err := range s.Messages(patience) {
		result, _ := m.(*message.Result)
		if err != nil || result != nil && s.turns.answers(result, uuid) {
			return
		}
	}
}

// withdraw interrupts the turn of a prompt, or takes the prompt back if another
// one runs. It returns whether a result is to be expected soon.
func (s *Session) withdraw(ctx context.Context, uuid string) (ends bool) {
	if s.turns.hasAnswer(uuid) {
		return true
	}
	if s.turns.runs(uuid) {
		_, err := s.Interrupt(ctx)
		return err == nil
	}
	var answer struct {
		Cancelled bool `json:"cancelled"`
	}
	if err := s.Control().Request(ctx, "cancel_async_message", map[string]any{"message_uuid": uuid}, &answer); err != nil || !answer.Cancelled {
		return false // it is answered in its time
	}
	s.turns.forget(uuid)
	return false
}

// Interrupt ends the current turn. It returns the UUIDs of the prompts that are
// still queued.
func (s *Session) Interrupt(ctx context.Context) (waiting []string, err error) {
	var answer struct {
		StillQueued []string `json:"still_queued"`
	}
	err = s.Control().Request(ctx, "interrupt", nil, &answer)
	return answer.StillQueued, err
}

// Control returns the means to send requests to the CLI.
func (s *Session) Control() *Control { return &Control{s} }

// Close cancels the calls in progress, ends the CLI, and waits until all of its
// processes have ended.
func (s *Session) Close() error { return s.close() }
