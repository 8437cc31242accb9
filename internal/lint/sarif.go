package lint

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"
)

// The objects of SARIF 2.1.0 (OASIS, 2020), as far as they are written here.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string      `json:"id"`
		ShortDescription sarifText   `json:"shortDescription"`
		FullDescription  sarifText   `json:"fullDescription"`
		Help             sarifText   `json:"help"`
		HelpURI          string      `json:"helpUri"`
		Default          sarifConfig `json:"defaultConfiguration"`
	}
	sarifText struct {
		Text     string `json:"text"`
		Markdown string `json:"markdown,omitempty"`
	}
	sarifConfig struct {
		Level string `json:"level"`
	}
	sarifResult struct {
		RuleID       string             `json:"ruleId"`
		RuleIndex    int                `json:"ruleIndex"`
		Level        string             `json:"level"`
		Message      sarifText          `json:"message"`
		Locations    []sarifLocation    `json:"locations,omitempty"`
		Fingerprints map[string]string  `json:"partialFingerprints"`
		Suppressions []sarifSuppression `json:"suppressions,omitempty"`
		Properties   sarifProperties    `json:"properties"`
	}
	sarifLocation struct {
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
		EndLine     int `json:"endLine"`
		EndColumn   int `json:"endColumn"`
	}
	sarifLogical struct {
		Name string `json:"fullyQualifiedName"`
		Kind string `json:"kind"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
	sarifProperties struct {
		Tool string    `json:"tool"`
		Hits []jsonHit `json:"hits"`
	}
)

// writeSARIF writes a result for each place and rule, whatever the number of
// targets. Rules that are switched off are suppressed.
func writeSARIF(w io.Writer, r *Report, o *Options) error {
	driver := sarifDriver{
		Name: "toolpost", Version: o.Version, InformationURI: "https://github.com/toolpost/toolpost", Rules: []sarifRule{},
	}
	run := sarifRun{ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	index := map[string]int{}
	for _, p := range append(r.problems[:len(r.problems):len(r.problems)], r.off...) {
		i, known := index[p.rule.Name]
		if !known {
			i = len(driver.Rules)
			index[p.rule.Name] = i
			driver.Rules = append(driver.Rules, newSARIFRule(p))
		}
		run.Results = append(run.Results, r.sarifResult(p, i))
	}
	run.Tool.Driver = driver
	return writeIndented(w, sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}

func newSARIFRule(p *problem) sarifRule {
	help := p.rule.Why + " " + p.rule.Fix
	return sarifRule{
		ID:               p.rule.Name,
		ShortDescription: sarifText{Text: p.rule.What},
		FullDescription:  sarifText{Text: p.rule.Why},
		Help:             sarifText{Text: help, Markdown: "**Why.** " + p.rule.Why + "\n\n**Fix.** " + p.rule.Fix},
		HelpURI:          ruleAddress(p.rule),
		Default:          sarifConfig{levelOf(p.rule.Effect).String()},
	}
}

func (r *Report) sarifResult(p *problem, rule int) sarifResult {
	key := sha256.Sum256([]byte(strings.Join([]string{p.name, p.rule.Name, p.pointer, p.keyword}, "\x00")))
	result := sarifResult{
		RuleID: p.rule.Name, RuleIndex: rule, Level: p.level().String(), Message: sarifText{Text: p.plain()},
		Fingerprints: map[string]string{"toolpost/v1": fmt.Sprintf("%x", key[:16])},
		Properties:   sarifProperties{p.name, p.jsonHits()},
	}
	location := sarifLocation{}
	if p.name != "" {
		location.Logical = []sarifLogical{{p.name + p.pointer, "function"}}
	}
	if at, ok := r.spot(p); ok {
		location.Physical = &sarifPhysical{sarifArtifact{fileURI(r.File.Path)}, sarifRegion{at.line, at.column, at.endLine, at.endColumn}}
	}
	if location.Physical != nil || location.Logical != nil {
		result.Locations = []sarifLocation{location}
	}
	if p.reason != "" {
		result.Suppressions = []sarifSuppression{{"external", p.reason}}
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
