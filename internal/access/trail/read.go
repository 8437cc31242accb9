package trail

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/observe"
)

// A Filter selects records. The zero value selects all.
type Filter struct {
	Server  string          // a glob (* and ?) of the server's name; "" for all
	Tool    string          // a glob of the tool, as clients or the server know it; "" for all
	Client  string          // a glob of the client's name, or of its name and version; "" for all
	Since   time.Time       // records from then on
	Failed  bool            // only calls that did not succeed
	Outcome observe.Outcome // only calls with this outcome; "" for all
	Limit   int             // the newest so many; 0 for all
}

func (f *Filter) matches(r *Record) bool {
	name, _, _ := strings.Cut(r.Principal.Client, "/")
	return glob(f.Server, r.Upstream) && glob(f.Tool, r.Tool, r.ServerTool, r.Through) &&
		glob(f.Client, r.Principal.Client, name) && !r.Time.Before(f.Since)
}

// matchesEnd reports whether the outcome of a call is one that is selected.
func (f *Filter) matchesEnd(r *Record) bool {
	return (!f.Failed || !r.Succeeded()) && (f.Outcome == "" || f.Outcome == r.Outcome)
}

// glob reports whether a pattern is empty or matches a name. A slash in a name is
// a character like others.
func glob(pattern string, names ...string) bool {
	flat := strings.NewReplacer("/", "\x00")
	return pattern == "" || slices.ContainsFunc(names, func(name string) bool {
		ok, _ := path.Match(flat.Replace(pattern), flat.Replace(name))
		return ok
	})
}

// Calls returns one record for each call, the newest last. A call without an end is
// [Running] while its process writes the log, and [Unknown] afterwards. Damaged is
// how many lines could not be read.
func Calls(dir string, f *Filter) (calls []*Record, damaged int, err error) {
	t := newTail(dir, f)
	err = t.read(func(r *Record) {
		calls = append(calls, r)
		if f.Limit > 0 && len(calls) > 2*f.Limit+1000 {
			calls = latest(calls, f.Limit)
		}
	})
	if err != nil {
		return nil, 0, fmt.Errorf("read the audit log: %w", err)
	}
	calls = append(calls, t.unfinishedCalls()...)
	return latest(calls, f.Limit), t.damaged, nil
}

// latest returns the newest records, the newest last.
func latest(calls []*Record, limit int) []*Record {
	slices.SortStableFunc(calls, func(a, b *Record) int { return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Seq, b.Seq)) })
	if limit > 0 && len(calls) > limit {
		calls = slices.Clone(calls[len(calls)-limit:])
	}
	return calls
}

// followDelay is how often Follow looks for new records.
const followDelay = 200 * time.Millisecond

// Follow calls f with every record that is written from now on, until ctx ends or f
// returns an error. It does not report the start of a call. Begin is called when
// everything written later will be reported; it may be nil.
func Follow(ctx context.Context, dir string, filter *Filter, begin func(), f func(*Record) error) error {
	t := newTail(dir, filter)
	if err := t.read(func(*Record) {}); err != nil {
		return fmt.Errorf("follow the audit log: %w", err)
	}
	if begin != nil {
		begin()
	}
	tick := time.NewTicker(followDelay)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		var fresh []*Record
		if err := t.read(func(r *Record) { fresh = append(fresh, r) }); err != nil {
			return fmt.Errorf("follow the audit log: %w", err)
		}
		for _, r := range latest(fresh, 0) {
			if err := f(r); err != nil {
				return err
			}
		}
	}
}

// A tail reads the records of a folder that were written since it read last.
type tail struct {
	dir     string
	filter  *Filter
	offsets map[string]int64   // by segment, where the next line begins
	started map[string]*Record // by ID; the calls whose end has not been read
	damaged int
}

func newTail(dir string, f *Filter) *tail {
	return &tail{dir: dir, filter: f, offsets: map[string]int64{}, started: map[string]*Record{}}
}

