//go:build !linux

package stdtool

func (f *Workspace) renameNew(from, to string) error { return f.root.Rename(from, to) }
