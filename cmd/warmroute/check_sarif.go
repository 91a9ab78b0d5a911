package main

import (
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/warmroute/warmroute/catalog"
)

// The parts of SARIF 2.1.0 that a static check needs (docs.oasis-open.org/sarif).
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
		ID      string       `json:"id"`
		Short   sarifMessage `json:"shortDescription"`
		Full    sarifMessage `json:"fullDescription"`
		Help    sarifMessage `json:"help"`
		Default struct {
			Level string `json:"level"`
		} `json:"defaultConfiguration"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID       string             `json:"ruleId"`
		RuleIndex    int                `json:"ruleIndex"`
		Level        string             `json:"level"`
		Message      sarifMessage       `json:"message"`
		Locations    []sarifLocation    `json:"locations"`
		Suppressions []sarifSuppression `json:"suppressions,omitempty"`
	}
	sarifLocation struct {
		Physical struct {
			Artifact struct {
				URI string `json:"uri"`
			} `json:"artifactLocation"`
			Region *sarifRegion `json:"region,omitempty"`
		} `json:"physicalLocation"`
	}
	sarifRegion struct {
		StartLine   int           `json:"startLine"`
		StartColumn int           `json:"startColumn"`
		Snippet     *sarifMessage `json:"snippet,omitempty"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
)

// checkSARIF prints what was found as a SARIF log, what is silenced as suppressed.
func checkSARIF(out io.Writer, found *checked) error {
	driver := sarifDriver{Name: "warmroute", Version: version, InformationURI: "https://github.com/warmroute/warmroute", Rules: []sarifRule{}}
	index := map[string]int{}
	results := []sarifResult{}
	add := func(p *catalog.Problem, reason string) {
		at, known := index[p.Code]
		if !known {
			at = len(driver.Rules)
			index[p.Code] = at
			driver.Rules = append(driver.Rules, sarifRuleOf(p.Code))
		}
		r := sarifResult{RuleID: p.Code, RuleIndex: at, Level: string(severity(p)), Message: sarifMessage{advice(p)}, Locations: []sarifLocation{sarifPlace(p)}}
		if reason != "" {
			r.Suppressions = []sarifSuppression{{"inSource", reason}}
		}
		results = append(results, r)
	}
	for i := range found.all() {
		add(&found.all()[i], "")
	}
	for i := range found.Silenced {
		add(&found.Silenced[i].Problem, found.Silenced[i].Reason)
	}
	return printJSON(out, sarifLog{
		Schema:  "https://json.schemastore.org/sarif-2.1.0.json",
		Version: "2.1.0",
		Runs:    []sarifRun{{sarifTool{driver}, "unicodeCodePoints", results}},
	})
}

func sarifRuleOf(code string) sarifRule {
	page, _, _ := catalog.Explain(code)
	rule := sarifRule{ID: code, Short: sarifMessage{page.Title}, Full: sarifMessage{page.Title}, Help: sarifMessage{page.Text}}
	rule.Default.Level = string(page.Severity)
	return rule
}

// sarifPlace is where a problem is. A relative path stays relative: it counts from
// the folder in which the check ran, mostly the root of the repository.
func sarifPlace(p *catalog.Problem) sarifLocation {
	var at sarifLocation
	u := url.URL{Path: filepath.ToSlash(p.File)}
	if filepath.IsAbs(p.File) {
		u.Scheme = "file"
		if !strings.HasPrefix(u.Path, "/") { // a drive
			u.Path = "/" + u.Path
		}
	}
	at.Physical.Artifact.URI = u.String()
	if p.Line > 0 {
		region := &sarifRegion{StartLine: p.Line, StartColumn: max(p.Column, 1)}
		if p.Excerpt.Text != "" {
			region.Snippet = &sarifMessage{p.Excerpt.Text}
		}
		at.Physical.Region = region
	}
	return at
}
