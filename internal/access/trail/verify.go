package trail

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
)

// A Verification is what [Verify] found.
type Verification struct {
	Files    int       `json:"files"`
	Records  int       `json:"records"`
	Problems []Problem `json:"problems"` // the log was changed, or damaged
	Notes    []Problem `json:"notes"`    // what is normal, but cannot be checked
}

// A Problem is a place of the log, and what is wrong there.
type Problem struct {
	File    string `json:"file"`
	Line    int    `json:"line"` // from 1
	Message string `json:"message"`
}

// Verify reads the log of a folder and checks its chains: that no line was changed,
// inserted, moved or removed between others, and that no file was removed between
// others. It cannot find out that the newest lines or files were removed, or the
// oldest: those that are removed by size and age are gone too.
func Verify(dir string) (*Verification, error) {
	v := &Verification{Problems: []Problem{}, Notes: []Problem{}}
	names, err := segments(dir)
	if ignoreMissing(err) != nil {
		return nil, fmt.Errorf("verify the audit log: %w", err)
	}
	ends := map[string]bool{}     // the digests of the last lines of the files before
	chains := map[string]string{} // the last file of each chain
	for _, name := range inChains(dir, names) {
		c := &chain{file: name, report: v, ends: ends, chains: chains}
		end, err := scan(filepath.Join(dir, name), 0, c.check)
		if ignoreMissing(err) != nil {
			return nil, fmt.Errorf("verify the audit log: %w", err)
		}
		if err != nil {
			continue // another process has removed it
		}
		v.Files++
		if path := filepath.Join(dir, name); end < sizeOf(path) && !inUse(path) {
			c.note("the last line is torn, because its process was ended while it wrote; the next process that writes the log removes it")
		}
		ends[c.last] = true
	}
	return v, nil
}

// inChains returns segments in the order of their chains. Their names do not give it: the
// clock may have been set back between two of them.
func inChains(dir string, names []string) []string {
	type start struct {
		name  string
		chain int // by its first file
		seq   uint64
	}
	var starts []start
	chains := map[string]int{}
	for i, name := range names {
		s := start{name, i, 0}
		if r := firstRecord(filepath.Join(dir, name)); r != nil && r.Chain != "" {
			if _, known := chains[r.Chain]; !known {
				chains[r.Chain] = i
			}
			s.chain, s.seq = chains[r.Chain], r.Seq
		}
		starts = append(starts, s)
	}
	sort.SliceStable(starts, func(i, j int) bool {
		return cmp.Or(cmp.Compare(starts[i].chain, starts[j].chain), cmp.Compare(starts[i].seq, starts[j].seq)) < 0
	})
	for i, s := range starts {
		names[i] = s.name
	}
	return names
}

// firstRecord returns the first record of a segment that can be read, nil if there is none.
func firstRecord(path string) (first *Record) {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	lines := bufio.NewReaderSize(io.LimitReader(f, 2*maxLine), 64<<10)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return nil
		}
		if r, err := decode(bytes.TrimSuffix(line, []byte("\n"))); err == nil {
			return r
		}
	}
}

// A chain is the state of checking one file.
type chain struct {
	file   string
	report *Verification
	ends   map[string]bool
	chains map[string]string
	line   int
	seq    uint64 // of the line before
	last   string // its digest, also of a line that cannot be read; "" at the beginning
}

func (c *chain) fail(format string, args ...any) {
	const most = 1000
	if len(c.report.Problems) < most {
		c.report.Problems = append(c.report.Problems, Problem{c.file, c.line, fmt.Sprintf(format, args...)})
	}
}

func (c *chain) note(message string) {
	c.report.Notes = append(c.report.Notes, Problem{c.file, c.line, message})
}

// check checks the next line of the file.
func (c *chain) check(line []byte) {
	c.line++
	r, err := decode(line)
	if err != nil {
		c.fail("the line cannot be read: %v", err)
		c.seq++
		c.last = Digest(line)
		return
	}
	c.report.Records++
	switch {
	case c.line == 1:
		c.begin(r)
	case r.Seq != c.seq+1:
		c.fail("record %d follows record %d: lines were removed or moved", r.Seq, c.seq)
	case r.Prev != c.last:
		c.fail("record %d does not belong to the line before, which was changed", r.Seq)
	}
	c.seq, c.last = r.Seq, Digest(line)
	if r.Chain != "" {
		c.chains[r.Chain] = c.file
	}
}

// begin checks the first line of a file.
func (c *chain) begin(r *Record) {
	switch {
	case r.Seq == 1 && r.Prev == "":
	case r.Seq == 1 || r.Prev == "":
		c.fail("record %d is not the first one of a chain", r.Seq)
	case c.ends[r.Prev]:
	case c.chains[r.Chain] != "": // files are removed from the oldest on
		c.fail("the records before %d are not there, although older ones of their chain are, in %s: a file, or its last lines, were removed", r.Seq, c.chains[r.Chain])
	default:
		c.note(fmt.Sprintf("the records before %d are not there; old files are removed by size and age", r.Seq))
	}
}
