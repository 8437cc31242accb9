package configfile

import (
	"github.com/toolpost/toolpost/cmd/toolpost/internal/configedit"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/tomledit"
)

// Open parses the content of a file, which is TOML if the name of the file ends with .toml,
// otherwise JSON with comments. The error does not quote the content, which may be secret.
func Open(file string, data []byte) (configedit.Document, error) {
	if configedit.IsTOML(file) {
		return tomledit.Open(data)
	}
	return configedit.Open(data)
}
