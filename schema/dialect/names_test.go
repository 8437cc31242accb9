package dialect_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/dialect"
)

// named returns tools of these names.
func named(names ...string) []*toolpost.Tool {
	tools := make([]*toolpost.Tool, len(names))
	for i, name := range names {
		tools[i] = &toolpost.Tool{Definition: toolpost.Definition{Name: name, Input: schema.MustParse(`{"type":"object"}`)}}
	}
	return tools
}

// renamed returns the names that the reader gets, by the original ones.
func renamed(t *testing.T, d *dialect.Dialect, server string, names ...string) map[string]string {
	t.Helper()
	a := d.Adapt(named(names...), &dialect.Options{Server: server})
	if len(a.Withheld) > 0 {
		t.Fatalf("withheld: %v", a.Withheld)
	}
	got := map[string]string{}
	for _, tool := range a.Tools {
		got[tool.Original.Name] = tool.Name
	}
	return got
}

func TestNames(t *testing.T) {
	plain := dialect.Name{Pattern: "^[A-Za-z0-9_-]{1,64}$"}
	code := dialect.Name{Max: 64, Prefix: "mcp__{server}__", Fold: "[A-Za-z0-9_-]"}
	tests := []struct {
		what   string
		rule   dialect.Name
		server string
		names  []string
		want   string // expressions of the new names
	}{
		{"fits", plain, "", []string{"a_b", "a-b"}, "a_b a-b"},
		{"no rule", dialect.Name{}, "", []string{"a b", "日本"}, "a b 日本"},
		{"characters", plain, "", []string{"get user!", "a.b"}, "get_user_H a_b_H"},
		{"accents", plain, "", []string{"Größe.ändern"}, "Grose_andern_H"},
		{"readable part", plain, "", []string{"名前_get"}, "get_H"},
		{"nothing readable", plain, "", []string{"名前"}, "tool_H"},
		{"twice", plain, "", []string{"a", "a", "a"}, "a a_H a_H"},
		{"first letter", dialect.Name{Pattern: "^[A-Za-z][A-Za-z0-9_]*$"}, "", []string{"2fa-check"}, "tool_2fa_check_H"},
		{"lower case", dialect.Name{Pattern: "^[a-z0-9_]+$"}, "", []string{"GetUser"}, "getuser_H"},
		{"no underscore", dialect.Name{Pattern: "^[a-z-]+$|^[a-z-]+-[a-z0-9]{6}$"}, "", []string{"get_user"}, "get-user-H"},
		{"fold keeps what is its own form", code, "s", []string{"a.b", "a_b"}, "a_b_H a_b"},
		{"fold without own form", code, "s", []string{"a.b", "a/b"}, "a.b a_b_H"},
		{"long", plain, "", []string{"hostinger_domains_and_all_of_their_dns_records_getDomainDetailsVersion1"},
			"hostinger_domains_and_all_of_their_dns_DetailsVersion1_H"},
		{"no words", plain, "", []string{strings.Repeat("x", 70)}, strings.Repeat("x", 37) + "_" + strings.Repeat("x", 19) + "_H"},
		{"prefix counts", code, "a server", []string{strings.Repeat("abc_", 13) + "d", strings.Repeat("abc_", 11) + "d"},
			"abc_abc_abc_abc_abc_abc_abc_abc_abc_abc_d_H " + strings.Repeat("abc_", 11) + "d"},
		{"little room", code, strings.Repeat("s", 45), []string{"get_all_users"}, "get_H"},
	}
	for _, test := range tests {
		d := dialect.Make("x", dialect.Form{Name: test.rule})
		a := d.Adapt(named(test.names...), &dialect.Options{Server: test.server})
		var got []string
		for _, tool := range a.Tools {
			got = append(got, tool.Name)
		}
		want := "^" + strings.ReplaceAll(regexp.QuoteMeta(test.want), "H", "[a-z2-7]{6}") + "$"
		if !regexp.MustCompile(want).MatchString(strings.Join(got, " ")) {
			t.Errorf("%s: got %q, want %s", test.what, got, test.want)
		}
	}
}

func TestNameIsReported(t *testing.T) {
	d := dialect.Make("x", dialect.Form{Name: dialect.Name{Pattern: "^[a-z_0-9]+$"}})
	tool := d.Adapt(named("a.b"), nil).Tools[0]
	if tool.Original.Name != "a.b" || len(tool.Losses) != 1 || tool.Losses[0].Keyword != "name" || tool.Losses[0].Kind != "encoded" {
		t.Errorf("original %q, losses %v", tool.Original.Name, tool.Losses)
	}
}

func TestNoName(t *testing.T) {
	for _, d := range append(dialect.All(), dialect.Make("x", dialect.Form{})) {
		a := d.Adapt(named("", "a"), nil)
		if len(a.Tools) != 1 || a.Tools[0].Name != "a" || len(a.Withheld) != 1 || a.Withheld[0].Rule != d.ID+"/name" {
			t.Errorf("%s: got %d tools, withheld %v", d.ID, len(a.Tools), a.Withheld)
		}
	}
}

