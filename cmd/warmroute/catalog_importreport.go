package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/warmroute/warmroute/catalog/edit"
	"github.com/warmroute/warmroute/catalog/pricelist"
)

// importReport is what an import did or would do, as -o json prints it.
type importReport struct {
	List      string         `json:"list"`
	Written   bool           `json:"written"`
	Day       string         `json:"day,omitempty"` // as_of of rows that state none, from the file's time
	Rows      int            `json:"rows"`          // of the list, chat models only
	Added     int            `json:"added"`
	Updated   int            `json:"updated"`
	Unchanged int            `json:"unchanged"`
	Confirmed int            `json:"confirmed"`
	Undated   int            `json:"undated"`  // of unchanged: the list agrees, and would confirm them if it had a day
	Kept      map[string]int `json:"kept"`     // by reason
	Skipped   map[string]int `json:"skipped"`  // by reason
	NotRows   map[string]int `json:"not_rows"` // entries of the list that are no rows, by reason
	Vendors   []string       `json:"vendors_added"`
	NoRead    int            `json:"cache_read_unknown"` // routes added, updated or confirmed without a cache-read price
	Disputed  int            `json:"disputed"`           // routes about which lists disagree
	Routes    []importLine   `json:"routes"`
	Diff      string         `json:"diff"`              // of an existing catalog; empty: nothing changes
	Catalog   string         `json:"catalog,omitempty"` // the whole of a new one
}

// importLine is what became of one route.
type importLine struct {
	Status   string           `json:"status"`
	Model    string           `json:"model"`
	Vendor   string           `json:"vendor"`
	ID       string           `json:"id"`
	Reason   string           `json:"reason,omitempty"`
	Detail   string           `json:"detail,omitempty"`
	Changes  []differenceLine `json:"changes,omitempty"`
	Gone     []differenceLine `json:"gone,omitempty"` // prices that the list does not have any longer; they stay
	Disputes []string         `json:"disputes,omitempty"`
	Doubts   []importDoubt    `json:"doubts,omitempty"`

	changes, gone []edit.Difference
}

type importDoubt struct {
	Code    string `json:"code"`
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
}

func reportOf(im *edit.Imported, list *pricelist.List, fresh, written bool) *importReport {
	r := &importReport{List: list.Source, Written: written, Rows: len(list.Rows), Kept: map[string]int{}, Skipped: map[string]int{}, NotRows: map[string]int{},
		Vendors: slices.Clip(append([]string{}, im.Vendors...)), NoRead: im.NoRead(), Routes: []importLine{},
		Added: im.Count(edit.Added), Updated: im.Count(edit.Updated), Unchanged: im.Count(edit.Unchanged), Confirmed: im.Count(edit.Confirmed)}
	for reason, n := range im.NotRows {
		r.NotRows[string(reason)] = n
	}
	for _, l := range im.Lines {
		switch l.Status {
		case edit.Kept:
			r.Kept[l.Reason]++
		case edit.Skipped:
			r.Skipped[l.Reason]++
		}
		if l.Undated {
			r.Undated++
		}
		if len(l.Disputes) > 0 && l.Status != edit.Skipped {
			r.Disputed++
		}
		line := importLine{Status: string(l.Status), Model: l.Model, Vendor: l.Vendor, ID: l.ID, Reason: l.Reason, Detail: l.Detail,
			Changes: differenceLines(l.Changes), Gone: differenceLines(l.Gone), Disputes: l.Disputes, changes: l.Changes, gone: l.Gone}
		for _, d := range l.Doubts {
			line.Doubts = append(line.Doubts, importDoubt{string(d.Code), d.Field, d.Message})
		}
		r.Routes = append(r.Routes, line)
	}
	switch {
	case im.Result == nil:
	case fresh:
		r.Catalog = string(im.Text)
	default:
		r.Diff = im.Diff()
	}
	return r
}

// mostLines is how many routes of a kind the text names; -o json has all.
const mostLines = 40

