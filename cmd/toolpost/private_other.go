//go:build !linux

package main

// keepPrivate does nothing: only Linux lets a process hide its environment from
// other processes of the same user. docs/security.md says so.
func keepPrivate() error { return nil }