func TestNoRoomForName(t *testing.T) {
	d := dialect.Make("x", dialect.Form{Name: dialect.Name{Max: 20, Prefix: "mcp__{server}__"}})
	a := d.Adapt(named("a", "get_all_users"), &dialect.Options{Server: "a_long_name"})
	if len(a.Tools) != 1 || a.Tools[0].Name != "a" || len(a.Withheld) != 1 {
		t.Fatalf("got %d tools, withheld %v", len(a.Tools), a.Withheld)
	}
	w := a.Withheld[0]
	if w.Name != "get_all_users" || w.Rule != "x/name-length" || !strings.Contains(w.Why, "mcp__a_long_name__") {
		t.Errorf("withheld: %+v", w)
	}
}

// rules are names as readers take them.
var rules = []dialect.Name{
	{},
	{Pattern: "^[A-Za-z0-9_-]{1,64}$"},
	{Pattern: "^[A-Za-z_][A-Za-z0-9_.:-]*$", Max: 64},
	{Pattern: "^[A-Za-z0-9_]+$", Max: 60, Prefix: "{server}-", Fold: "[A-Za-z0-9_]"},
	{Max: 63, Prefix: "mcp_{server}_", Fold: "[A-Za-z0-9_.:-]"},
	{Pattern: "^[a-z0-9_]+$", Max: 24},
}

// TestNamesOfRandomLists: no two the same to the reader, all of them taken,
// and nothing else on the list or its order matters without a collision.
func TestNamesOfRandomLists(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	parts := []string{"a", "b", "get", "List", "_", "_", "-", ".", " ", "é", "日", "本", "🙂", "Users", "7", strings.Repeat("long", 9), "\xff"}
	for range 500 {
		rule := rules[r.IntN(len(rules))]
		d := dialect.Make("x", dialect.Form{Name: rule})
		names := make([]string, 1+r.IntN(12))
		for i := range names {
			for range 1 + r.IntN(5) {
				names[i] += parts[r.IntN(len(parts))]
			}
		}
		a := d.Adapt(named(names...), nil)
		if len(a.Tools) != len(names) {
			t.Fatalf("%+v %q: withheld %v", rule, names, a.Withheld)
		}
		checkNames(t, rule, a)
		again := d.Adapt(definitions(a), nil)
		for i, tool := range again.Tools {
			if tool.Name != a.Tools[i].Name {
				t.Fatalf("%+v %q: adapted again, %q becomes %q", rule, names, a.Tools[i].Name, tool.Name)
			}
		}
	}
}

func definitions(a *dialect.Adapted) []*toolpost.Tool {
	all := make([]*toolpost.Tool, len(a.Tools))
	for i, t := range a.Tools {
		all[i] = t.Tool
	}
	return all
}

func checkNames(t *testing.T, rule dialect.Name, a *dialect.Adapted) {
	t.Helper()
	seen := map[string]string{}
	prefix := strings.ReplaceAll(rule.Prefix, "{server}", dialect.DefaultServer)
	for _, tool := range a.Tools {
		name := tool.Name
		if rule.Pattern != "" && !regexp.MustCompile(rule.Pattern).MatchString(name) {
			t.Fatalf("%+v: %q becomes %q", rule, tool.Original.Name, name)
		}
		if n := utf8.RuneCountInString(prefix + name); rule.Max > 0 && n > rule.Max {
			t.Fatalf("%+v: %q becomes %q, %d characters with its prefix", rule, tool.Original.Name, name, n)
		}
		folded := name
		if rule.Fold != "" {
			folded = regexp.MustCompile(strings.Replace(rule.Fold, "[", "[^", 1)).ReplaceAllString(name, "_")
		}
		if other, twice := seen[folded]; twice {
			t.Fatalf("%+v: %q and %q are both %q", rule, other, tool.Original.Name, folded)
		}
		seen[folded] = tool.Original.Name
	}
}

func TestNamesDoNotDependOnOthers(t *testing.T) {
	d := dialect.Make("x", dialect.Form{Name: rules[3]})
	var names []string
	for i := range 200 {
		names = append(names, fmt.Sprintf("tool number %d of the server with a long name", i), fmt.Sprintf("plain_%d", i))
	}
	all := renamed(t, d, "", names...)
	slices.Reverse(names)
	some := renamed(t, d, "", names[:100]...)
	for name, got := range some {
		if got != all[name] {
			t.Errorf("%q is %q in one list and %q in another", name, all[name], got)
		}
	}
	if len(all) != 400 || len(some) != 100 {
		t.Errorf("got %d and %d names", len(all), len(some))
	}
}

// TestLargeNames is over in an instant too.
func TestLargeNames(t *testing.T) {
	d := dialect.Make("x", dialect.Form{Name: rules[3]})
	names := slices.Repeat([]string{"one name"}, 5000)
	for _, part := range []string{"a", "日", "a_", "__"} {
		names = append(names, strings.Repeat(part, 500_000))
	}
	a := d.Adapt(named(names...), nil)
	if len(a.Tools) != len(names) {
		t.Fatalf("withheld: %v", a.Withheld)
	}
	checkNames(t, rules[3], a)
}
