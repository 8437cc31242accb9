package claudecli

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/toolpost/toolpost"
)

// TestCallsBeforeRefusal: a call that waits when calls are refused is refused like a
// later one; a result that is there is given all the same.
func TestCallsBeforeRefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		d.begin()
		early := make(chan string)
		go func() { early <- waitFor(t, d, "early") }()
		synctest.Wait()
		d.put("answered", &answer{result: toolpost.TextResult("5")})
		d.refuse()
		for id, got := range map[string]string{"early": <-early, "late": waitFor(t, d, "late")} {
			if !strings.HasPrefix(got, "Tools cannot be called now") {
				t.Errorf("the %s call has the result %q", id, got)
			}
		}
		if got := waitFor(t, d, "answered"); got != "5" {
			t.Errorf("the answered call has the result %q", got)
		}
		if len(d.calls) != 0 {
			t.Errorf("%d calls are still on the desk", len(d.calls))
		}
	})
}

func waitFor(t *testing.T, d *desk, id string) string {
	r, err := d.wait(t.Context(), &toolpost.Call{ID: id})
	if err != nil {
		t.Error(err)
		return ""
	}
	text, _ := r.FirstText()
	return text
}
