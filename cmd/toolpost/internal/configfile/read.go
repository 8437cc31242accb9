package configfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/atomicfile"
)

// maxSize is the longest toolpost.json that is read, as of [config.Load].
const maxSize = 4 << 20

// Read returns the content of the toolpost.json with the given path. It refuses what is not
// a file, such as a pipe.
func Read(path string) ([]byte, error) {
	data, err := atomicfile.Read(path, maxSize)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf(`read configuration: %w; run "toolpost import", or create the file with {"mcpServers": {}}`, err)
	case err != nil:
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	return data, nil
}

// Load is [config.Load] for a file whose content is data, or is to be data.
func Load(path string, data []byte) (*config.Config, error) {
	cfg, err := config.Parse(path, data, os.LookupEnv)
	if err != nil {
		return nil, err
	}
	cfg.ReadFiles()
	return cfg, nil
}
