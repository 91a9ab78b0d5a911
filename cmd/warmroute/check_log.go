package main

import (
	"context"
	"log/slog"
	"strings"
	"time"
	"unicode"

	"github.com/warmroute/warmroute/catalog"
)

// remarks logs what check would warn of in each catalog in force, and the credentials
// that are left out: a few of each kind, the others counted, and of what the catalog
// before it had already nothing. The zero remarks have told nothing yet. They are not
// safe for concurrent use.
type remarks struct {
	told map[string]bool // the findings of the last catalog, by remarkOf
}

// about logs what is new in a catalog. Where its file cannot be read once more, such
// as standard input, it logs what the reader remarked. Where no vendor has a key one
// line says so, in place of one for each.
func (r *remarks) about(log *slog.Logger, cat *catalog.Catalog, now time.Time) {
	found, err := catalog.LintFile(cat, now)
	problems := found.Problems
	if err != nil || len(problems) == 0 {
		problems = cat.Warnings
	}
	keyless := keyless(cat)
	told, count, more := map[string]bool{}, map[string]int{}, []string{}
	for i := range problems {
		p := &problems[i]
		if p.Severity == catalog.SeverityNote && p.Code != catalog.CodeCredential {
			continue
		}
		remark := remarkOf(p)
		told[remark] = true
		if r.told[remark] || keyless != "" && p.Code == catalog.CodeCredential {
			continue
		}
		switch count[p.Code]++; {
		case count[p.Code] <= tellInFull:
			log.Warn("catalog", "warning", p.String(), "code", p.Code)
		case count[p.Code] == tellInFull+1:
			more = append(more, p.Code)
		}
	}
	for _, code := range more {
		log.Warn("catalog: more of one kind; warmroute check --format json lists all", "code", code, "more", count[code]-tellInFull)
	}
	if keyless != "" {
		log.Warn(keyless)
	}
	r.told = told
}

// remarkOf tells whether a finding was there before: the same, at the same route or
// vendor. Lines and figures, such as the age of a price, may have moved.
func remarkOf(p *catalog.Problem) string {
	return p.Code + "\x00" + p.Where + "\x00" + strings.Map(func(c rune) rune {
		if unicode.IsDigit(c) {
			return -1
		}
		return c
	}, p.Wrong())
}

// follow logs what is new in the catalog in force whenever again says that another may
// be, until ctx ends. It keeps whoever reloads from waiting for the lint.
func (r *remarks) follow(ctx context.Context, log *slog.Logger, current func() *catalog.Catalog, again <-chan struct{}) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-again:
			r.about(log, current(), time.Now())
		}
	}
}
