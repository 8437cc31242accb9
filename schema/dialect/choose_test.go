package dialect

import "testing"

func TestCompareVersions(t *testing.T) {
	ascending := []string{"0", "0.1", "1", "1.0.57-3", "1.2", "1.10", "2.1.99", "2.1.197", "2.1.329", "2.2", "10.0", "99999999999999999999.1", "100000000000000000000"}
	for i, a := range ascending {
		for j, b := range ascending {
			got := compareVersions(a, b)
			if want := i - j; got*want < 0 || (got == 0) != (want == 0) {
				t.Errorf("compareVersions(%q, %q) = %d", a, b, got)
			}
		}
	}
	for _, same := range [][2]string{{"1", "1.0.0"}, {"v1.2", "1.2"}, {"1.2-beta", "1.2"}, {"1.2+build.5", "1.02"}, {" 1.2 ", "1.2"}, {"", "x"}} {
		if got := compareVersions(same[0], same[1]); got != 0 {
			t.Errorf("compareVersions(%q, %q) = %d", same[0], same[1], got)
		}
	}
}

func FuzzCompareVersions(f *testing.F) {
	f.Add("2.1.329", "2.1.197", "v1.0-x")
	f.Add("", "..", "1.")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		if compareVersions(a, a) != 0 || compareVersions(a, b) != -compareVersions(b, a) {
			t.Fatal("no order")
		}
		if compareVersions(a, b) <= 0 && compareVersions(b, c) <= 0 && compareVersions(a, c) > 0 {
			t.Fatal("not transitive")
		}
		if isInRange(c, a, b) && isInRange(c, b, a) && a != "" && b != "" {
			t.Fatal("in both of two ranges that exclude each other")
		}
	})
}
