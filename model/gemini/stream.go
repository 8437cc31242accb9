package gemini

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"

	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
	"github.com/toolpost/toolpost/model/internal/sse"
	"github.com/toolpost/toolpost/usage"
)

// events yields the data of each event of a stream. Other lines than
// the fields of events are data too: a proxy may answer with plain JSON.
func events(body io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		lines := sse.NewLines(body, provider.MaxEvent, provider.ErrLongEvent)
		var data []byte
		for {
			line, err := lines.Read()
			if len(data)+len(line) > provider.MaxEvent {
				err = provider.ErrLongEvent
			}
			switch {
			case err != nil && err != io.EOF:
				yield(nil, err)
				return
			case len(line) > 0:
				data = appendData(data, line)
			}
			if len(data) > 0 && (len(line) == 0 || err == io.EOF) {
				if failed := provider.CheckEvent(data); !yield(data, failed) || failed != nil {
					return
				}
				data = nil
			}
			if err == io.EOF {
				return
			}
		}
	}
}

// appendData adds a line to the data of an event.
func appendData(data, line []byte) []byte {
	name, value, found := bytes.Cut(line, []byte(":"))
	switch string(name) {
	case "", "event", "id", "retry":
		if found {
			return data
		}
	case "data":
		line = bytes.TrimPrefix(value, []byte(" "))
	}
	if len(data) > 0 {
		data = append(data, '\n')
	}
	return append(data, line...)
}

// A chunk is one event: a piece of the response.
type chunk struct {
	Candidates     []candidate `json:"candidates"`
	PromptFeedback *struct {
		BlockReason        string `json:"blockReason"`
		BlockReasonMessage string `json:"blockReasonMessage"`
	} `json:"promptFeedback"`
	UsageMetadata tokens  `json:"usageMetadata"`
	ModelVersion  string  `json:"modelVersion"`
	ResponseID    string  `json:"responseId"`
	Error         *status `json:"error"`
}

// A candidate is a piece of one of the responses that Google may write at once.
type candidate struct {
	Index   int `json:"index"`
	Content struct {
		Parts []json.RawMessage `json:"parts"`
	} `json:"content"`
	FinishReason  string `json:"finishReason"`
	FinishMessage string `json:"finishMessage"`
}

// tokens are the counts of an event; each is a total.
type tokens struct {
	Prompt     int `json:"promptTokenCount"` // with those in Cached
	Cached     int `json:"cachedContentTokenCount"`
	Candidates int `json:"candidatesTokenCount"` // without those in Thoughts
	Thoughts   int `json:"thoughtsTokenCount"`
	ToolUse    int `json:"toolUsePromptTokenCount"`
}

// latest returns the greater of each count: later events repeat the totals, or
// have none.
func (t tokens) latest(u tokens) tokens {
	return tokens{max(t.Prompt, u.Prompt), max(t.Cached, u.Cached), max(t.Candidates, u.Candidates), max(t.Thoughts, u.Thoughts), max(t.ToolUse, u.ToolUse)}
}

func (t tokens) usage() usage.Tokens {
	return usage.Tokens{Input: max(0, t.Prompt-t.Cached) + t.ToolUse, CacheRead: t.Cached, Output: t.Candidates + t.Thoughts, Reasoning: t.Thoughts}
}

// decode reads JSON, and leaves out members of unexpected types.
func decode(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	var unexpected *json.UnmarshalTypeError
	if errors.As(err, &unexpected) {
		return nil
	}
	return err
}

// A stream is a response that is being read.
type stream struct {
	*generator
	*preparedRequest
	parts   parts
	finish  string // the worst reason that was given for the end
	message string // what it says about that
	blocked string // why the filter refused the prompt; empty if it did not
	id      string
	version string
	tokens  tokens
}

func newStream(g *generator, p *preparedRequest) *stream {
	return &stream{generator: g, preparedRequest: p, parts: parts{tools: p.tools, body: p.body}}
}

// read reads the whole stream, and yields its pieces and the response. If yield
// returns false, it stops without an error.
func (s *stream) read(ctx context.Context, body io.Reader, yield func(*model.Delta, error) bool) *model.Error {
	for data, err := range events(body) {
		switch {
		case err != nil && s.finish != "": // the response is complete
		case err != nil:
			return s.sendError(ctx, err)
		default:
			deltas, failed := s.add(data)
			for i := range deltas {
				if !yield(&deltas[i], nil) {
					return nil
				}
			}
			if failed != nil {
				return failed
			}
		}
	}
	response, failed := s.response()
	if failed == nil {
		yield(&model.Delta{Response: response}, nil)
	}
	return failed
}

func (s *stream) fail(kind model.ErrorKind, text string) *model.Error {
	return &model.Error{Origin: s.origin, Kind: kind, Text: s.sender.Hide(text)}
}

