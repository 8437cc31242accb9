package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/connect"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/upstream"
)

// table draws the servers as lines of at most width columns: one for each,
// and below those that failed, why.
func table(servers []upstream.Status, width int, color bool) []string {
	rows := [][]string{{"SERVER", "TRANSPORT", "PROTOCOL", "STATE", "TOOLS", "START"}}
	for _, st := range servers {
		rows = append(rows, row(st))
	}
	widths := make([]int, len(rows[0]))
	for _, r := range rows {
		for i, cell := range r {
			widths[i] = max(widths[i], terminal.Width(cell))
		}
	}
	widths[0] = min(widths[0], max(12, width-2-len("streamable  2026-07-28  connecting  TOOLS  99.9 s")))
	var lines []string
	for i, r := range rows {
		line := terminal.Cut(align(r, widths), width)
		if i > 0 && color {
			line = paint(line, r[3], servers[i-1].State)
		}
		lines = append(lines, line)
		if i > 0 && servers[i-1].Err != nil {
			for _, l := range terminal.Wrap(cleartext.Printable(connect.ErrorText(servers[i-1])), max(20, width-4)) {
				lines = append(lines, "    "+l)
			}
		}
	}
	return append(lines, terminal.Cut(total(servers), width))
}

// total counts what is ready, of the servers that are not disabled.
func total(servers []upstream.Status) string {
	ready, enabled, tools := 0, 0, 0
	for _, st := range servers {
		if st.State != gateway.Disabled {
			enabled++
		}
		if st.State == upstream.Ready {
			ready++
			tools += st.Tools
		}
	}
	return fmt.Sprintf("%d of %s connected, %s", ready, terminal.Count(enabled, "server"), terminal.Count(tools, "tool"))
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

func row(st upstream.Status) []string {
	r := []string{cleartext.Printable(st.Name), cli.Dash(string(st.Transport)), cli.Dash(st.Version), string(st.State), "-", "-"}
	if st.State == upstream.Ready {
		r[4] = strconv.Itoa(st.Tools)
		r[5] = seconds(st.Took)
	}
	return r
}

// align pads cells; the last two hold numbers.
func align(cells []string, widths []int) string {
	var b strings.Builder
	for i, cell := range cells {
		if i > 0 {
			b.WriteString("  ")
		}
		if i < 4 {
			b.WriteString(terminal.Pad(cell, widths[i]))
		} else {
			fmt.Fprintf(&b, "%*s", widths[i], cell)
		}
	}
	return b.String()
}

// paint colours the state in a line.
func paint(line, cell string, state upstream.State) string {
	codes := map[upstream.State]string{
		upstream.Ready: "32", upstream.Connecting: "33", upstream.Installing: "33", upstream.Failed: "31", gateway.Disabled: "2",
	}
	code, ok := codes[state]
	if !ok {
		return line
	}
	i := strings.LastIndex(line, "  "+cell)
	if i < 0 {
		return line
	}
	return line[:i+2] + "\x1b[" + code + "m" + cell + "\x1b[0m" + line[i+2+len(cell):]
}
