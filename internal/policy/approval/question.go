package approval

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/wire"
)

// Limits of what a question shows, in bytes of the escaped text.
const (
	maxShownText = 2_000  // of one text; the middle of a longer one is left out, with its digest
	maxShown     = 16_000 // of all arguments; calls with more cannot be asked about
	maxRedacted  = 400    // at each end of a text that is shown in part
)

// Question is what the user is asked about one call. All of it is shown; foreign
// characters that people do not see are escaped.
type Question struct {
	Text string
}

// NewQuestion returns the question about a call. Hash identifies the definition of
// the tool. It returns an error if the arguments cannot be shown.
func NewQuestion(t Target, hash string, d Decision, arguments []byte) (*Question, error) {
	args := &decodedArguments{raw: arguments, target: t}
	if err := args.read(); err != nil {
		return nil, err
	}
	s := &shower{}
	s.value(args.given, 1)
	if s.b.Len() > maxShown {
		return nil, fmt.Errorf("its arguments are too long to be shown to the user: the limit is %d bytes; give shorter ones", maxShown)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Toolpost asks: may this call run, once?\n\nServer: %s\n", show(t.Server))
	if t.Tool != "" {
		fmt.Fprintf(&b, "Tool: %s (definition sha256:%.12s)\n", show(t.Tool), hash)
	}
	fmt.Fprintf(&b, "Rule: %s", d.Rule)
	if d.Reason != "" {
		b.WriteString(": " + cleartext.Escape(d.Reason))
	}
	b.WriteString("\n")
	if s.cut > 0 {
		fmt.Fprintf(&b, "NOT ALL IS SHOWN: the middle of long texts (%d) is left out.\n", s.cut)
	}
	b.WriteString("Arguments: " + s.b.String())
	return &Question{b.String()}, nil
}

// show returns a foreign text in quotes, with each character visible.
func show(text string) string { return cleartext.Escape(string(wire.Quote(text))) }

// A shower writes arguments for people.
type shower struct {
	b   strings.Builder
	cut int // texts that are not shown in full
}

func (s *shower) value(v *jsontree.Value, depth int) {
	if s.b.Len() > maxShown {
		return // it is too long already
	}
	switch v.Kind {
	case jsontree.KindString:
		s.text(v.Text)
	case jsontree.KindObject:
		s.list(v, depth, "{", "}")
	case jsontree.KindArray:
		s.list(v, depth, "[", "]")
	default:
		s.b.Write(v.Raw) // ASCII
	}
}

func (s *shower) list(v *jsontree.Value, depth int, begin, end string) {
	s.b.WriteString(begin)
	for i, kid := range v.Kids {
		if i > 0 {
			s.b.WriteString(",")
		}
		s.indent(depth)
		if v.Kind == jsontree.KindObject {
			s.b.WriteString(show(kid.Name) + ": ") // in full: calls with long names cannot be asked about
		}
		s.value(kid, depth+1)
	}
	if len(v.Kids) > 0 {
		s.indent(depth - 1)
	}
	s.b.WriteString(end)
}

// indent begins a line. Deep nesting does not push text off the screen.
func (s *shower) indent(depth int) {
	s.b.WriteString("\n" + strings.Repeat("  ", min(depth, 8)))
}

func (s *shower) text(text string) {
	shown := show(text)
	if len(shown) <= maxShownText {
		s.b.WriteString(shown)
		return
	}
	s.cut++
	sum := sha256.Sum256([]byte(text))
	head, tail := text[:maxRedacted], text[len(text)-maxRedacted:]
	for !utf8.ValidString(head) && len(head) > maxRedacted-utf8.UTFMax {
		head = head[:len(head)-1]
	}
	for !utf8.ValidString(tail) && len(tail) > maxRedacted-utf8.UTFMax {
		tail = tail[1:]
	}
	fmt.Fprintf(&s.b, "%s … %d BYTES ARE LEFT OUT, of %d with sha256:%s … %s",
		show(head), len(text)-len(head)-len(tail), len(text), hex.EncodeToString(sum[:]), show(tail))
}

// Params returns the params of elicitation/create.
func (q *Question) Params() json.RawMessage {
	const form = `{"type":"object","properties":{"approve":{"type":"boolean","title":"Run this call once",` +
		`"description":"Yes runs exactly the call above. It counts for no other call.","default":false}},"required":["approve"]}`
	return json.RawMessage(`{"message":` + string(wire.Quote(q.Text)) + `,"requestedSchema":` + form + `}`)
}

// Approved reports whether the answer of a client is a yes: accepted, with approve
// set to true. All else is a no.
func Approved(answer []byte) (bool, error) {
	v, syntax := jsontree.Parse(answer, maxLevels)
	if syntax != nil {
		return false, errors.New("the answer is not valid JSON")
	}
	twice := false
	jsontree.Duplicates(v, "", func(string) { twice = true })
	if twice {
		return false, errors.New("the answer has a member twice")
	}
	yes := v.Get("content").Get("approve")
	return v.Get("action").IsText("accept") && yes != nil && yes.Is("true"), nil
}
