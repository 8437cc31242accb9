package redmine

import (
	"slices"
	"testing"
)

func TestSamePerson(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"花 藤原", "花　藤原", true}, {"花 藤原", "藤原 花", true}, {"太郎 山田", "山田太郎", true}, {"太郎 山田", "太郎山田", true},
		{"Bob Developer", "bob  developer", true}, {"Bob Developer", "Developer, Bob", true}, {"José Núñez", "Jose\u0301 Nu\u0301n\u0303ez", true},
		{"ヤマダ タロウ", "ﾔﾏﾀﾞ ﾀﾛｳ", true}, {"Bob Developer", "BobDeveloper", false}, {"Bob Developer", "Bob", false}, {"", "", false},
		{"平成x", "㍻ x", true}, {"㍻ x", "平成x", true}, {",", ",", false},
	} {
		if got := samePerson(c.a, c.b); got != c.want {
			t.Errorf("%q and %q: %v", c.a, c.b, got)
		}
	}
}

// FuzzSamePerson: the order of two names does not matter, and a name is its own.
func FuzzSamePerson(f *testing.F) {
	for _, c := range [][2]string{{"太郎 山田", "山田太郎"}, {"Bob Developer", "Developer, Bob"}, {"㍻ x", "平成x"}, {",", ""}, {"\xff", "ﾔﾏﾀﾞ"}} {
		f.Add(c[0], c[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if samePerson(a, b) != samePerson(b, a) {
			t.Errorf("%q and %q are compared differently the other way round", a, b)
		}
		if samePerson(a, a) != (len(nameWords(a)) > 0) {
			t.Errorf("%q is not its own name", a)
		}
	})
}

func TestExactNames(t *testing.T) {
	all := []idName{{ID: 12, Name: "Bob Developer"}, {ID: 13, Name: "bob developer"}, {ID: 14, Name: "12"}, {ID: 15, Name: "Ann"}}
	for text, want := range map[string][]int{
		"Bob Developer": {12}, "BOB  DEVELOPER": {12, 13}, "15": {15}, "#15": {15}, "１５": {15}, " Ann ": {15},
		"12": {12, 14}, "An": nil, "": nil, "0": nil, "#": nil, "99999999999999999999": nil,
	} {
		var got []int
		for _, n := range matchExact(text, all) {
			got = append(got, n.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestDatesAndIDs(t *testing.T) {
	for text, want := range map[string]string{
		"2026-12-24": "2026-12-24", "2026/12/24": "2026-12-24", "2026年12月24日": "2026-12-24", "2026-2-3": "2026-02-03",
		"２０２６／１２／２４": "2026-12-24", "2026-02-30": "", "12/24/2026": "", "": "",
	} {
		if got, err := date(text); got != want || (err == nil) != (want != "") {
			t.Errorf("date %q: %q %v", text, got, err)
		}
	}
	for text, want := range map[string]int{
		"12": 12, "#12": 12, "１２": 12, "12.0": 12, "https://redmine.test/x/issues/12": 12, "https://redmine.test/issues/12?tab=1#note-2": 12,
		"12.5": 0, "twelve": 0, "-1": 0, "issues/12": 0,
	} {
		if got, err := id("an issue", text); got != want || (err == nil) != (want > 0) {
			t.Errorf("id %q: %d %v", text, got, err)
		}
	}
	if _, ok := number("1.0"); ok {
		t.Error("1.0 may be the name of a version")
	}
}
