//go:build !linux

package main

// unmapProgram does nothing: only Linux counts what is mapped of a program's file as its
// memory, and has a way to drop it.
func unmapProgram() {}
