package redmine

import "sync"

// maxAtOnce is how many requests one call makes at the same time.
const maxAtOnce = 6

// runAll runs all functions, some of them at the same time, and waits for them.
func runAll(all ...func()) {
	var wg sync.WaitGroup
	turn := make(chan struct{}, maxAtOnce)
	for _, f := range all {
		turn <- struct{}{}
		wg.Go(func() {
			defer func() { <-turn }()
			f()
		})
	}
	wg.Wait()
}
