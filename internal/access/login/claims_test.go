package login

import (
	"encoding/base64"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/toolpost/toolpost/config"
)

// The exp claim of a subject token may be any JSON number. A token whose exp is after the
// year 9999 does not expire.
func TestSubjectTokenEnds(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	for exp, expired := range map[string]bool{
		"1700000000":          true,
		"1699999999.5":        true,
		"1700000000.5":        false,
		"1700000001":          false,
		"253402300799":        false,
		"253402300800":        false,
		"9223372036854775808": false, // int64 ends before it
		"1e300":               false,
		"1e400":               false, // beyond float64
		"0":                   true,
		"-1":                  true,
		"-1e300":              true,
		"null":                false,
	} {
		token := "e30." + base64.RawURLEncoding.EncodeToString([]byte(`{"exp": `+exp+`}`)) + ".x"
		got, err := subjectToken(t.Context(), &config.Exchange{SubjectToken: token}, now)
		if (err != nil) != expired || !expired && got != token || expired && !strings.Contains(err.Error(), "the subject token has expired") {
			t.Errorf("%s: got %q, %v", exp, got, err)
		}
	}
	for _, exp := range []float64{math.NaN(), math.Inf(1)} {
		if end, ends := (&claims{Expires: &exp}).end(); ends {
			t.Errorf("%v ends at %v", exp, end)
		}
	}
}
