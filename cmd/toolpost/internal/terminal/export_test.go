package terminal

// LeftIsRead reports whether the line of a prompt that was given up has been read.
func (l *Lines) LeftIsRead() bool { return len(l.left) > 0 }
