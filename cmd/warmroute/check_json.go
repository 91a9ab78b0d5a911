package main

import (
	"io"

	"github.com/warmroute/warmroute/catalog"
)

// problemJSON is one problem as JSON. Members are only ever added.
type problemJSON struct {
	File     string       `json:"file"`
	Line     int          `json:"line"`
	Column   int          `json:"column"`
	Where    string       `json:"where,omitempty"`
	Message  string       `json:"message"` // what is wrong and what to do
	Code     string       `json:"code,omitempty"`
	Severity string       `json:"severity"`
	Wrong    string       `json:"wrong"`
	Remedy   string       `json:"remedy,omitempty"`
	Excerpt  *excerptJSON `json:"excerpt,omitempty"`
	Reason   string       `json:"reason,omitempty"`      // of what is silenced
	By       int          `json:"silenced_by,omitempty"` // the line of the silence
}

// excerptJSON is the line of the file, without what may be a key.
type excerptJSON struct {
	Text   string `json:"text"`
	Column int    `json:"column"` // of the problem in text, in characters, from 1
}

func problemOf(p *catalog.Problem) problemJSON {
	of := problemJSON{File: p.File, Line: p.Line, Column: p.Column, Where: p.Where, Message: p.Message, Code: p.Code,
		Severity: string(severity(p)), Wrong: p.Wrong(), Remedy: p.Remedy()}
	if p.Excerpt.Text != "" {
		of.Excerpt = &excerptJSON{p.Excerpt.Text, p.Excerpt.Column}
	}
	return of
}

// checkJSON prints what was found as JSON: stable for scripts. Warnings holds the
// notes too, told apart by severity.
func checkJSON(out io.Writer, found *checked) error {
	result := struct {
		Good     bool          `json:"good"`
		Digest   string        `json:"digest,omitempty"`
		Errors   []problemJSON `json:"errors"`
		Warnings []problemJSON `json:"warnings"`
		Silenced []problemJSON `json:"silenced"`
	}{Good: found.catalog != nil, Errors: []problemJSON{}, Warnings: []problemJSON{}, Silenced: []problemJSON{}}
	if found.catalog != nil {
		result.Digest = found.catalog.Digest
	}
	for i := range found.mistakes {
		result.Errors = append(result.Errors, problemOf(&found.mistakes[i]))
	}
	for i := range found.Problems {
		result.Warnings = append(result.Warnings, problemOf(&found.Problems[i]))
	}
	for i := range found.Silenced {
		s := &found.Silenced[i]
		p := problemOf(&s.Problem)
		p.Reason, p.By = s.Reason, s.By
		result.Silenced = append(result.Silenced, p)
	}
	return printJSON(out, result)
}
