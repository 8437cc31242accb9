package config

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tailscale/hujson"
)

// write adds the servers that were found to data, a toolpost.json that was
// parsed before. Only the new lines differ.
func (im *importer) write(data []byte, keep func(*ImportedServer) bool) {
	im.out.JSON = data
	bom := len(data) - len(newSource("", data).data)
	v, err := hujson.Parse(data[bom:])
	if err != nil {
		return // it was parsed before
	}
	root := v.Value.(*hujson.Object)
	servers := v.Find("/mcpServers")
	if servers == nil {
		servers = v.Find("/servers")
	}
	base := lastLine(indentOf(root), "  ")
	for _, f := range im.found {
		if f.value.Value == nil {
			continue
		}
		server := ImportedServer{f.server.Name, f.from, describe(&f.server), f.folder}
		if keep != nil && !keep(&server) {
			continue
		}
		appendMember(servers.Value.(*hujson.Object), f.server.Name, f.value, base)
		im.out.Servers = append(im.out.Servers, server)
	}
	if len(im.out.Servers) > 0 {
		im.out.JSON = append(bytes.Clone(data[:bom]), v.Pack()...)
	}
}

// indentOf returns what stands before the first member.
func indentOf(o *hujson.Object) string {
	if len(o.Members) == 0 {
		return ""
	}
	return string(o.Members[0].Name.BeforeExtra)
}

// lastLine returns the white space after the last line break of extra, or otherwise.
func lastLine(extra, otherwise string) string {
	i := strings.LastIndexByte(extra, '\n')
	if i < 0 || strings.TrimSpace(extra[i:]) != "" {
		return otherwise
	}
	return extra[i+1:]
}

// appendMember adds a member on lines of its own, indented as its neighbours.
// Base is the indentation of the object itself.
func appendMember(o *hujson.Object, name string, value hujson.Value, base string) {
	unit := "  "
	if strings.Contains(base, "\t") {
		unit = "\t"
	}
	indent := lastLine(indentOf(o), base+unit)
	if deeper, ok := strings.CutPrefix(indent, base); ok && deeper != "" {
		unit = deeper
	}
	after := string(o.AfterExtra)
	m := hujson.ObjectMember{
		Name:  hujson.Value{Value: hujson.String(name)},
		Value: hujson.Value{BeforeExtra: hujson.Extra(" "), Value: pretty(value, indent, unit)},
	}
	m.Name.BeforeExtra = hujson.Extra(strings.TrimRight(after, " \t\r\n") + "\n" + indent)
	if n := len(o.Members); n > 0 && o.Members[n-1].Value.AfterExtra != nil {
		m.Value.AfterExtra = hujson.Extra{} // goes on with trailing commas
	}
	o.Members = append(o.Members, m)
	o.AfterExtra = hujson.Extra("\n" + lastLine(after, base))
}

// pretty returns v on lines of its own.
func pretty(v hujson.Value, indent, unit string) hujson.ValueTrimmed {
	v.Minimize()
	var b bytes.Buffer
	if err := json.Indent(&b, v.Pack(), indent, unit); err != nil {
		return v.Value // Minimize leaves JSON only
	}
	return hujson.Literal(b.Bytes())
}
