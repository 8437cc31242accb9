package configfile

import (
	"os"

	"github.com/toolpost/toolpost/config"
)

// Load is [config.Load] for a file whose content is data, or is to be data.
func Load(path string, data []byte) (*config.Config, error) {
	cfg, err := config.Parse(path, data, os.LookupEnv)
	if err != nil {
		return nil, err
	}
	cfg.ReadFiles()
	return cfg, nil
}
