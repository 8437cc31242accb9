package wire

import (
	"bytes"
	"encoding/json"
)

// BrokenAnswer returns the id of an answer that is not JSON, such as one with NaN or a quote
// that is not escaped, or that has more text behind it. It is nil if data is something else
// or its id is unclear. Data may be only the beginning of the answer.
func BrokenAnswer(data []byte) json.RawMessage {
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\uFEFF")))
	if len(data) == 0 || data[0] != '{' {
		return nil
	}
	var version, id json.RawMessage
	request := false
	s := lenient(data)
	err := s.object(func(name []byte) error {
		switch string(name) {
		case `"jsonrpc"`:
			return s.raw(&version)
		case `"id"`:
			return s.raw(&id)
		case `"method"`:
			request = true
		}
		return s.skip()
	})
	switch {
	case err == nil && s.end() == nil, request, version != nil && string(version) != `"2.0"`, version == nil && !bytes.Contains(data, []byte(`"jsonrpc"`)):
		return nil
	case id == nil:
		id = lastID(data)
	}
	if _, ok := Number(id); !ok {
		return nil
	}
	return id
}

// lastID returns the id of an answer that ends with it, or with it and the version.
func lastID(data []byte) json.RawMessage {
	inner, ended := bytes.CutSuffix(data, []byte("}"))
	if at := bytes.LastIndex(inner, []byte(`"jsonrpc"`)); at > 0 && bytes.HasSuffix(bytes.TrimSpace(inner), []byte(`"2.0"`)) {
		inner = bytes.TrimSuffix(bytes.TrimSpace(inner[:at]), []byte(","))
	}
	at := bytes.LastIndex(inner, []byte(`"id"`))
	if !ended || at < 0 || bytes.Contains(data, []byte(`"method"`)) || bytes.Count(data, []byte("{")) != bytes.Count(data, []byte("}")) ||
		!bytes.HasSuffix(bytes.TrimSpace(inner[:at]), []byte(",")) {
		return nil
	}
	id, _ := bytes.CutPrefix(bytes.TrimSpace(inner[at+len(`"id"`):]), []byte(":"))
	return bytes.TrimSpace(id)
}
