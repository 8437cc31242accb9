package codec

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// maxDigits is more than an integer of 64 bits has.
const maxDigits = 25

// plainIntegers returns JSON with the integers that are written with a fraction or an
// exponent, such as 1.0 and 1e2, as Go reads integers. JSON Schema and clients
// whose only numbers are floats do not distinguish them. It returns nil if there are
// none.
func plainIntegers(data []byte) []byte {
	d := jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	var out []byte
	from := 0
	for {
		kind := d.PeekKind()
		if kind == '{' || kind == '[' || kind == '}' || kind == ']' {
			if _, err := d.ReadToken(); err != nil {
				return nil
			}
			continue
		}
		value, err := d.ReadValue()
		if err != nil { // also at the end
			break
		}
		plain := plainInteger(string(value))
		if kind != '0' || plain == "" {
			continue
		}
		end := int(d.InputOffset())
		out = append(append(out, data[from:end-len(value)]...), plain...)
		from = end
	}
	if out == nil {
		return nil
	}
	return append(out, data[from:]...)
}

// plainInteger returns the digits of an integer that is written with a fraction or an
// exponent, "" of another number.
func plainInteger(number string) string {
	digits, exponent, scientific := strings.Cut(strings.ToLower(number), "e")
	shift := 0
	if scientific {
		var err error
		if shift, err = strconv.Atoi(exponent); err != nil {
			return ""
		}
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	if !scientific && fraction == "" {
		return ""
	}
	fraction = strings.TrimRight(fraction, "0")
	if shift -= len(fraction); fraction == "" && shift < 0 {
		short := strings.TrimRight(whole, "0")
		shift += len(whole) - len(short)
		whole = short
	}
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	all := strings.TrimLeft(whole+fraction, "0")
	switch {
	case all == "":
		return "0"
	case shift < 0 || shift > maxDigits || len(all)+shift > maxDigits:
		return ""
	}
	return sign + all + strings.Repeat("0", shift)
}
