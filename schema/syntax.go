package schema

import "fmt"
import "github.com/toolpost/toolpost/internal/jsontree"

// syntaxProblem says where data stops being JSON.
func syntaxProblem(err *jsontree.SyntaxError, data []byte) *Problem {
	got := "the end of the data"
	if err.Offset < len(data) {
		got = fmt.Sprintf("%q", clip(string(data[err.Offset:min(len(data), err.Offset+40)]), 20))
	}
	return &Problem{Expected: err.Expected, Got: fmt.Sprintf("%s at byte %d; it is not JSON", got, err.Offset)}
}
