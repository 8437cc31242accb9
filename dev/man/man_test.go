package man_test

import (
	"strings"
	"testing"
	"time"

	"github.com/toolpost/toolpost/dev/man"
)

func TestPages(t *testing.T) {
	texts := map[string]string{
		"help": "Does it….\n\n  a table\n  of two lines\n\nUsage:\n  it [command]\n\nFirst things:\n  do          Do a thing\n  help        Help about any command\n\nFlags:\n  -h, --help   help\n\nAdditional help topics:\n  it codes   What they mean\n\nUse \"it [command] --help\" for more.\n",
		"help do": ".Begins with a dot \\ and:\n\nUsage:\n  it do [flags]\n\nExamples:\n  it do --now\n\nFlags:\n" +
			"      --flag-of-a-long-name NAME   one line\n                                   and another\n  -n, --now   now\n",
		"help codes": "Codes:\n  0  done\n",
	}
	pages, err := man.Pages("it", "Makes it", time.Unix(0, 0), func(args ...string) (string, error) { return texts[strings.Join(args, " ")], nil })
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, p := range pages {
		all.WriteString("== " + p.Name + "\n" + string(p.Text))
	}
	const want = `== it.1
.TH IT 1 1970-01-01
.nh
.ad l
.SH NAME
it \- Makes it
.SH SYNOPSIS
.nf
\&it [command]
.fi
.SH DESCRIPTION
\&Does it\[u2026].
.PP
.nf
\&  a table
\&  of two lines
.fi
.SH OPTIONS
.TP
\fB\-h, \-\-help\fR
\&help
.SH COMMANDS
.TP
\fBit\-do\fR(1)
\&Do a thing
.TP
\fBit\-codes\fR(1)
\&What they mean
== it-do.1
.TH IT-DO 1 1970-01-01
.nh
.ad l
.SH NAME
it\-do \- Do a thing
.SH SYNOPSIS
.nf
\&it do [flags]
.fi
.SH DESCRIPTION
\&.Begins with a dot \e and:
.SH EXAMPLES
.nf
\&it do \-\-now
.fi
.SH OPTIONS
.TP
\fB\-\-flag\-of\-a\-long\-name NAME\fR
\&one line and another
.TP
\fB\-n, \-\-now\fR
\&now
.SH SEE ALSO
\fBit\fR(1)
== it-codes.1
.TH IT-CODES 1 1970-01-01
.nh
.ad l
.SH NAME
it\-codes \- What they mean
.SH DESCRIPTION
.nf
\&Codes:
\&  0  done
.fi
.SH SEE ALSO
\fBit\fR(1)
`
	if all.String() != want {
		t.Errorf("the pages are\n%s", all.String())
	}
}
