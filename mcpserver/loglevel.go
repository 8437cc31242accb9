package mcpserver

import (
	"slices"
	"strings"
)

// defaultLevel is the least level of log messages that a session gets that has
// not set one.
const defaultLevel = "info"

const levels = "debug info notice warning error critical alert emergency"

// levelIndex orders the log levels (RFC 5424, §6.2.1); -1 for unknown ones.
func levelIndex(level string) int { return slices.Index(strings.Fields(levels), level) }

// wants reports whether the session gets log messages of a level.
func (s *session) wants(level string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return levelIndex(level) >= levelIndex(s.level)
}

func (s *session) setLevel(level string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.level = level
}