func (s *stream) incomplete() *model.Error {
	return s.fail(model.KindConnection, "the stream ended before the response did")
}

// add reads one event, or a list of them: without "alt=sse" Google sends one list.
func (s *stream) add(data []byte) (all []model.Delta, failed *model.Error) {
	var list []json.RawMessage
	if !bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) || json.Unmarshal(data, &list) != nil {
		return s.addChunk(data)
	}
	for _, one := range list {
		var deltas []model.Delta
		deltas, failed = s.addChunk(one)
		if all = append(all, deltas...); failed != nil {
			break
		}
	}
	return all, failed
}

func (s *stream) addChunk(data []byte) ([]model.Delta, *model.Error) {
	data = bytes.ToValidUTF8(data, []byte("\uFFFD")) // a raw form is stored as text
	var c chunk
	if err := decode(data, &c); err != nil {
		if strings.HasPrefix(err.Error(), "unexpected end") {
			return nil, s.incomplete()
		}
		return nil, s.fail(model.KindServer, fmt.Sprintf("an event of the stream is not JSON: %v", err))
	}
	if c.Error != nil {
		if c.Error.Message == "" {
			c.Error.Message = http.StatusText(c.Error.Code)
		}
		return nil, s.failure(c.Error.Code, c.Error)
	}
	s.tokens = s.tokens.latest(c.UsageMetadata)
	var all []model.Delta
	if c.UsageMetadata != (tokens{}) {
		all = append(all, model.Delta{Tokens: new(s.tokens.usage())})
	}
	s.id, s.version = first(s.id, c.ResponseID), first(s.version, c.ModelVersion)
	if f := c.PromptFeedback; f != nil && isGiven(f.BlockReason) {
		s.blocked = strings.TrimSpace(f.BlockReason + " " + f.BlockReasonMessage)
	}
	for i := range c.Candidates {
		deltas, err := s.addCandidate(&c.Candidates[i])
		all = append(all, deltas...)
		if provider.IsTooMuch(err) {
			return all, s.fail(model.KindInvalid, err.Error())
		}
		if err != nil {
			return all, s.fail(model.KindServer, err.Error())
		}
	}
	return all, nil
}

// addCandidate adds to the response if c is a piece of the first candidate, the
// only one that was requested.
func (s *stream) addCandidate(c *candidate) (deltas []model.Delta, err error) {
	if c.Index != 0 {
		return nil, nil
	}
	for _, raw := range c.Content.Parts {
		delta, err := s.parts.add(raw)
		if err != nil {
			return deltas, err
		}
		if delta != nil {
			deltas = append(deltas, *delta)
		}
	}
	if isGiven(c.FinishReason) && provider.Worse(s.finish, c.FinishReason) != s.finish {
		s.finish, s.message = c.FinishReason, c.FinishMessage
	}
	return deltas, nil
}

// isGiven reports whether a value of an enum is one.
func isGiven(reason string) bool {
	return reason != "" && !strings.HasSuffix(reason, "_UNSPECIFIED")
}

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// response returns the response after the end of the stream.
func (s *stream) response() (*model.Response, *model.Error) {
	r := &model.Response{ID: s.id, Model: first(s.version, s.origin.Model), Usage: s.tokens.usage(), Losses: s.losses,
		Message: &model.Message{Role: model.RoleAssistant, Parts: s.parts.finish(&s.origin)}}
	s.decodeOutput(r.Message)
	end, known := provider.Ending(s.finish)
	said := strings.TrimSpace(s.finish + " " + s.message)
	switch {
	case s.blocked != "":
		r.Stop, r.Refusal = model.StopRefusal, s.blocked
	case s.finish == "":
		return nil, s.incomplete()
	case end == provider.EndFailed:
		return nil, s.fail(model.KindServer, s.failureText(said))
	case known && (end == model.StopLength || end == model.StopRefusal):
		if r.Stop = end; end == model.StopRefusal {
			r.Refusal = said
		}
	case len(r.Message.Parts) == 0:
		return nil, s.fail(model.KindServer, "the response is empty: "+said)
	case !known:
		r.Stop, r.Refusal = model.StopRefusal, provider.Incomplete(said)
	case len(r.Message.Calls()) > 0:
		r.Stop = model.StopCalls
	default:
		r.Stop = model.StopEnd
	}
	return r, nil
}

// failureText returns the text of a response that failed.
func (s *stream) failureText(said string) string {
	switch s.finish {
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL":
		// Nothing of the call is sent, so that no result can answer it.
		return fmt.Sprintf("the model called a function in a form that Google cannot read (%s): %.500s", s.finish, s.message)
	}
	return "the response is not complete: " + said
}
