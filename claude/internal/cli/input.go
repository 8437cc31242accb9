package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// lastWords is how long an end that is already seen may take to be explained.
const lastWords = 250 * time.Millisecond

// WriteLine writes one line to the command. It is safe for concurrent use. It
// blocks while the command does not read; Close ends that.
func (p *Process) WriteLine(line []byte) error {
	if bytes.ContainsAny(line, "\r\n") {
		return errors.New("write a line to the claude command: it contains a line break; encode it as JSON on one line")
	}
	err := p.input.write(append(slices.Clip(line), '\n'))
	if err == nil {
		return nil
	}
	if err != errInputClosed { // it has ended, or is about to
		select {
		case <-p.exited:
			err = p.exit()
		case <-time.After(lastWords):
		}
	}
	return fmt.Errorf("write a line to the claude command: %w", err)
}

var errInputClosed = fmt.Errorf("its input is closed: %w", os.ErrClosed)

// CloseInput closes the command's input, after which the command ends at the
// end of its turn. A line that is being written is completed first.
func (p *Process) CloseInput() error { return p.input.end() }

// An input is the writing end of a pipe.
type input struct {
	file  io.WriteCloser
	mu    sync.Mutex // held while a line is written
	ended atomic.Bool
}

func (i *input) write(line []byte) error {
	i.mu.Lock()
	defer i.settle()
	defer i.mu.Unlock()
	if i.ended.Load() {
		return errInputClosed
	}
	_, err := i.file.Write(line)
	return err
}

// end closes the file now, or when the line that is being written is.
func (i *input) end() error {
	i.ended.Store(true)
	return i.settle()
}

// settle closes the file if it is to be closed and nobody writes. Who writes
// settles afterwards.
func (i *input) settle() error {
	if !i.ended.Load() || !i.mu.TryLock() {
		return nil
	}
	defer i.mu.Unlock()
	if err := i.file.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("close the input of the claude command: %w", err)
	}
	return nil
}

// abandon closes the file even while a line is written: nobody reads it.
func (i *input) abandon() { _ = i.file.Close() } // nothing is lost
