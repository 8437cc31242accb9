package limit

// Len returns how many clients, tools and servers are remembered.
func (l *Limits) Len() int { return len(l.all) }
