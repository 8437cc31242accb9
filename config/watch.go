package config

import (
	"context"
	"reflect"

	"github.com/toolpost/toolpost/internal/atomicfile"
	"github.com/toolpost/toolpost/internal/filewatch"
)

// Watch calls f with the configuration at path, immediately and after every
// change of that file or of one of the other files, until ctx ends. If the
// configuration is missing or broken, f receives an error, and the caller
// continues with its current configuration. It needs no events of the system.
func Watch(ctx context.Context, path string, f func(*Config, error), others ...string) {
	paths := append([]string{path}, others...)
	var last [][]byte
	filewatch.Watch(ctx, paths, func() {
		if now := contents(paths); last == nil || !reflect.DeepEqual(now, last) {
			last = now
			f(Load(path))
		}
	})
}

// contents reads files. One that cannot be read is nil: Load reports why.
func contents(paths []string) [][]byte {
	all := make([][]byte, len(paths))
	for i, path := range paths {
		all[i], _ = atomicfile.Read(path, maxConfig)
	}
	return all
}
