package message

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Numbers are for accounts, so a wrong one does not end a run. Null is 0. With a
// warning, a boolean is 1 or 0, the fraction of an integer is cut off, and
// everything else is 0, text as well: a number in quotes may be anything.

// from reads integers. One below least is 0, with a warning.
func from(d *decoder, least int64) func(*jsontext.Decoder, *int64) error {
	return func(dec *jsontext.Decoder, to *int64) error {
		v, err := dec.ReadValue()
		if err != nil {
			return err
		}
		n, ok := integer(v)
		if n < least {
			n, ok = 0, false
		}
		if !ok {
			d.warn(dec.StackPointer(), v, strconv.FormatInt(n, 10))
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
		d.warn(dec.StackPointer(), v, strconv.FormatFloat(n, 'g', -1, 64))
	}
	*to = n
	return nil
}

// warn records a value of an unexpected type, and what it counts as.
func (d *decoder) warn(p jsontext.Pointer, v []byte, as string) {
	d.warnings = append(d.warnings, fmt.Sprintf("field %.200q: the value %s has an unexpected type; it counts as %s", below(d.at, p), shorten(string(v), maxName), as))
}

// integer reads an integer. It is ok if nothing had to be guessed or cut.
func integer(v jsontext.Value) (n int64, ok bool) {
	if v.Kind() == '0' {
		if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
			return n, true
		}
	}
	f, ok := float(v)
	whole := math.Trunc(f)
	if whole < math.MinInt64 || whole >= math.MaxInt64 {
		return 0, false
	}
	return int64(whole), ok && whole == f
}

// float reads a number. It is ok if nothing had to be guessed.
func float(v jsontext.Value) (n float64, ok bool) {
	switch v.Kind() {
	case 'n':
		return 0, true
	case 't':
		return 1, false
	case '0':
		if n, err := strconv.ParseFloat(string(v), 64); err == nil && !math.IsInf(n, 0) {
			return n, true
		}
	}
	return 0, false
}

// shorten returns text for a log, at most so many bytes of it.
func shorten(text string, most int) string {
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
