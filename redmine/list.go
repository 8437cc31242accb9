package redmine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"strconv"
	"strings"

	"github.com/toolpost/toolpost"
)

// how many rows a list has if nothing is said, and at the most.
const (
	usualRows = 50
	maxRows   = 1000
)

// A rowSpan is the part of a list to show.
type rowSpan struct {
	Offset int `json:"offset,omitempty" jsonschema:"minimum=0"`
	Limit  int `json:"limit,omitempty" jsonschema:"minimum=1,maximum=1000,default=50"`
}

func (in rowSpan) most() int { return min(cmp.Or(in.Limit, usualRows), maxRows) }

// newListing returns a listing of rows from an offset on, of a list of total.
func newListing[R any](rows []R, offset, total int) *listing {
	l := &listing{rows: make([]any, len(rows)), offset: offset, total: total}
	for i := range rows {
		l.rows[i] = &rows[i]
	}
	return l
}

// wholeList returns the part of a list that Redmine gives whole.
func wholeList[R any](all []R, in rowSpan) *listing {
	return newListing(pageOf(all, in), in.Offset, len(all))
}

// pageOf is the part of a list that Redmine gives whole.
func pageOf[T any](all []T, in rowSpan) []T {
	from := min(in.Offset, len(all))
	return all[from:min(from+in.most(), len(all))]
}

// A listing is a part of a list as it is shown: a line a row, without its end, and the
// same rows for programs.
type listing struct {
	what    string // such as "time entries"
	key     string // of the rows, for programs
	rows    []any  // pointers to records
	offset  int
	total   int
	facts   map[string]any // more for programs
	note    string         // after the first line
	remarks []string       // before the rows, for programs too
	brief   bool           // rows begin with their number, and are a [brief] for programs
	end     string         // lines after the rows
}

func (l *listing) answer(s *Toolset) (*toolpost.Result, error) {
	var b strings.Builder
	b.WriteString(pageSummary(l.what, len(l.rows), l.offset, l.total) + l.note + "\n")
	for _, remark := range l.remarks {
		b.WriteString(remark + "\n")
	}
	for _, row := range l.rows {
		b.WriteString(l.lines(row))
	}
	b.WriteString(l.end)
	facts := map[string]any{l.key: l.rows, "total": l.total, "offset": l.offset}
	if l.brief {
		briefs := []brief{}
		for _, row := range l.rows {
			briefs = append(briefs, brief{row})
		}
		facts[l.key] = briefs
	}
	if len(l.remarks) > 0 {
		facts["remarks"] = l.remarks
	}
	for name, fact := range l.facts {
		facts[name] = fact
	}
	return s.answer(b.String(), facts)
}

// An expandedRow has lines below its own in a brief listing.
type expandedRow interface{ linesBelow() []string }

// lines are those of a row.
func (l *listing) lines(row any) string {
	if !l.brief {
		return "- " + lineOf(row) + "\n"
	}
	text, fields := lineOf(row)+"\n", fieldsOf(customFieldsOf(row))
	for _, name := range sortedKeys(fields) {
		text += fmt.Sprintf("  %s: %s\n", name, oneLine(fields[name]))
	}
	if expanded, ok := row.(expandedRow); ok {
		for _, line := range expanded.linesBelow() {
			text += "  " + line + "\n"
		}
	}
	return text
}

// pageSummary says which part of a list is shown, and how to go on.
func pageSummary(what string, shown, offset, total int) string {
	switch {
	case total == 0:
		return fmt.Sprintf("No %s.", what)
	case shown == 0:
		return fmt.Sprintf("There are no %s from offset %d on; there are %d in all.", what, offset, total)
	case shown == total:
		return fmt.Sprintf("All %d %s.", total, what)
	case offset+shown < total:
		return fmt.Sprintf("%s %d to %d of %d; call again with offset %d for more.", upper(what), offset+1, offset+shown, total, offset+shown)
	}
	return fmt.Sprintf("%s %d to %d of %d.", upper(what), offset+1, offset+shown, total)
}

// rows reads a list, page by page, up to most rows from offset on.
func rows[T any](ctx context.Context, s *Toolset, path string, query url.Values, key string, offset, most int) (all []T, total int, err error) {
	for try := 1; ; try++ {
		var steady bool
		all, total, steady, err = pages[T](ctx, s, path, query, key, offset, most)
		ctx = withoutCache(ctx)
		if err != nil || steady || try == tries {
			return all, total, err
		}
	}
}

// readAll reads a whole list.
func readAll[T any](ctx context.Context, s *Toolset, path, key, what string) ([]T, error) {
	all, _, err := rows[T](ctx, s, path, url.Values{}, key, 0, maxNames)
	return all, explain(err, what)
}

// pages reads a list once, and reports whether it had the same length all the time: if
// not, a row may be there twice, or be missing.
func pages[T any](ctx context.Context, s *Toolset, path string, query url.Values, key string, offset, most int) (all []T, total int, steady bool, err error) {
	for first := -1; ; {
		start, size := offset+len(all), min(100, most-len(all))
		var part []T
		total, paged, err := readPage(ctx, s, path, query, key, start, size, &part)
		if first < 0 {
			first = total
		}
		switch {
		case err != nil:
			return nil, 0, false, err
		case paged && isWholeList(len(part), start, size, total):
			from := min(offset, len(part))
			return part[from:min(from+most, len(part))], len(part), true, nil
		}
		if all = append(all, part...); !paged || len(part) < size || len(all) >= most || total != first {
			return all, total, total == first, nil
		}
	}
}

// isWholeList reports whether a part of a list is all of it: Redmine 6.0.0 and
// 6.0.1 give all projects, whatever part is asked for.
func isWholeList(rows, start, size, total int) bool {
	return rows > size || start > 0 && rows > 0 && rows == total
}

// readPage reads a part of a list, if it has parts, into a slice that part points to, and
// how long the list is.
func readPage(ctx context.Context, s *Toolset, path string, query url.Values, key string, start, size int, part any) (total int, paged bool, err error) {
	query.Set("offset", strconv.Itoa(start))
	query.Set("limit", strconv.Itoa(size))
	var answer map[string]json.RawMessage
	if err := s.client.get(ctx, path, query, &answer); err != nil {
		return 0, false, err
	}
	if err := s.client.decode(path, answer[key], part); err != nil {
		return 0, false, err
	}
	total = start + reflect.ValueOf(part).Elem().Len()
	if raw := answer["total_count"]; raw != nil {
		_ = json.Unmarshal(raw, &total) // null where Redmine did not count
	}
	_, paged = answer["limit"]
	return total, paged, nil
}

// count returns the length of a list.
func count(ctx context.Context, s *Toolset, path string, query url.Values, key string) (int, error) {
	_, total, err := rows[struct{}](ctx, s, path, query, key, 0, 1)
	return total, err
}

// every is a list that is shown whole.
func every[R any](all []R) *listing { return newListing(all, 0, len(all)) }
