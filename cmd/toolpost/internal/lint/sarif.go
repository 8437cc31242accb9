package lint

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/schema/dialect"
)

// An object is a JSON object that is written.
type object map[string]any

// writeSARIF writes a result for each place and rule, whatever the number of
// targets, as SARIF 2.1.0 (OASIS, 2020). Rules that are switched off are
// suppressed.
func writeSARIF(w io.Writer, r *Report, o *Options) error {
	rules, results := []object{}, []object{}
	index := map[*dialect.Rule]int{}
	for _, p := range slices.Concat(r.problems, r.off) {
		i, known := index[p.rule]
		if !known {
			i = len(rules)
			index[p.rule] = i
			rules = append(rules, sarifRule(p.rule))
		}
		results = append(results, r.sarifResult(p, i))
	}
	driver := object{
		"name": "toolpost", "version": o.Version, "informationUri": "https://github.com/toolpost/toolpost", "rules": rules,
	}
	run := object{"tool": object{"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
	return writeIndented(w, object{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": []object{run},
	})
}

func sarifRule(r *dialect.Rule) object {
	return object{
		"id":                   r.Name,
		"shortDescription":     object{"text": r.What},
		"fullDescription":      object{"text": r.Why},
		"help":                 object{"text": r.Why + " " + r.Fix, "markdown": "**Why.** " + r.Why + "\n\n**Fix.** " + r.Fix},
		"helpUri":              ruleAddress(r),
		"defaultConfiguration": object{"level": levelOf(r.Effect).String()},
	}
}

func (r *Report) sarifResult(p *problem, rule int) object {
	key := sha256.Sum256([]byte(strings.Join([]string{p.name, p.rule.Name, p.pointer, p.keyword}, "\x00")))
	result := object{
		"ruleId": p.rule.Name, "ruleIndex": rule, "level": p.level().String(), "message": object{"text": p.oneLine()},
		"partialFingerprints": object{"toolpost/v1": fmt.Sprintf("%x", key[:16])},
		"properties":          object{"tool": p.name, "hits": p.jsonHits()},
	}
	location := object{}
	if p.name != "" {
		location["logicalLocations"] = []object{{"fullyQualifiedName": p.name + p.pointer, "kind": "function"}}
	}
	if at, ok := r.spot(p); ok {
		location["physicalLocation"] = object{
			"artifactLocation": object{"uri": fileURI(r.File.Path)},
			"region": object{
				"startLine": at.line, "startColumn": at.column, "endLine": at.endLine, "endColumn": at.endColumn,
			},
		}
	}
	if len(location) > 0 {
		result["locations"] = []object{location}
	}
	if p.reason != "" {
		result["suppressions"] = []object{{"kind": "external", "justification": p.reason}}
	}
	return result
}

// fileURI writes a path as a reference: relative paths stay so.
func fileURI(path string) string {
	u := url.URL{Path: filepath.ToSlash(path)}
	if filepath.IsAbs(path) {
		u.Scheme = "file"
	}
	return u.String()
}
