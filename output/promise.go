package output

import (
	"bytes"
	"encoding/json"

	"github.com/toolpost/toolpost"
)

// A tool that announces an output schema promises structured content that matches
// it: official clients turn a result without it, or with a part of it that does not
// match, into an error, although the call was carried out.

// maxWhole is how large structured content may be that is sent whole because no
// shorter form of it matches the output schema.
const maxWhole = 8 << 20

// promises reports whether clients expect structured content in r.
func promises(t *toolpost.Tool, r *toolpost.Result) bool { return t.Output != nil && !r.IsError() }

// carriedOut is what a model reads where the structured content that a tool
// promises cannot be sent: only an error may come without it.
const carriedOut = "[The call was carried out; do not repeat it. Its structured content is too large for one result, so that clients would refuse it. A part of it follows.]"

// withoutPromise returns r as an error, which may have no structured content.
func withoutPromise(r *toolpost.Result, parts []toolpost.Part) (*toolpost.Result, error) {
	e, err := toolpost.Failed.Resultf("").WithContent(append([]toolpost.Part{textPart(carriedOut)}, parts...), nil)
	if err != nil {
		return nil, err
	}
	return e.WithOutputRef(r.OutputRef()), nil
}

// hasFormats reports whether validators of clients may refuse a text that was
// cut, because of its format, which ours does not check.
func (v *viewing) hasFormats() bool {
	return v.tool.Output != nil && bytes.Contains(v.tool.Output.Raw(), []byte(`"format"`))
}

// fits reports whether the value is one of the tool's output, for sure.
func (v *viewing) fits(value json.RawMessage) bool {
	if v.tool.Output == nil {
		return true
	}
	declared := v.tool.Output
	return len(declared.Unvalidated()) == 0 && declared.Validate(value) == nil
}
