package message

import (
	"bytes"
	"cmp"
	"log/slog"
	"maps"
	"sync"
)

// A Parser decodes lines and remembers which unknown parts it has met. It is
// safe for concurrent use; the zero value is ready to use.
type Parser struct {
	Logger *slog.Logger // slog.Default() if nil

	mu      sync.Mutex
	decoder *decoder
	kinds   map[string]kind
	unknown map[string]int
	fields  map[string]bool
}

// Parse decodes one line and retains it. The error is a *ParseError if the line
// is not a JSON object, or if a field of a known type is missing or has the
// wrong type.
func (p *Parser) Parse(line []byte) (Message, error) {
	line = bytes.TrimSpace(line)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.decoder == nil {
		p.decoder, p.kinds = newDecoder(), kinds()
		p.decoder.met = p.countUnknown
		p.unknown, p.fields = map[string]int{}, map[string]bool{}
	}
	m, h, err := p.parse(line)
	if err == nil {
		return m, nil
	}
	located := locate(err, "")
	return nil, &ParseError{Type: h.Type, Subtype: h.Subtype, Field: located.field, Line: line, Err: located.err}
}

// Unknown returns the unknown types that were met, and how often: "type",
// "system/subtype" or "content_block/type". After 1000 types, all others are
// counted together as "(other)".
func (p *Parser) Unknown() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.unknown)
}

func (p *Parser) parse(line []byte) (m Message, h Header, err error) {
	if len(line) == 0 || line[0] != '{' {
		return nil, h, &fieldError{"", errNoObject}
	}
	if h.Type, err = text(line, "type"); err != nil {
		return nil, h, err
	}
	key := h.Type
	if key == "system" || key == "result" {
		if h.Subtype, err = text(line, "subtype"); err != nil {
			return nil, h, err
		}
	}
	if key == "system" {
		if h.Subtype == "" {
			return nil, h, &fieldError{"subtype", errMissing}
		}
		key += "/" + h.Subtype
	}
	known, ok := p.kinds[key]
	if !ok {
		known = of[Unknown]("type")
	}
	m = known.new()
	if err := p.decode(line, m, known.required); err != nil {
		return nil, h, err
	}
	m.Head().Type, m.Head().Subtype = h.Type, h.Subtype
	p.note(key, m)
	return m, h, nil
}

// A finisher has parts that are decoded when the rest is.
type finisher interface{ finish(d *decoder) error }

func (p *Parser) decode(line []byte, m Message, required []string) error {
	d := p.decoder
	d.warnings = nil
	if err := d.part(line, "", m, required...); err != nil {
		return err
	}
	m.Head().Raw = line
	if f, ok := m.(finisher); ok {
		if err := f.finish(d); err != nil {
			return err
		}
	}
	m.Head().Warnings = d.warnings
	return nil
}

// note logs and counts what is strange about a message.
func (p *Parser) note(key string, m Message) {
	h := m.Head()
	for _, w := range h.Warnings {
		p.log().Warn("the claude CLI sent a field with an unexpected type", "message", key, "warning", w)
	}
	switch m.(type) {
	case *Unknown:
		p.countUnknown("message", key, h.Raw)
		return
	case *System: // has no fields that are known
		return
	case *Result:
		switch h.Subtype {
		case "success", "error_during_execution", "error_max_turns", "error_max_budget_usd", "error_max_structured_output_retries":
		default: // it ends a turn all the same
			p.countUnknown("message", "result/"+h.Subtype, h.Raw)
		}
	}
	for name, value := range h.Extra {
		p.countUnknown("field", key+"."+name, value)
	}
}

// maxKinds bounds how many unknown types, and how many fields, a parser remembers.
const maxKinds = 1000

// countUnknown counts and logs something unknown. Of one type, the first ten are logged,
// then the hundredth, the thousandth and so on.
func (p *Parser) countUnknown(kind, name string, raw []byte) {
	if kind == "field" {
		if !p.fields[name] && len(p.fields) < maxKinds {
			p.fields[name] = true
			p.log().Debug("the claude CLI sent an unknown field", "field", shorten(name, maxName))
		}
		return
	}
	if kind == "content_block" {
		name = kind + "/" + name
	}
	if _, known := p.unknown[name]; !known && len(p.unknown) >= maxKinds {
		name = "(other)"
	}
	p.unknown[name]++
	if n := p.unknown[name]; n <= 10 || isPowerOfTen(n) {
		p.log().Warn("the claude CLI sent an unknown message or content block", "type", shorten(name, maxName), "count", n, "data", redactForLog(raw))
	}
}

func isPowerOfTen(n int) bool {
	for ; n%10 == 0 && n > 0; n /= 10 {
	}
	return n == 1
}

func (p *Parser) log() *slog.Logger { return cmp.Or(p.Logger, slog.Default()) }
