package atomicfile

import (
	"fmt"
	"io"
	"os"
)

// Read reads a regular file of at most limit bytes.
func Read(path string, limit int64) ([]byte, error) {
	switch info, err := os.Stat(path); {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular(): // to open a pipe would wait for a writer
		return nil, fmt.Errorf("%s is not a file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1)) // the size may be wrong, as in /proc, or grow
	if err == nil && int64(len(data)) > limit {
		return nil, fmt.Errorf("%s is larger than %d bytes", path, limit)
	}
	return data, err
}