// print writes the report in words: what deserves a look first, the sums last.
func (r *importReport) print(w io.Writer) error {
	var b strings.Builder
	r.list(&b, "updated", func(l *importLine) bool { return l.Status == string(edit.Updated) })
	r.list(&b, "kept, differs", func(l *importLine) bool { return l.Status == string(edit.Kept) })
	r.list(&b, "kept, no longer in the list", func(l *importLine) bool { return l.Status != string(edit.Kept) && len(l.gone) > 0 })
	r.list(&b, "not written", func(l *importLine) bool {
		return l.Status == string(edit.Skipped) && l.Reason != string(edit.VendorUnknown) && l.Reason != string(edit.VendorIsLocal)
	})
	r.list(&b, "lists disagree", func(l *importLine) bool { return len(l.Disputes) > 0 && l.Status != string(edit.Skipped) })
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	return r.sums(w)
}

// sums writes how many routes of each kind there are.
func (r *importReport) sums(w io.Writer) error {
	var b strings.Builder
	if r.Undated > 0 {
		fmt.Fprintf(&b, "note: the list agrees with %s more and states no day; --as-of DAY confirms them as of that day\n", count(r.Undated, "price"))
	}
	if r.Day != "" {
		fmt.Fprintf(&b, "as_of is %s where the list states no day: when its file was last changed; --as-of says another\n", r.Day)
	}
	verb := "would be "
	if r.Written || r.Catalog != "" {
		verb = ""
	}
	if len(r.Vendors) > 0 {
		fmt.Fprintf(&b, "new vendors, %sadded: %s\n", verb, strings.Join(r.Vendors, ", "))
	}
	fmt.Fprintf(&b, "%s: %s; routes: %d %sadded, %d %supdated, %d %sconfirmed, %d unchanged, %d kept%s, %d skipped%s\n", r.List, count(r.Rows, "row"),
		r.Added, verb, r.Updated, verb, r.Confirmed, verb, r.Unchanged, total(r.Kept), reasons(r.Kept), total(r.Skipped), reasons(r.Skipped))
	fmt.Fprintf(&b, "cache-read price unknown: %d of %d; lists disagree about %d\n", r.NoRead, r.Added+r.Updated+r.Confirmed+r.Unchanged, r.Disputed)
	if n := total(r.NotRows); n > 0 {
		fmt.Fprintf(&b, "entries that are no rows: %d%s\n", n, reasons(r.NotRows))
	}
	switch {
	case r.Catalog != "":
	case r.Diff == "":
		b.WriteString("nothing changes\n")
	case !r.Written:
		b.WriteString("nothing is written yet; to make the change, add --write\n")
	default:
		b.WriteString("the catalog is written\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// list names the routes of one kind.
func (r *importReport) list(b *strings.Builder, what string, is func(l *importLine) bool) {
	n := 0
	for i := range r.Routes {
		l := &r.Routes[i]
		if !is(l) {
			continue
		}
		if n++; n > mostLines {
			continue
		}
		fmt.Fprintf(b, "%s: %s at %s (%s)", what, l.Model, l.Vendor, l.ID)
		switch {
		case what == "lists disagree":
			b.WriteString(": " + strings.Join(l.Disputes, "; "))
		case strings.HasPrefix(what, "kept, no"):
			b.WriteString(": " + fields(l.gone))
		default:
			if l.Reason != "" {
				fmt.Fprintf(b, ": %s: %s", l.Reason, l.Detail)
			}
			if text := fields(l.changes); text != "" && l.Status != string(edit.Skipped) {
				b.WriteString(": " + text)
			}
		}
		b.WriteByte('\n')
	}
	if n > mostLines {
		fmt.Fprintf(b, "%s: and %d more; -o json lists all\n", what, n-mostLines)
	}
}

// fields are differences on one line, in which the catalog's figure stands first.
func fields(all []edit.Difference) string {
	texts := make([]string, len(all))
	for i, d := range all {
		field := strings.TrimPrefix(d.Field, "price.")
		switch d.Kind() {
		case "added":
			texts[i] = field + " unknown -> " + d.To
		case "removed":
			texts[i] = field + " " + d.From
		default:
			texts[i] = field + " " + d.From + " -> " + d.To
			if d.Change != "" {
				texts[i] += " (" + d.Change + " %)"
			}
		}
	}
	return strings.Join(texts, ", ")
}

func total(counts map[string]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// reasons are counts by reason, such as " (own_price 3, older_list 1)".
func reasons(counts map[string]int) string {
	var all []string
	for _, reason := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, fmt.Sprintf("%s %d", reason, counts[reason]))
	}
	if len(all) == 0 {
		return ""
	}
	return " (" + strings.Join(all, ", ") + ")"
}
