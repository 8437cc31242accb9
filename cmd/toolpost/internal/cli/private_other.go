//go:build !linux

package cli

// KeepPrivate does nothing: only Linux lets a process hide its environment from
// other processes of the same user. docs/security.md says so.
func KeepPrivate() error { return nil }
