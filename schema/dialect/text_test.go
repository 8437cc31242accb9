package dialect_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/dialect"
)

// described returns what a tool's description becomes.
func described(x dialect.Text, name, text string) *dialect.Tool {
	d := dialect.Make("x", dialect.Form{Text: x})
	tool := &toolpost.Tool{Definition: toolpost.Definition{
		Name: name, Description: text, Input: schema.MustParse(`{"type":"object"}`),
	}}
	return d.Adapt([]*toolpost.Tool{tool}, nil).Tools[0]
}

func TestText(t *testing.T) {
	desktop := dialect.Text{Forbid: "()_", Lines: 4}
	short := func(n int) dialect.Text { return dialect.Text{Max: n} }
	family := "👨‍👩‍👧"
	tests := []struct {
		what string
		x    dialect.Text
		in   string
		want string
	}{
		{"no rule", dialect.Text{}, "a (b)\n\n_c_ ", "a (b)\n\n_c_ "},
		{"fits", desktop, " a\nb ", " a\nb "},

		{"aside at the end", desktop, "List all users (requires admin).", "List all users, requires admin."},
		{"aside within", desktop, "Filter (optional) by name", "Filter, optional, by name"},
		{"aside of a sentence", desktop, "Show users. (Requires admin.) Then stop.", "Show users. Requires admin. Then stop."},
		{"at the start", desktop, "(Deprecated) Use another.", "Deprecated, Use another."},
		{"two asides", desktop, "Project ID (numeric) or identifier (string)", "Project ID, numeric, or identifier, string"},
		{"plural", desktop, "Delete the user(s) now", "Delete the users now"},
		{"call", desktop, "Runs foo() and bar(x, y) here", "Runs foo and bar x, y, here"},
		{"nested", desktop, "a (b (c) d) e", "a, b, c, d, e"},
		{"empty brackets", desktop, "a () b", "a b"},
		{"list markers", desktop, "a) one b) two", "a, one b, two"},
		{"smiley", desktop, "fine :) really", "fine : really"},
		{"never closed", desktop, "a (b", "a, b"},
		{"quoted", desktop, "Use 'x' (text)", "Use 'x', text"},
		{"japanese", dialect.Text{Forbid: "（）"}, "一覧（管理者のみ）を返す。", "一覧 管理者のみ を返す。"},

		{"underscore", desktop, "Data like time_entries, custom_fields", "Data like time entries, custom fields"},
		{"around", desktop, "the _id and __init__ of a__b_", "the id and init of a b"},
		{"only", desktop, "___", "Get user by id."},
		{"number", desktop, "At most 3_000_000 of page_1_100, not 1_2", "At most 3 000 000 of page 1 100, not 1 2"},
		{"not seen", dialect.Text{Forbid: "\u200b\u200d\u202e\u202c"}, "to\u200dol \u202eabc\u202c pass\u200bword", "tool abc password"},
		{"path", desktop, `Path C:\my_dir\(x)\_1.txt (or none)`, `Path C:\my dir\ x\ 1.txt, or none`},
		{"expression", desktop, `Like ^(\d+)_(\w+)$ (a pattern)`, `Like ^ \d+ \w+$, a pattern`},
		{"code", desktop, "Call `list_users(x)` (once)", "Call `list users x`, once"},
		{"JSON", desktop, "Send\n```json\n{\"user_id\": 1,\n  \"x\": [\n  2\n  ]\n}\n```\nNow.", "Send\n```json\n{\"user id\": 1,\n  \"x\": [ 2 ] } ``` Now."},
		{"bad bytes", desktop, "a_\xffb_c", "a �b c"},
		{"others", dialect.Text{Forbid: "`"}, "Use `a`b`.", "Use a b ."},

		{"lines fit", desktop, "a\nb\nc\nd", "a\nb\nc\nd"},
		{"empty lines go first", desktop, "a\n\nb\n\nc", "a\nb\nc"},
		{"wrapped lines", dialect.Text{Lines: 1}, "List all users\nof the project.\nNeeds rights", "List all users of the project. Needs rights"},
		{"items", dialect.Text{Lines: 1}, "Filters:\n- by name\n- by id\n* more\n", "Filters: by name; by id; more"},
		{"arguments", dialect.Text{Lines: 2}, "Get it.\n\nArgs:\n    a: one\n    b: two\n\nReturns it", "Get it.\nArgs: a: one; b: two. Returns it"},
		{"windows lines", dialect.Text{Lines: 1}, "One.\r\nTwo.\r\n", "One. Two."},
		{"japanese lines", dialect.Text{Lines: 1}, "一行目。\n二行目。", "一行目。 二行目。"},
		{"japanese lines without a stop", dialect.Text{Lines: 1}, "一行目\n「二」\n- 三\nend", "一行目 「二」 三 end"},

		{"sentence", short(30), "Lists the users. Needs rights of an admin.", "Lists the users."},
		{"best sentence", short(30), "One is here. Two is here. Three is here.", "One is here. Two is here."},
		{"exact", short(12), "One is here. Two", "One is here."},
		{"quoted sentence", short(20), `Say "I am done." Then go away.`, `Say "I am done."`},
		{"abbreviation", short(24), "Lists users, e.g. Those of a project", "Lists users, e.g. Those…"},
		{"version", short(20), "Runs on 2.1 and the newest", "Runs on 2.1 and the…"},
		{"words", short(20), "Lists the users of a project", "Lists the users of…"},
		{"comma", short(12), "Users, roles and more", "Users…"},
		{"one word", short(5), "abcdefgh", "abcd…"},
		{"one rune", short(1), "abcdefgh", "…"},
		{"japanese sentence", short(10), "一覧を返す。管理者のみ。", "一覧を返す。"},
		{"japanese words", short(8), "一覧を返します今日は", "一覧を返します…"},
		{"accent", short(4), "abe\u0301e\u0301e\u0301", "ab…"},
		{"emoji", short(6), "ab" + family + family, "ab…"},
		{"flags", short(6), "🇩🇪🇫🇷🇯🇵", "🇩🇪…"},
		{"skin", short(3), "a👍🏽👍🏽", "a…"},
		{"no mark", dialect.Text{Max: 8, Forbid: "…"}, "Lists the users", "Lists"},
		{"all", dialect.Text{Max: 24, Lines: 1, Forbid: "_"}, "Get time_entries.\nThen all the others.", "Get time entries."},

		{"required", dialect.Text{Required: true}, " ", "Get user by id."},
		{"required after rewording", dialect.Text{Required: true, Forbid: "_"}, "_", "Get user by id."},
	}
	for _, test := range tests {
		tool := described(test.x, "get_userById", test.in)
		got := tool.Description
		if got != test.want {
			t.Errorf("%s: %q\n got %q\nwant %q", test.what, test.in, got, test.want)
		}
		if changed := got != test.in; changed != (len(tool.Losses) == 1) || changed != tool.Changed() {
			t.Errorf("%s: losses %v", test.what, tool.Losses)
		}
		if again := described(test.x, "get_userById", got).Description; again != got {
			t.Errorf("%s: again: %q", test.what, again)
		}
	}
}

