package main

import (
	"log/slog"
	"time"

	"github.com/warmroute/warmroute/catalog"
)

// logFindings logs what check would warn of, and the credentials that are left out:
// a few of each kind, the others counted. Where the file cannot be read once more,
// such as standard input, it logs what the reader remarked.
func logFindings(log *slog.Logger, cat *catalog.Catalog, now time.Time) {
	found, err := catalog.LintFile(cat, now)
	problems := found.Problems
	if err != nil || len(problems) == 0 {
		problems = cat.Warnings
	}
	told, more := map[string]int{}, []string{}
	for i := range problems {
		p := &problems[i]
		if p.Severity == catalog.SeverityNote && p.Code != catalog.CodeCredential {
			continue
		}
		switch told[p.Code]++; {
		case told[p.Code] <= tellInFull || p.Code == catalog.CodeCredential:
			log.Warn("catalog", "warning", p.String(), "code", p.Code)
		case told[p.Code] == tellInFull+1:
			more = append(more, p.Code)
		}
	}
	for _, code := range more {
		log.Warn("catalog: more of one kind; warmroute check --format json lists all", "code", code, "more", told[code]-tellInFull)
	}
}
