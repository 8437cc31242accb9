package grep

import "bytes"

func newline(data []byte) int { return bytes.IndexByte(data, '\n') }

func lineFeeds(data []byte) int { return bytes.Count(data, []byte{'\n'}) }

// lineStart returns where the line begins that byte at is of.
func lineStart(data []byte, at int) int { return bytes.LastIndexByte(data[:at], '\n') + 1 }

// lineEnd returns where the line ends that byte at is of.
func lineEnd(data []byte, at int) int {
	if i := newline(data[at:]); i >= 0 {
		return at + i
	}
	return len(data)
}

// trim returns a line without the '\r' of its end.
func trim(line []byte) []byte { return bytes.TrimSuffix(line, []byte{'\r'}) }
