package configedit

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/toolpost/toolpost/internal/nesting"
)

// IsTOML reports whether a file of that name is TOML.
func IsTOML(file string) bool { return strings.EqualFold(filepath.Ext(file), ".toml") }

// MaxTOML is the longest TOML that is read, in bytes.
const MaxTOML = 1 << 20

// ErrExpands reports a file whose content expands to far more than its size. A
// hostile folder can contain such a file.
var ErrExpands = errors.New("its keys are nested too deep, or its aliases repeat too much")

// maxDots is the number of dots in one line of TOML. Each dot of a key is one
// more level, and the parser's time grows with the square of the levels.
const maxDots = 200

// DecodeTOML decodes TOML within bounds of size and time.
func DecodeTOML(data []byte) (v map[string]any, err error) {
	if len(data) > MaxTOML {
		return nil, fmt.Errorf("it is larger than %d bytes", MaxTOML)
	}
	if nesting.TooDeep(data, nesting.SkipTOML) >= 0 {
		return nil, ErrExpands
	}
	for line := range bytes.Lines(data) {
		if bytes.Count(line, []byte(".")) > maxDots {
			return nil, ErrExpands
		}
	}
	return v, toml.Unmarshal(data, &v)
}
