package shape

// Components numbers what starts lead to: two nodes have the same number if each
// leads to the other (Tarjan).
func Components[N comparable](starts []N, edges func(N) []N) map[N]int {
	t := tarjan[N]{edges: edges, order: map[N]int{}, group: map[N]int{}}
	for _, n := range starts {
		if t.order[n] == 0 {
			t.visit(n)
		}
	}
	return t.group
}

type tarjan[N comparable] struct {
	edges func(N) []N
	order map[N]int // in which nodes are visited, from 1
	group map[N]int // of nodes that are not on the stack
	stack []N
}

// visit returns the lowest order of the nodes on the stack that n leads to.
func (t *tarjan[N]) visit(n N) int {
	own := len(t.order) + 1
	t.order[n] = own
	low, height := own, len(t.stack)
	t.stack = append(t.stack, n)
	for _, next := range t.edges(n) {
		switch {
		case t.order[next] == 0:
			low = min(low, t.visit(next))
		case t.group[next] == 0:
			low = min(low, t.order[next])
		}
	}
	if low == own {
		for _, m := range t.stack[height:] {
			t.group[m] = own
		}
		t.stack = t.stack[:height]
	}
	return low
}
