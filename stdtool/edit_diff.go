package stdtool

import (
	"bytes"
	"fmt"

	"github.com/aymanbagabas/go-udiff"
)

const (
	maxDiffed   = 128 << 10 // bytes of either text that are compared
	contextRows = 3         // lines around a change
)

// diff returns the change as a unified diff. Of large changes it has the
// beginning.
func diff(name string, old, new []byte) string {
	start := commonStart(old, new)
	oldTail, newTail := old[start:], new[start:]
	end := commonEnd(oldTail, newTail)
	oldTail, newTail = oldTail[:len(oldTail)-end], newTail[:len(newTail)-end]
	oldPart, cut := firstLines(oldTail)
	newPart, newCut := firstLines(newTail)
	cut = cut || newCut
	d, err := udiff.ToUnifiedDiff(name, name, string(oldPart), udiff.Lines(string(oldPart), string(newPart)), contextRows)
	if err != nil {
		return fmt.Sprintf("[the diff cannot be shown: %v]\n", err)
	}
	for _, h := range d.Hunks {
		h.FromLine += bytes.Count(old[:start], []byte("\n"))
		h.ToLine += bytes.Count(old[:start], []byte("\n"))
	}
	if !cut {
		return validUTF8(d.String())
	}
	if n := len(d.Hunks); n > 1 { // the ends that were cut off are not the same place
		d.Hunks = d.Hunks[:n-1]
	}
	return validUTF8(d.String()) + "[the rest of the diff is not shown]\n"
}

// commonStart returns where the lines around the first difference begin.
func commonStart(a, b []byte) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	for range contextRows + 1 {
		if n = bytes.LastIndexByte(a[:n], '\n'); n < 0 {
			return 0
		}
	}
	return n + 1
}

// commonEnd returns how much after the lines around the last difference is the
// same.
func commonEnd(a, b []byte) int {
	n := 0
	for n < min(len(a), len(b)) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	for range contextRows + 1 {
		i := bytes.IndexByte(a[len(a)-n:], '\n')
		if i < 0 {
			return 0
		}
		n -= i + 1
	}
	return n
}

// firstLines returns at most maxDiffed bytes, in whole lines if there are any.
func firstLines(text []byte) (first []byte, cut bool) {
	if len(text) <= maxDiffed {
		return text, false
	}
	if i := bytes.LastIndexByte(text[:maxDiffed], '\n'); i >= 0 {
		return text[:i+1], true
	}
	return text[:maxDiffed], true
}
