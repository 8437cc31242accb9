//go:build !unix

package owner

import "io/fs"

// The user's configuration folder is private on Windows; modes are not known.
func ownerOnly(fs.FileInfo) bool   { return true }
func ownerWrites(fs.FileInfo) bool { return true }
