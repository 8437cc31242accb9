package openai

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// decodeEvent decodes one event of a stream. An event that is not JSON is part of a
// stream that was cut off. Some servers write members as other types than OpenAI: those
// that do not fit are as if they were missing.
func decodeEvent(data []byte, to any) error {
	if !json.Valid(data) {
		return fmt.Errorf("an event of the stream is not JSON: %q", jsontree.Clip(string(data), 200))
	}
	if isPresent(data) && !isObject(data) {
		return fmt.Errorf("an event of the stream is not an object: %q", jsontree.Clip(string(data), 200))
	}
	_ = json.Unmarshal(data, to) // all that fits
	return nil
}

// A looseText is a string, or the JSON of another value. Null is the empty string.
type looseText string

// UnmarshalJSON implements [json.Unmarshaler].
func (t *looseText) UnmarshalJSON(raw []byte) error {
	*t = looseText(stringOf(raw))
	return nil
}

// A looseInt is an integer that a server may write as a number with a fraction or as a
// string. It is 0 for everything else.
type looseInt int64

// maxLooseInt is the largest value of a looseInt; the smallest is its negative.
const maxLooseInt = 1 << 53

// UnmarshalJSON implements [json.Unmarshaler].
func (n *looseInt) UnmarshalJSON(raw []byte) error {
	f, _ := strconv.ParseFloat(stringOf(raw), 64) // 0 for what is not a number, infinite for what is too large
	if f != f {
		f = 0 // the text "NaN"
	}
	*n = looseInt(min(max(f, -maxLooseInt), maxLooseInt))
	return nil
}

// isObject reports whether raw is an object. It has no white space around it.
func isObject(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }
