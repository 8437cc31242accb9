package suggest

import "strconv"

// Free returns name, or if it is taken name_2, name_3…
func Free(name string, taken func(string) bool) string {
	free := name
	for n := 2; taken(free); n++ {
		free = name + "_" + strconv.Itoa(n)
	}
	return free
}
