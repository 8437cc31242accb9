package schema

import "fmt"

// checkSyntax says where data stops being JSON, nil if it does not. Repeated
// names are let pass.
func checkSyntax(data []byte, limit int) *Problem {
	p := pass{scanner: scanner{data: data}, limit: limit, lax: true}
	if p.check(nil) && p.end() {
		return nil
	}
	got := "the end of the data"
	if p.pos < len(data) {
		got = fmt.Sprintf("%q", clip(string(data[p.pos:min(len(data), p.pos+40)]), 20))
	}
	return &Problem{Expected: p.want, Got: fmt.Sprintf("%s at byte %d; it is not JSON", got, p.pos)}
}
