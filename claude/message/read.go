package message

import (
	"bufio"
	"bytes"
	"io"
	"iter"
)

// Read yields the messages of a saved stream, line by line. Lines that are no
// JSON objects are skipped: the CLI's parts may write some. It goes on after a
// *ParseError if the loop does.
func Read(r io.Reader) iter.Seq2[Message, error] { return new(Parser).Read(r) }

// Read yields the messages of a saved stream as [Read] does.
func (p *Parser) Read(r io.Reader) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		lines := bufio.NewReader(r)
		for {
			line, end := lines.ReadBytes('\n')
			if line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff"))); len(line) > 0 && line[0] == '{' {
				if m, err := p.Parse(line); !yield(m, err) {
					return
				}
			}
			if end == io.EOF {
				return
			}
			if end != nil {
				yield(nil, end)
				return
			}
		}
	}
}
