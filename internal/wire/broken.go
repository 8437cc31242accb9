package wire

import (
	"bytes"
	"encoding/json"
)

// BrokenAnswer returns the id of an answer that is not JSON, such as one with NaN or a quote
// that is not escaped, or that has more text behind it. It is nil if data is something else,
// such as a request, or its id is unclear. Data may be only the beginning of the answer.
func BrokenAnswer(data []byte) json.RawMessage {
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\uFEFF")))
	if len(data) == 0 || data[0] != '{' {
		return nil
	}
	var version, id json.RawMessage
	request, answer := false, false
	s := lenient(data)
	err := s.object(func(name []byte) error {
		switch string(name) {
		case `"jsonrpc"`:
			return s.raw(&version)
		case `"id"`:
			return s.raw(&id)
		case `"method"`:
			request = true
		case `"result"`, `"error"`:
			answer = true
		}
		return s.skip()
	})
	switch {
	case err == nil && s.end() == nil, request || !answer || namesMethod(data), version != nil && string(version) != `"2.0"`, version == nil && !bytes.Contains(data, []byte(`"jsonrpc"`)):
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

// namesMethod reports whether an object that is not JSON has a member "method" of its own.
// After a quote that is not escaped, it is unclear what is inside of strings: then the
// brackets in strings count too.
func namesMethod(data []byte) bool {
	depth, depthWithStrings, inString := 0, 0, false
	for i := 0; i < len(data); i++ {
		step := 0
		switch c := data[i]; c {
		case '\\':
			i++
		case '"':
			if (depth == 1 && !inString || depthWithStrings == 1) && isMethod(data[i:]) {
				return true
			}
			inString = !inString
		case '{', '[':
			step = 1
		case '}', ']':
			step = -1
		}
		depthWithStrings += step
		if !inString {
			depth += step
		}
	}
	return false
}

// isMethod reports whether text begins with a member "method".
func isMethod(text []byte) bool {
	rest, ok := bytes.CutPrefix(text, []byte(`"method"`))
	return ok && bytes.HasPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte(":"))
}
