package form

import "encoding/json"

// distinct drops alternatives that are the same as another one. Exactly one of
// two that are the same never fits; ok is false if the form cannot express
// that.
func distinct(list []*Form, one bool) (left []*Form, ok bool) {
	seen := make(map[string]bool, len(list))
	for _, f := range list {
		key, err := json.Marshal(f)
		switch {
		case err != nil || !seen[string(key)]:
			left = append(left, f)
			seen[string(key)] = err == nil
		case one:
			return nil, false
		}
	}
	return left, true
}

// MarshalText identifies a definition where a form is compared.
func (d *Def) MarshalText() ([]byte, error) { return []byte(d.Name), nil }
