//go:build !unix

package dialect_test

import "time"

var began = time.Now()

// cpu is the time that has passed, in place of that used.
func cpu() time.Duration { return time.Since(began) }
