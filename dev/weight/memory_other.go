//go:build !unix

package main

import "os"

// peakMemory returns 0: the system does not report it.
func peakMemory(*os.ProcessState) float64 { return 0 }
