package toolpost

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Go values are written as JSON deterministically, without HTML escapes, with
// [] and {} for nil slices and maps, and omitempty as encoding/json has it.
func encode(v any) ([]byte, error) {
	return json.Marshal(v, json.Deterministic(true), jsonv1.OmitEmptyWithLegacySemantics(true),
		jsonv1.FormatDurationAsNano(true), jsonv1.FormatByteArrayAsArray(true), jsontext.AllowInvalidUTF8(true))
}

// decode reads JSON that was validated before: duplicate names are not looked for again.
func decode(data []byte, v any) error {
	return json.Unmarshal(data, v, jsontext.AllowDuplicateNames(true),
		jsonv1.FormatDurationAsNano(true), jsonv1.FormatByteArrayAsArray(true))
}
