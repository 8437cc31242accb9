package doctor

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/wire"
)

// Definitions reports the definitions that are changed when they are listed, since clients
// would refuse the whole list because of them, and those that some clients refuse although
// they are valid. F may be nil.
func Definitions(tools []*toolpost.Tool, f *toolpost.Features) (findings []Finding) {
	for _, t := range tools {
		raw, err := t.MarshalJSON()
		if err != nil {
			continue // it is reported where tools are
		}
		findings = append(findings, findMends(raw, wire.KindTool, t.Name)...)
		if wire.IsObject(wire.Get(wire.Get(raw, "inputSchema"), "additionalProperties")) {
			findings = append(findings, Finding{ID: "java-sdk", Severity: Note, Tool: t.Name,
				Message: "additionalProperties at the root of the input schema is a schema: clients with the official Java SDK (0.17) can read only true or false there, and lose all tools of all servers",
				Fix:     "leave the tool out for such clients, with a profile of theirs"})
		}
	}
	if f == nil {
		return findings
	}
	for _, p := range f.Prompts {
		findings = append(findings, findMends(wire.Set(p.Definition, "name", wire.Quote(p.Name)), wire.KindPrompt, p.Name)...)
	}
	for _, r := range f.Resources {
		kind, name := wire.KindResource, "uri"
		if r.Template {
			kind, name = wire.KindTemplate, "uriTemplate"
		}
		findings = append(findings, findMends(wire.Set(r.Definition, name, wire.Quote(r.URI)), kind, r.URI)...)
	}
	return findings
}

// maxReason is how much of a reason is shown.
const maxReason = 500

// findMends reports how a definition is changed when it is listed.
func findMends(raw json.RawMessage, kind wire.Kind, key string) []Finding {
	found := Finding{ID: "definition-invalid", Severity: Warning, Fix: "correct the definition in the server"}
	about := fmt.Sprintf("the %s %q", kind, cleartext.Clip(key, 200))
	if kind == wire.KindTool {
		found.Tool = key
	}
	_, reasons, err := wire.Mend(raw, kind, wire.LastSession)
	switch {
	case err != nil:
		found.Message = about + " is not listed: " + cleartext.Clip(err.Error(), maxReason)
	case len(reasons) == 0:
		return nil
	default:
		found.Message = about + " is changed in lists: " + cleartext.Clip(strings.Join(reasons, "; "), maxReason)
		if _, forAll, err := wire.Mend(raw, kind, wire.Stateless); err == nil && len(forAll) == 0 {
			found.Severity, found.Fix = Note, ""
			found.Message += " (for clients of MCP up to " + wire.LastSession + ")"
		}
	}
	return []Finding{found}
}
