package audit

import "github.com/toolpost/toolpost/internal/access/trail"

// Append writes a record for a test.
func (l *Log) Append(r *trail.Record, durable bool) error { return l.add(r, durable) }
