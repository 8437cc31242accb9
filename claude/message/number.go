package message

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Numbers are read leniently, as they are for accounts and not worth a run:
// null is 0, a boolean 1 or 0, a fraction is cut off, text is parsed. Anything
// else is 0 with a warning.

// from reads integers; one below least is 0 with a warning, too.
func from(d *decoder, least int64) func(*jsontext.Decoder, *int64) error {
	return func(dec *jsontext.Decoder, to *int64) error {
		v, err := dec.ReadValue()
		if err != nil {
			return err
		}
		n, ok := integer(v)
		if !ok || n < least {
			d.warn(dec.StackPointer(), v)
			n = 0
		}
		*to = n
		return nil
	}
}

func (d *decoder) float(dec *jsontext.Decoder, to *float64) error {
	v, err := dec.ReadValue()
	if err != nil {
		return err
	}
	n, ok := float(v)
	if !ok {
		d.warn(dec.StackPointer(), v)
	}
	*to = n
	return nil
}

// warn records that a value is not what it ought to be.
func (d *decoder) warn(p jsontext.Pointer, v []byte) {
	d.warnings = append(d.warnings, fmt.Sprintf("field %.200q: %s is no such value; it counts as none", below(d.at, p), shorten(v)))
}

func integer(v jsontext.Value) (n int64, ok bool) {
	if n, err := strconv.ParseInt(numeral(v), 10, 64); err == nil {
		return n, true
	}
	f, ok := float(v)
	f = math.Trunc(f)
	if !ok || f < math.MinInt64 || f >= math.MaxInt64 {
		return 0, false
	}
	return int64(f), true
}

func float(v jsontext.Value) (n float64, ok bool) {
	switch v.Kind() {
	case 'n', 'f':
		return 0, true
	case 't':
		return 1, true
	}
	n, err := strconv.ParseFloat(numeral(v), 64)
	if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
		return 0, false
	}
	return n, true
}

// numeral returns the text of a number, also of one in quotes; else nothing.
func numeral(v jsontext.Value) string {
	switch v.Kind() {
	case '0':
		return string(v)
	case '"':
		s, err := jsontext.AppendUnquote(nil, v)
		if err != nil || strings.ContainsAny(string(s), "xX_") {
			return ""
		}
		return strings.TrimSpace(string(s))
	}
	return ""
}

// shorten cuts data for a log.
func shorten(v []byte) string {
	const most = 200
	if len(v) > most {
		return strings.ToValidUTF8(string(v[:most]), "") + "…"
	}
	return strings.ToValidUTF8(string(v), "�")
}
