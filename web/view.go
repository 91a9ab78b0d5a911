package web

import (
	"fmt"
	"strings"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
)

// page is what the template of the turns shows.
type page struct {
	Catalog  string
	Currency string
	Counts   []outcomeCount
	Rows     []row
}

type outcomeCount struct {
	Outcome string
	Turns   int
}

// row is one turn as text.
type row struct {
	Time, Session, Source, Target, Outcome, Detail, Vendor, Pinned, Displaced, Gate, Prompt, Read, Output, Cost, Tries string
}

// turnsView puts the newest turn first and counts the outcomes in the order in
// which they were first met.
func turnsView(c *catalog.Catalog, turns []engine.Turn) page {
	p := page{Catalog: c.Digest[:12], Currency: c.Currency}
	place := map[string]int{}
	for i := len(turns) - 1; i >= 0; i-- {
		r := turnRow(&turns[i])
		p.Rows = append(p.Rows, r)
		if _, seen := place[r.Outcome]; !seen {
			place[r.Outcome] = len(p.Counts)
			p.Counts = append(p.Counts, outcomeCount{Outcome: r.Outcome})
		}
		p.Counts[place[r.Outcome]].Turns++
	}
	return p
}

func turnRow(t *engine.Turn) row {
	r := row{Time: t.Started.UTC().Format(time.TimeOnly), Session: short(t.Session.ID), Source: t.Session.Source(), Target: t.Target, Tries: fmt.Sprint(len(t.Attempts))}
	last, ok := t.Last()
	if !ok {
		r.Outcome, r.Vendor = "–", "not sent"
		return r
	}
	f := t.Decision.Models[last.Finding]
	r.Outcome, r.Detail, r.Pinned, r.Displaced, r.Gate = string(f.Outcome), string(f.Detail), f.Pinned, f.Displaced, gateText(f)
	r.Vendor = last.Candidate.Route.Vendor.Name
	if last.Stage != engine.StageServed {
		r.Vendor += " (" + stageText(last) + ")"
	}
	r.Prompt, r.Read, r.Output, r.Cost = "unknown", "unknown", "unknown", "unknown"
	if last.Quality.Complete() {
		r.Prompt, r.Read, r.Output = fmt.Sprint(last.Usage.Prompt()), fmt.Sprint(last.Usage.CacheRead), fmt.Sprint(last.Usage.Output)
	}
	if last.Cost.Known {
		r.Cost = last.Cost.Total.String()
	}
	return r
}

func stageText(a *engine.Attempt) string {
	if a.Stage == engine.StageRefused {
		return "refused: " + string(a.Failure)
	}
	return string(a.Stage)
}

// gateText is what the gate compared, as a sentence of prices.
func gateText(f engine.Finding) string {
	if f.Gate == "" {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "read %s, own input %s", f.Verdict.CacheRead, f.Verdict.Input)
	for _, rival := range f.Verdict.Rivals {
		fmt.Fprintf(&b, ", %s %s", rival.Vendor, rival.Input)
	}
	if f.Verdict.Reason != pricing.Pays {
		fmt.Fprintf(&b, " (%s)", f.Verdict.Reason)
	}
	return b.String()
}

// short keeps a session's id readable in a table.
func short(id string) string {
	runes := []rune(id)
	if len(runes) <= 20 {
		return id
	}
	return string(runes[:19]) + "…"
}
