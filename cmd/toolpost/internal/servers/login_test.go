package servers

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/internal/access/login"
)

// The address of a login page comes from a foreign server, and must not control the terminal.
func TestLoginAddressIsPrintable(t *testing.T) {
	t.Setenv("BROWSER", "/nonexistent")
	t.Setenv("PATH", "")
	for _, noBrowser := range []bool{true, false} {
		var out strings.Builder
		cmd := &cobra.Command{}
		cmd.SetOut(&out)
		cmd.SetErr(&strings.Builder{})
		o := loginOptions{noBrowser: noBrowser}
		if err := o.person(cmd).Visit(t.Context(), &login.Page{Address: "https://a.example/\x1b]0;x\a"}); err != nil || strings.ContainsAny(out.String(), "\x1b\a") || !strings.Contains(out.String(), "https://a.example/") {
			t.Errorf("noBrowser %v: printed %q, %v", noBrowser, out.String(), err)
		}
	}
}

// The user is shown who asks for the password. A page that is not at the authorization
// server is not opened without the user.
func TestLoginPageOfAnotherHost(t *testing.T) {
	t.Setenv("BROWSER", "/nonexistent") // whoever tries to open a page says that it fails
	t.Setenv("PATH", "")
	for _, foreign := range []bool{true, false} {
		var out, errs strings.Builder
		cmd := &cobra.Command{}
		cmd.SetOut(&out)
		cmd.SetErr(&errs)
		page := &login.Page{Address: "https://login.example.com/authorize?x", Host: "login.example.com", Issuer: "https://evil.example", Foreign: foreign}
		if err := (&loginOptions{}).person(cmd).Visit(t.Context(), page); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(errs.String(), "The login page is at login.example.com.") || strings.Contains(errs.String(), "Warning") != foreign || !strings.Contains(out.String(), page.Address) {
			t.Errorf("foreign %v: %s%s", foreign, errs.String(), out.String())
		}
		if strings.Contains(errs.String(), "No browser can be opened") == foreign {
			t.Errorf("foreign %v: %s", foreign, errs.String())
		}
	}
}
