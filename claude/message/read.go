package message

import (
	"bufio"
	"bytes"
	"io"
	"iter"
)

// Read yields the messages of a saved stream, line by line. It skips lines that
// are not JSON objects, because parts of the CLI may write some. After a
// *ParseError it continues if the loop does.
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
