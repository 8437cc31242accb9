package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/toolpost/toolpost/internal/wire"
)

// ReadLine returns the next line of output that is a JSON object, without its
// line ending. The caller owns the line. Other lines are logged and skipped. If
// a line is too long, the error is a *LineTooLongError, and the next call
// continues after that line. At the end the error is io.EOF if the command
// succeeded, otherwise an *ExitError.
func (p *Process) ReadLine() ([]byte, error) {
	line, err := p.lines.next()
	if err == io.EOF {
		return nil, p.ending()
	}
	return line, err
}

// A LineTooLongError reports a line that was skipped.
type LineTooLongError struct {
	Limit int // of [Options.MaxLine]
}

func (e *LineTooLongError) Error() string {
	return fmt.Sprintf("read a line of the claude command: it is longer than %d bytes and was skipped; raise MaxLine", e.Limit)
}

// A lineReader reads lines of any length up to a limit.
type lineReader struct {
	r      *bufio.Reader
	limit  int
	log    *slog.Logger
	hide   *strings.Replacer
	warned bool
}

func newLineReader(r io.Reader, limit int, log *slog.Logger, hide *strings.Replacer) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 64<<10), limit: limit, log: log, hide: hide}
}

// next returns the next line that begins as an object.
func (l *lineReader) next() ([]byte, error) {
	for {
		line, err := wire.ReadLine(l.r, l.limit)
		switch {
		case err == bufio.ErrTooLong:
			return nil, &LineTooLongError{l.limit}
		case err != nil:
			return nil, err
		}
		line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff")))
		if len(line) > 0 && line[0] == '{' {
			if l.atEnd() && !json.Valid(line) { // how the command ended says more
				l.skip(line)
				continue
			}
			return line, nil
		}
		if len(line) > 0 {
			l.skip(line)
		}
	}
}

// atEnd reports whether the line that was read last had no end, because the output ends
// there.
func (l *lineReader) atEnd() bool {
	if l.r.UnreadByte() != nil {
		return false
	}
	last, err := l.r.ReadByte()
	return err == nil && last != '\n'
}

// skip logs a line that is not ours; only the first is worth a warning.
func (l *lineReader) skip(line []byte) {
	level := slog.LevelWarn
	if l.warned {
		level = slog.LevelDebug
	}
	l.warned = true
	const most = 200
	text := l.hide.Replace(string(line[:min(len(line), 16*most)]))
	l.log.Log(context.Background(), level, "skipped output of the claude command that is not JSON", "line", text[:min(len(text), most)])
}
