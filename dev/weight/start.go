package main

import (
	"fmt"
	"os/exec"
	"time"
)

// starts is how often the program is started. The first ones fill the caches of the
// system.
const starts = 31

// A start is what "toolpost version" costs.
type start struct{ time, memory float64 }

// measureStart returns the medians of some starts.
func measureStart(binary string) (s start, err error) {
	var times, memories []float64
	for i := range starts {
		cmd := exec.Command(binary, "version")
		if out, err := cmd.CombinedOutput(); err != nil {
			return s, fmt.Errorf("toolpost version: %w: %s", err, out)
		}
		if i < starts/6 {
			continue
		}
		used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		times = append(times, float64(used)/float64(time.Millisecond))
		memories = append(memories, peakMemory(cmd.ProcessState))
	}
	return start{median(times), median(memories)}, nil
}
