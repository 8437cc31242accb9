// Package ownversion reads the version of this module that a program was built with.
package ownversion

import "runtime/debug"

const module = "github.com/toolpost/toolpost"

// Read returns the version, such as "v1.2.3", of the running program or of the module
// that it uses; "unknown" if the build does not contain it.
func Read() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == module && m.Version != "" {
			return m.Version
		}
	}
	return "unknown"
}
