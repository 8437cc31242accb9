package shape_test

import (
	"strings"
	"testing"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/shape"
)

func TestFind(t *testing.T) {
	root := jsontree.Read([]byte(`{"$id":"https://a.example/s/","$defs":{
		"a":{"$anchor":"x","title":"a"},
		"b":{"$id":"b.json","title":"b","$defs":{"c":{"title":"c"}}},
		"~":{"title":"tilde"}},
		"x-other":{"y":{"title":"y"}},"title":"root"}`))
	names := shape.NewIndex(root)
	b := root.At("/$defs/b")
	for _, test := range []struct {
		from *jsontree.Value
		ref  string
		want string
	}{
		{root, "#", "root"}, {root, "#x", "a"}, {root, "#/$defs/a", "a"}, {root, "#/$defs/~0", "tilde"},
		{root, "b.json", "b"}, {root, "b.json#/$defs/c", "c"}, {b, "#/$defs/c", "c"}, {b, "#", "b"},
		{b, "/s/#x", "a"}, {root, "#/x-other/y", "y"},
		{root, "#/$defs/none", ""}, {root, "#/title", ""}, {root, "other.json", ""}, {root, "%zz", ""}, {b, "#x", ""},
	} {
		got := ""
		if v := names.Find(test.from, test.ref); v != nil {
			got = v.Get("title").Text
		}
		if got != test.want {
			t.Errorf("%s leads to %q, want %q", test.ref, got, test.want)
		}
	}
}

func TestComponents(t *testing.T) {
	edges := map[string]string{"a": "b", "b": "cd", "c": "a", "d": "ef", "e": "", "f": "d", "g": "a"}
	groups := shape.Components([]string{"a", "g"}, func(n string) []string {
		if edges[n] == "" {
			return nil
		}
		return strings.Split(edges[n], "")
	})
	for pair, same := range map[string]bool{"ab": true, "ac": true, "df": true, "ad": false, "de": false, "ag": false} {
		if got := groups[pair[:1]] == groups[pair[1:]]; got != same {
			t.Errorf("%s in one component: %t, want %t", pair, got, same)
		}
	}
	if len(groups) != 7 {
		t.Errorf("%d nodes, want 7", len(groups))
	}
}
