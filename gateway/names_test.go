package gateway

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/config"
)

func TestKeyOf(t *testing.T) {
	for server, want := range map[string]string{
		"github": "github", "my-server": "my-server", "a_b": "a_b", "A": "A",
		"my server": "my_server_weuy", "my.server": "my_server_szq4", "a__b": "a_b_mps4", "a_": "a_k4p3", "ünï": "n_5f22", "日本": "", "": "",
	} {
		got := keyOf(server)
		if server == "日本" || server == "" {
			if len(got) != keyHash {
				t.Errorf("%q: got %q", server, got)
			}
			continue
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", server, got, want)
		}
	}
}

// The first "__" of a name ends its key.
func FuzzKeyOf(f *testing.F) {
	for _, server := range []string{"a", "a b", "a__b", "_a_", "__", ".", ""} {
		f.Add(server, "tool")
		f.Add(server, "_tool__x")
	}
	f.Fuzz(func(t *testing.T, server, tool string) {
		key := keyOf(server)
		if before, after, ok := strings.Cut(key+"__"+tool, "__"); !ok || before != key || after != tool || refused.MatchString(key) {
			t.Errorf("%q %q: the name is %q", server, tool, key+"__"+tool)
		}
	})
}

// A world is servers that come, go and change places.
type world struct {
	names   *names
	servers []config.Server
	tools   map[string][]string // by server
}

var (
	someServers  = []string{"a", "b", "a__b", "a.b", "a b", "a_b", "B", "c"}
	someTools    = []string{"t", "b__t", "a__t", "read", "a_b__t", "read_raw"}
	somePrefixes = []string{"", "a__", "a_", "x"}
)

// step changes the servers, and returns the names of all tools, by server and tool.
func (w *world) step(r *rand.Rand) map[string]string {
	switch i := r.IntN(len(someServers)); r.IntN(4) {
	case 0:
		r.Shuffle(len(w.servers), func(i, j int) { w.servers[i], w.servers[j] = w.servers[j], w.servers[i] })
	case 1:
		w.servers = slices.DeleteFunc(w.servers, func(s config.Server) bool { return s.Name == someServers[i] })
	default:
		if slices.ContainsFunc(w.servers, func(s config.Server) bool { return s.Name == someServers[i] }) {
			break
		}
		var s config.Server
		if s.Name = someServers[i]; i%2 == 0 { // the same server has the same prefix each time
			s.Prefix = &somePrefixes[i/2]
		}
		w.servers = slices.Insert(w.servers, r.IntN(len(w.servers)+1), s)
	}
	var claims []claim
	for i, key := range serverKeys(w.servers) {
		m := newMember(w.servers[i], key, nil)
		for _, tool := range w.tools[m.server.Name] {
			claims = append(claims, m.claimOf("tool", tool, tool))
		}
	}
	given := w.names.assign(claims)
	w.names.learn(claims, given)
	all := map[string]string{}
	for i, c := range claims {
		all[c.server+" "+c.own] = given[i]
	}
	return all
}

// A tool keeps its name for as long as its server is there, whatever others do.
// Every tool has a name, and no two have the same.
func TestNamesAreStable(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 0))
		w := &world{names: newNames(), tools: map[string][]string{}}
		for _, s := range someServers {
			for _, tool := range someTools {
				if r.IntN(2) == 0 {
					w.tools[s] = append(w.tools[s], tool)
				}
			}
		}
		before := map[string]string{}
		for step := range 40 {
			now := w.step(r)
			taken := map[string]string{}
			for who, name := range now {
				if old, known := before[who]; known && old != name {
					t.Fatalf("seed %d, step %d: %s was called %s and is now %s", seed, step, who, old, name)
				}
				if name == "" || taken[name] != "" {
					t.Fatalf("seed %d, step %d: %s and %s are called %q", seed, step, who, taken[name], name)
				}
				taken[name] = who
			}
			before = now
		}
	}
}

// Where no prefix is configured, a name does not depend on what was before either.
func TestNamesArePure(t *testing.T) {
	name := func(others ...string) (names []string) {
		servers := []config.Server{{}}
		servers[0].Name = "a.b"
		for _, o := range others {
			var s config.Server
			s.Name = o
			servers = append(servers, s)
		}
		slices.Reverse(servers)
		var claims []claim
		for i, key := range serverKeys(servers) {
			m := newMember(servers[i], key, nil)
			claims = append(claims, m.claimOf("tool", "t", "t"))
		}
		return newNames().assign(claims)
	}
	alone := name()
	for _, others := range [][]string{{"a_b"}, {"a b", "a__b"}, {"a", "b", "a-b", "ab"}} {
		if all := name(others...); all[len(all)-1] != alone[0] {
			t.Errorf("beside %q: got %q, alone %q", others, all, alone)
		}
	}
}

func TestNamesAreBounded(t *testing.T) {
	n := newNames()
	for i := range maxNames + 10 {
		n.remember(owner{"tool", "s", fmt.Sprint(i)}, fmt.Sprint("name ", i))
	}
	if len(n.given) != maxNames || len(n.owners) != maxNames {
		t.Errorf("%d names, %d owners", len(n.given), len(n.owners))
	}
}

// The names of tools that are gone do not keep those that are there from being
// remembered. Those that are there keep their names.
func TestNamesOfGoneToolsMakeRoom(t *testing.T) {
	n := newNames()
	claimed := func(server, wanted string) claim {
		return claim{owner: owner{"tool", server, "t"}, wanted: []string{wanted, server + "__t", server + "__t_x"}}
	}
	first, second := claimed("a", "t"), claimed("b", "t")
	n.learn([]claim{first}, n.assign([]claim{first}))
	for i := range maxNames {
		n.remember(owner{"tool", "gone", fmt.Sprint(i)}, fmt.Sprint("name ", i))
	}
	for _, order := range [][]claim{{first, second}, {second, first}, {second}, {second, first}} {
		given := n.assign(order)
		n.learn(order, given)
		for i, c := range order {
			if want := map[string]string{"a": "t", "b": "b__t"}[c.server]; given[i] != want {
				t.Errorf("the tool of %s is called %q, want %q", c.server, given[i], want)
			}
		}
	}
	if len(n.given) != 2 || len(n.owners) != 2 {
		t.Errorf("%d names, %d owners", len(n.given), len(n.owners))
	}
}
