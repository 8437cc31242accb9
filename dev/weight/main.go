// Command weight measures what the program toolpost costs: its size, the download of
// the modules that it links, and its start; and what programs link and download that use
// parts of the library. It fails above limits. See docs/decisions/034-weight.md.
//
//	go list ─► modules ─► sizes of their zips          download
//	go build ─► toolpost ─► size, runs of "version"    binary, start
//	        └─► doors: code that calls methods by name
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const program = module + "/cmd/toolpost"

// limits are what the program may cost. Sizes are in MB of a million bytes, memory
// is in MB, and time in milliseconds of all processors.
type limits struct {
	binary, stripped, download, start, memory float64
}

func main() {
	var max limits
	flag.Float64Var(&max.binary, "binary", 45, "`MB` of the program")
	flag.Float64Var(&max.stripped, "stripped", 30, "`MB` of the program without symbols")
	flag.Float64Var(&max.download, "download", 45, "`MB` of the modules that it links, as they are downloaded")
	flag.Float64Var(&max.start, "start", 8, "`MS` of processor time of toolpost version")
	flag.Float64Var(&max.memory, "memory", 22, "`MB` of memory of toolpost version")
	modules := flag.Int("modules", 0, "print the `N` largest modules too")
	flag.Parse()
	if err := run(os.Stdout, &max, *modules); err != nil {
		fmt.Fprintln(os.Stderr, "weight:", err)
		os.Exit(1)
	}
}

// How far a value may be above its limit before it is an error: versions of Go and
// machines differ, and other programs run on them.
const (
	sizeTolerance   = 1.01
	timeTolerance   = 5
	memoryTolerance = 2
)

func run(w io.Writer, max *limits, largest int) error {
	folder, err := os.MkdirTemp("", "weight")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	binary, stripped := filepath.Join(folder, "toolpost"), filepath.Join(folder, "stripped")
	doors, err := build(binary)
	if err != nil {
		return err
	}
	if err := goCommand(io.Discard, "build", "-trimpath", "-ldflags", "-s -w", "-o", stripped, program); err != nil {
		return err
	}
	all, err := linkedModules(program)
	if err != nil {
		return err
	}
	download := 0.0
	for i, m := range all {
		download += m.size
		if i < largest {
			fmt.Fprintf(w, "%6.1f MB  %s\n", m.size, m.path)
		}
	}
	begun, err := measureStart(binary)
	if err != nil {
		return err
	}
	var over []string
	show := func(name string, value float64, unit string, limit, fails float64) {
		fmt.Fprintf(w, "%-46s %6.1f %s, at most %g\n", name, value, unit, limit)
		if value > fails {
			over = append(over, name)
		}
	}
	show("toolpost", size(binary), "MB", max.binary, max.binary*sizeTolerance)
	show("without symbols, as it is released", size(stripped), "MB", max.stripped, max.stripped*sizeTolerance)
	show(fmt.Sprintf("download of the %d modules that it links", len(all)), download, "MB", max.download, max.download*sizeTolerance)
	show("start, median of processor time", begun.time, "ms", max.start, max.start*timeTolerance)
	show("start, memory", begun.memory, "MB", max.memory, max.memory*memoryTolerance)
	heavy, err := weighLibrary(w, ".", folder)
	if err != nil {
		return err
	}
	over = append(over, heavy...)
	if len(doors) > 0 {
		return fmt.Errorf("these call methods by name, so that the program keeps the methods of all types: %s", strings.Join(doors, ", "))
	}
	if len(over) > 0 {
		return fmt.Errorf("above the limit: %s; docs/decisions/034-weight.md says what a dependency may cost", strings.Join(over, ", "))
	}
	return nil
}

// size returns the size of a file in MB, 0 if there is none.
func size(path string) float64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return float64(info.Size()) / 1e6
}

// median returns the middle one of numbers.
func median(numbers []float64) float64 {
	slices.Sort(numbers)
	return numbers[len(numbers)/2]
}
