package link

import "testing"

// Remember makes the first of the two steps of Apply, before the file is written.
func Remember(t testing.TB, s *Store, c *Change) {
	t.Helper()
	if err := s.save(c.record, c.backup); err != nil {
		t.Fatal(err)
	}
}

// Write makes the second step.
func Write(c *Change) error { return c.write() }
