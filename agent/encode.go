package agent

import (
	"encoding/json"
	"time"

	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/model"
)

// MarshalJSON returns the record without line breaks. Members that the records of every
// turn have are written without reflection, which took a fifth of the time of a turn.
func (r *record) MarshalJSON() ([]byte, error) {
	var w wire.ObjectWriter
	w.Text("type", r.Type)
	if !r.Time.IsZero() {
		w.Text("time", r.Time.Format(time.RFC3339Nano))
	}
	w.Int("version", int64(r.Version))
	w.Text("id", r.ID)
	if r.Message != nil {
		raw, err := encodeMessage(r.Message)
		w.Encoded("message", raw, err)
	}
	encodeValue(&w, "origin", r.Origin)
	w.Text("stop", string(r.Stop))
	encodeValue(&w, "tokens", r.Tokens)
	encodeValue(&w, "cost", r.Cost)
	w.Int("call", int64(r.Call))
	w.Int("response", int64(r.Response))
	w.Text("definition", r.Definition)
	w.JSON("arguments", r.Arguments)
	encodeValue(&w, "decision", r.Decision)
	if r.Result != nil {
		raw, err := r.Result.MarshalJSON()
		w.Encoded("result", raw, err)
	}
	w.True("complete", r.Complete)
	w.Int("duration", int64(r.Duration))
	w.Text("text", r.Text)
	w.JSON("setup", r.Setup)
	w.Int("until", int64(r.Until))
	encodeList(&w, "messages", r.Messages)
	w.True("take_back", r.TakeBack)
	encodeList(&w, "trimmed", r.Trimmed)
	return w.End()
}

// encodeMessage returns the JSON of a message, whose parts write themselves.
func encodeMessage(m *model.Message) ([]byte, error) {
	if m.Parts == nil {
		return json.Marshal(m)
	}
	parts := []byte{'['}
	for i := range m.Parts {
		part, err := m.Parts[i].MarshalJSON()
		if err != nil {
			return nil, err
		}
		if i > 0 {
			parts = append(parts, ',')
		}
		parts = append(parts, part...)
	}
	var w wire.ObjectWriter
	w.AnyText("role", string(m.Role))
	w.Encoded("parts", append(parts, ']'), nil)
	return w.End()
}

// encodeValue writes a value that is not nil.
func encodeValue[T any](w *wire.ObjectWriter, name string, v *T) {
	if v != nil {
		raw, err := json.Marshal(v)
		w.Encoded(name, raw, err)
	}
}

// encodeList writes a list that is not empty.
func encodeList[T any](w *wire.ObjectWriter, name string, list []T) {
	if len(list) > 0 {
		raw, err := json.Marshal(list)
		w.Encoded(name, raw, err)
	}
}
