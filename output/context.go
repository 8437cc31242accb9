package output

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/hidden"
)

// A Trimmer limits the tool outputs of one conversation. After every trim the
// model's provider must read the conversation again, so a trim is rare and
// removes all outputs that may be removed. It keeps no state.
type Trimmer struct {
	Cache   *Cache
	Session string // the Holder of the conversation's calls
	Max     int    // tokens of all outputs; 100,000 if 0
	Keep    int    // tokens of the newest outputs, which remain; half of Max if 0
	Least   int    // tokens that a trim must free to be worthwhile; 30 % of Max if 0

	Tokens func(text string) int // counts the tokens of a text; an estimate if nil
}

// Trim returns the messages. If their outputs exceed the limit, it returns a
// copy in which references replace the oldest outputs. An output without a
// reference is stored, and so are images, audio and documents; if that fails,
// they remain. Replace the messages with the result for good: Trim returns the same
// result for the same messages.
func (x *Trimmer) Trim(ctx context.Context, messages []*toolpost.ToolMessage) []*toolpost.ToolMessage {
	most := cmp.Or(x.Max, 100_000)
	keep, least := cmp.Or(x.Keep, most/2), cmp.Or(x.Least, most*3/10)
	sizes, sum := make([]int, len(messages)), 0
	for i, m := range messages {
		sizes[i] = x.tokens(textOfMessage(m)) + mediaTokens*countMedia(m)
		sum += sizes[i]
	}
	if sum <= most {
		return messages
	}
	oldest := len(messages)
	for kept := 0; oldest > 0; oldest-- {
		if kept += sizes[oldest-1]; kept > keep {
			break
		}
	}
	freed := 0
	for i := range oldest {
		freed += x.gain(messages[i], sizes[i])
	}
	if freed < least {
		return messages
	}
	out := slices.Clone(messages)
	for i := range oldest {
		if x.gain(out[i], sizes[i]) > 0 {
			out[i] = x.trim(ctx, out[i])
		}
	}
	return out
}

// tokens estimates: text has some four bytes for a token, logs have three.
func (x *Trimmer) tokens(text string) int {
	if x.Tokens != nil {
		return x.Tokens(text)
	}
	return (2*len(text) + 6) / 7
}

// trimmedHead is the beginning of the text that replaces an output.
const trimmedHead = "[tool output trimmed: "

// gain is what a trim frees of a message; none if it is hardly shorter, as one
// that was trimmed before.
func (x *Trimmer) gain(m *toolpost.ToolMessage, size int) int {
	if first, _, _ := strings.Cut(textOfMessage(m), "\n"); m.OutputRef != "" && strings.HasPrefix(first, trimmedHead) && strings.Contains(first, m.OutputRef) {
		return 0
	}
	after := x.tokens(trimNotice("", m)) + countMedia(m)*x.tokens(mediaForm.String())
	if size < 2*after {
		return 0
	}
	return size - after
}

func textOfMessage(m *toolpost.ToolMessage) string {
	if m.Parts == nil {
		return valid(m.Text)
	}
	return strings.Join(bodies(itemsOf(m.Parts)), "\n")
}

// trim returns m with its reference in place of its text.
func (x *Trimmer) trim(ctx context.Context, m *toolpost.ToolMessage) *toolpost.ToolMessage {
	c := *m
	whole := textOfMessage(m)
	if c.OutputRef == "" && whole != "" {
		b := x.Cache.create(ctx, x.Session)
		b.write(bytesOf(whole))
		b.commit(ctx, x.Cache)
		if b.err != nil {
			x.Cache.opts.Logger.WarnContext(ctx, "tool output not trimmed", "err", b.err)
			return m
		}
		c.OutputRef = b.ref
	}
	if m.Parts == nil {
		c.Text = trimNotice(c.OutputRef, m)
	} else {
		c.Parts = nil
		if whole != "" {
			c.Parts = append(c.Parts, textPart(trimNotice(c.OutputRef, m)))
		}
		for _, p := range m.Parts {
			if isMedia(p) {
				c.Parts = append(c.Parts, x.trimMedia(ctx, p))
			}
		}
	}
	return &c
}

func countMedia(m *toolpost.ToolMessage) (n int) {
	for _, p := range m.Parts {
		if isMedia(p) {
			n++
		}
	}
	return n
}

// trimNotice describes what was there. Without a reference it is as long as
// with one.
func trimNotice(ref string, m *toolpost.ToolMessage) string {
	if ref == "" {
		ref = strings.Repeat("x", hidden.RefSize)
	}
	text := textOfMessage(m)
	return fmt.Sprintf(trimmedHead+`%d lines, %d characters; read it with %s {"ref_id":"%s"}]`,
		lines(text), utf8.RuneCountInString(text), pageName, ref)
}