// read calls f with every end of a call that the filter selects. A folder that does
// not exist has no records.
func (t *tail) read(f func(*Record)) error {
	names, err := segments(t.dir)
	if err != nil {
		return ignoreMissing(err)
	}
	for _, name := range names {
		if !t.filter.Since.IsZero() && modTime(t.dir, name).Before(t.filter.Since) {
			continue
		}
		err := t.readSegment(name, f)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // another process may remove it
			return err
		}
	}
	return nil
}

func (t *tail) readSegment(name string, f func(*Record)) error {
	end, err := scan(filepath.Join(t.dir, name), t.offsets[name], func(line []byte) {
		r, err := decode(line)
		switch {
		case err != nil:
			t.damaged++
		case !t.filter.matches(r):
		case r.Phase == PhaseStart:
			t.started[r.ID] = r
		default:
			delete(t.started, r.ID)
			if t.filter.matchesEnd(r) {
				f(r)
			}
		}
	})
	t.offsets[name] = end
	return err
}

// unfinishedCalls returns the calls that have only a start.
func (t *tail) unfinishedCalls() (calls []*Record) {
	if len(t.started) == 0 {
		return nil
	}
	writers := t.writers()
	for _, r := range t.started {
		r.Outcome = Unknown
		if writers[r.writer()] {
			r.Outcome = Running
		}
		if t.filter.matchesEnd(r) {
			calls = append(calls, r)
		}
	}
	return calls
}

// writers returns the processes that write the log now.
func (t *tail) writers() map[writerID]bool {
	found := map[writerID]bool{}
	for name := range t.offsets {
		path := filepath.Join(t.dir, name)
		if !inUse(path) {
			continue
		}
		if r := lastRecord(path); r != nil {
			found[r.writer()] = true
		}
	}
	return found
}

// A writerID identifies a process that writes the log.
type writerID struct {
	run string // empty in logs of earlier versions
	pid int
}

func (r *Record) writer() writerID { return writerID{r.Run, r.PID} }

// lastRecord returns the last complete record of a segment, nil if there is none.
func lastRecord(path string) *Record {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	line, _, err := lastLine(f, info.Size())
	if err != nil {
		return nil
	}
	r, err := decode(line)
	if err != nil {
		return nil
	}
	return r
}

// scan calls f with every complete line of a file from an offset on, and returns
// where the next one begins. A line that is too long is passed on as nil.
func scan(path string, from int64, f func(line []byte)) (end int64, err error) {
	file, err := os.Open(path)
	if err != nil {
		return from, err
	}
	defer file.Close()
	if _, err := file.Seek(from, io.SeekStart); err != nil {
		return from, err
	}
	return scanLines(file, from, f)
}

func scanLines(from io.Reader, offset int64, f func(line []byte)) (end int64, err error) {
	in := bufio.NewReaderSize(from, 64<<10)
	for end = offset; ; {
		line, size, err := readLine(in)
		if err == io.EOF { // what is there is torn, or being written
			return end, nil
		}
		if err != nil {
			return end, err
		}
		end += size
		f(line)
	}
}

// readLine returns the next complete line without its line break, nil if it is
// longer than a record may be, and its size in the file.
func readLine(in *bufio.Reader) (line []byte, size int64, err error) {
	for {
		part, err := in.ReadSlice('\n')
		size += int64(len(part))
		if size <= maxLine {
			line = append(line, part...)
		}
		if err == nil {
			break
		}
		if err != bufio.ErrBufferFull {
			return nil, size, err
		}
	}
	if size > maxLine {
		return nil, size, nil
	}
	return line[:len(line)-1], size, nil
}

// String returns the record as a line of JSON.
func (r *Record) String() string {
	body, err := Encode(r)
	if err != nil {
		return string(wire.Quote(err.Error()))
	}
	return strings.TrimSuffix(string(appendPlace(body, r.Chain, r.Seq, r.Prev)), "\n")
}
