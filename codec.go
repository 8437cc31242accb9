package toolpost

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Go values are written as JSON deterministically, without HTML escapes, with
// [] and {} for nil slices and maps, and omitempty as encoding/json has it.
var encoding = json.JoinOptions(json.Deterministic(true), jsontext.AllowInvalidUTF8(true),
	jsonv1.OmitEmptyWithLegacySemantics(true), jsonv1.FormatDurationAsNano(true), jsonv1.FormatByteArrayAsArray(true))

// JSON is read after it was validated: duplicate names are not looked for again.
// Null leaves a value as it is, so that it means the default.
var decoding = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsonv1.MergeWithLegacySemantics(true),
	jsonv1.FormatDurationAsNano(true), jsonv1.FormatByteArrayAsArray(true))

func encode(v any) ([]byte, error) { return json.Marshal(v, encoding) }

func decode(data []byte, v any) error { return json.Unmarshal(data, v, decoding) }