func TestTextLosses(t *testing.T) {
	x := dialect.Text{Max: 20, Forbid: "_"}
	for in, want := range map[string]string{
		"a_b":                           "noop: the tool's description is worded differently",
		"`a_b`":                         "dropped: an example or pattern in the tool's description is worded differently",
		"_":                             "dropped: the tool's description is shortened by 1 characters",
		"Lists a lot. Then more to do.": "dropped: the tool's description is shortened by 17 characters",
	} {
		l := described(x, "n", in).Losses
		if len(l) != 1 || string(l[0].Kind)+": "+l[0].Detail != want || l[0].Pointer != "" || l[0].Keyword != "description" {
			t.Errorf("%q: %v", in, l)
		}
	}
}

// TestLostTextOfAProperty: its name stands for it.
func TestLostTextOfAProperty(t *testing.T) {
	d := dialect.Make("x", dialect.Form{Text: dialect.Text{Forbid: "_"}})
	tool := defined(t, `{"name":"n","inputSchema":{"type":"object","properties":{"user_id":{"type":"string","description":"__"}}}}`)
	got := string(d.Adapt([]*toolpost.Tool{tool}, nil).Tools[0].Input.Raw())
	if want := `{"type":"object","properties":{"user_id":{"type":"string","description":"User id."}}}`; got != want {
		t.Errorf("got %s", got)
	}
}

func TestNameAsDescription(t *testing.T) {
	for name, want := range map[string]string{"getUser": "Get user.", "list-all.files2": "List all files2.", "日本": "日本.", "__": "Tool."} {
		if got := described(dialect.Text{Required: true}, name, "").Description; got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("List (all) user_names. e.g. x\n- a\n- b\n\nc 👨‍👩‍👧 一覧。", 20, 2, "()_")
	f.Add("((((", 1, 1, "(…")
	f.Fuzz(func(t *testing.T, text string, most, lines int, forbid string) {
		if len(text) > 1000 || !utf8.ValidString(forbid) || strings.ContainsAny(forbid, "\n\uFFFD") {
			return
		}
		x := dialect.Text{Max: most, Lines: lines, Forbid: forbid}
		got := described(x, "n", text).Description
		switch {
		case most > 0 && utf8.RuneCountInString(got) > most:
			t.Errorf("%q has more than %d characters", got, most)
		case lines > 0 && strings.Count(got, "\n") >= lines:
			t.Errorf("%q has more than %d lines", got, lines)
		case strings.ContainsAny(got, forbid):
			t.Errorf("%q has one of %q", got, forbid)
		case utf8.ValidString(text) && !utf8.ValidString(got):
			t.Errorf("%q is cut inside a character", got)
		}
		if again := described(x, "n", got).Description; again != got {
			t.Errorf("%q becomes %q", got, again)
		}
	})
}

// TestLargeText is over in an instant, not in hours.
func TestLargeText(t *testing.T) {
	x := dialect.Text{Forbid: "()_", Lines: 2, Max: 4096}
	for _, part := range []string{"_", "(", ")", "a\n", "- a\n\n", "a_", "🇩🇪", "e\u0301", "e.g. ", "一。", "\u0301", ". "} {
		for _, start := range []string{"a", ""} {
			got := described(x, "n", start+strings.Repeat(part, 300_000/len(part))).Description
			if utf8.RuneCountInString(got) > 4096 || strings.ContainsAny(got, "()_") || strings.Count(got, "\n") > 1 {
				t.Errorf("%q: %.50q", part, got)
			}
		}
	}
}
