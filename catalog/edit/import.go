package edit

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/catalog/pricelist"
	"github.com/warmroute/warmroute/pricing"
)

// Options say what of a list is imported, and how.
//
// The zero Options import all of it and keep what is somebody's own.
type Options struct {
	Models  []string          // patterns as of [path.Match], for a name, an alias or the part of one after its slash; empty: all
	Vendors []string          // of the list or of the catalog; empty: all
	Compare []*pricelist.List // other lists: where they disagree is marked on new entries, and reported
	Force   bool              // prices that are somebody's own are overwritten
	Only    bool              // routes that the catalog has are brought up to date, and none is added
	AsOf    string            // the day the prices are of, whatever the list says; empty: what it says
	Day     string            // the day for rows that do not say; empty: none
}

// Status says what became of a row.
type Status string

// What becomes of a row, or of a route that the list has a row for.
const (
	Added     Status = "added"     // a new route
	Updated   Status = "updated"   // prices of the route changed
	Unchanged Status = "unchanged" // its prices are those of the list
	Confirmed Status = "confirmed" // so they are, and were read later: its day is the list's now, and its source names the list
	Kept      Status = "kept"      // it differs, and stays as it is
	Skipped   Status = "skipped"   // it is not written
)

// Reason says why a row was kept or skipped.
type Reason string

// The reasons, beside the codes of [pricelist.Code] for rows that a check doubts.
const (
	HandMade      Reason = "own_price"      // the price is of another source
	CommentInside Reason = "comment_inside" // a list would be replaced in which a comment stands
	WindowsDiffer Reason = "windows_differ" // hours cannot be joined with others
	PeriodsDiffer Reason = "periods_differ" // periods cannot be joined with others
	OlderList     Reason = "older_list"     // the catalog's price is of a later day than the list's
	OtherID       Reason = "other_id"       // the catalog's route has another upstream id, which may cost something else
	VendorUnknown Reason = "vendor_unknown" // the catalog does not have the vendor, and we do not know its address
	VendorIsLocal Reason = "vendor_address" // the same, and its address holds an account or a region
	NameTaken     Reason = "name_taken"     // the model's name is a policy's
	NameUnfit     Reason = "name_unfit"     // an id or a name that no catalog takes
)

// slips are the doubts for which a row is not written, the plainest first.
var slips = []pricelist.Code{pricelist.UnitSlip, pricelist.Swapped, pricelist.LostDecimal, pricelist.UnusualPrice, pricelist.ZeroPrice, pricelist.ReadAboveInput}

// Line is what became of one row.
type Line struct {
	Status  Status
	Model   string // of the catalog, or the one that the row proposes
	Vendor  string
	ID      string // the vendor's id of the model
	Reason  string // a [Reason] or a [pricelist.Code]; empty where none is needed
	Detail  string // the reason in words
	Changes []Difference
	// Gone are known prices of the catalog that the same list does not have any
	// longer; they stay.
	Gone []Difference
	// NoRead says that the list does not know what a read from the cache costs.
	NoRead bool
	// Undated: the list agrees with the price, and would confirm it if it had a day.
	Undated bool
	// Disputes say where other lists disagree, one sentence for each field.
	Disputes []string
	Doubts   []pricelist.Flag // what the reader found that is no reason to leave the row out
}

// Imported is an import that has been worked out.
type Imported struct {
	*Result                          // nil where nothing is to be changed
	Lines   []Line                   // routes of the catalog first, then new ones in the order of the list
	Vendors []string                 // new ones
	NotRows map[pricelist.Reason]int // entries of the list that are no rows, by reason
}

// NoRead counts the routes written or confirmed whose cache-read price the list
// does not know.
func (im *Imported) NoRead() int {
	n := 0
	for i := range im.Lines {
		if l := &im.Lines[i]; l.NoRead && l.Status != Kept && l.Status != Skipped {
			n++
		}
	}
	return n
}

// Count is the number of lines of a status.
func (im *Imported) Count(s Status) int {
	n := 0
	for i := range im.Lines {
		if im.Lines[i].Status == s {
			n++
		}
	}
	return n
}

// ErrNothing is an import of which nothing matches the patterns.
var ErrNothing = errors.New("nothing in the list is of these models and vendors")

// Import brings a list into a catalog. Without one, d is nil and the result is a
// new catalog, in its canonical form.
//
// The rows of the list and of those it is compared with get their flags here, see
// [pricelist.Check]. The catalog's routes are matched by the vendor's id of the
// model; those of the same source, or without a price, take the list's prices. A price
// of a vendor's page or of another list that the list confirms, figure by figure and at
// a later day, takes its day, and its source says that the list confirms it.
//
// The error is [ErrNothing], one of [Document.Edit], or says that the catalog is
// not in dollars, which all lists are.
func Import(file string, d *Document, list *pricelist.List, o Options) (*Imported, error) {
	if d != nil && d.Catalog.Currency != "USD" {
		return nil, fmt.Errorf("%s: its prices are in %s and those of the lists in USD; nothing was imported", file, d.Catalog.Currency)
	}
	pricelist.Check(append([]*pricelist.List{list}, o.Compare...)...)
	k, err := knownVendors()
	if err != nil {
		return nil, err
	}
	im := &importer{Options: o, Document: d, list: list, known: k, out: &Imported{NotRows: map[pricelist.Reason]int{}},
		disputes: map[pair]*pricelist.Disagreement{}, vendors: map[string]bool{}, taken: map[pair]bool{}, added: map[pair]bool{}}
	for _, s := range list.Skipped {
		im.out.NotRows[s.Reason]++
	}
	disagreements := pricelist.Compare(append([]*pricelist.List{list}, o.Compare...)...)
	for i := range disagreements {
		im.disputes[pair{disagreements[i].Model, disagreements[i].Vendor}] = &disagreements[i]
	}
	if d != nil {
		im.existing()
	}
	if !o.Only || d == nil {
		im.fresh()
	}
	if len(im.out.Lines) == 0 {
		return nil, ErrNothing
	}
	return im.out, im.write(file)
}

// pair is a model at a vendor.
type pair struct{ model, vendor string }

// importer works one import out.
type importer struct {
	Options
	*Document
	list     *pricelist.List
	known    *known
	out      *Imported
	disputes map[pair]*pricelist.Disagreement
	changes  []Change
	lineOf   []int           // of the line that a change is for; -1 for a vendor's
	vendors  map[string]bool // new ones that a change adds
	taken    map[pair]bool   // (list's model, list's vendor) pairs that a route of the catalog has
	added    map[pair]bool   // (catalog's model, catalog's vendor) pairs of new routes
	models   []*newModel
}

func (im *importer) change(line int, c Change) {
	im.changes, im.lineOf = append(im.changes, c), append(im.lineOf, line)
}

// wants says whether the patterns let a model at a vendor pass.
func (im *importer) wants(names, vendors []string) bool {
	if len(im.Vendors) > 0 && !slices.ContainsFunc(vendors, func(v string) bool { return slices.Contains(im.Vendors, v) }) {
		return false
	}
	if len(im.Models) == 0 {
		return true
	}
	for _, name := range names {
		_, base, _ := strings.Cut(name, "/")
		for _, pattern := range im.Models {
			if ok, err := path.Match(pattern, name); ok && err == nil {
				return true
			}
			if ok, err := path.Match(pattern, base); ok && err == nil {
				return true
			}
		}
	}
	return false
}

// identity is what an id of a model at a vendor is about.
type identity struct{ vendor, model, region, variant string }

// index finds the row of a list that a route of a catalog is about.
type index struct {
	byKey      map[string]*pricelist.Row
	byID       map[[2]string]*pricelist.Row // the list's vendor and its id of the model
	byIdentity map[identity]*pricelist.Row
	vendors    map[string][]string // the list's, of a catalog's
}

// indexOf reads a list. Where several rows are about the same id, such as one for
// each region, the plainest stands for it.
func indexOf(l *pricelist.List) *index {
	x := &index{map[string]*pricelist.Row{}, map[[2]string]*pricelist.Row{}, map[identity]*pricelist.Row{}, map[string][]string{}}
	add := func(row *pricelist.Row) {
		if id := [2]string{row.Vendor, row.UpstreamModel}; x.byID[id] == nil {
			x.byID[id] = row
		}
		if who := (identity{row.Vendor, row.Model, row.Region, row.Variant}); x.byIdentity[who] == nil {
			x.byIdentity[who] = row
		}
	}
	for _, row := range l.Routes() {
		add(row)
	}
	for i := range l.Rows {
		row := &l.Rows[i]
		add(row)
		if key := printable(row.Key); x.byKey[key] == nil {
			x.byKey[key] = row
		}
		for _, name := range familyOf(row.Vendor) {
			if !slices.Contains(x.vendors[name], row.Vendor) {
				x.vendors[name] = append(x.vendors[name], row.Vendor)
			}
		}
	}
	return x
}

// row is the row of a route: that which its price names, else that of its id, else
// one that is about the same model in the same region and variant.
func (x *index) row(r *catalog.Route, list string) *pricelist.Row {
	for _, vendor := range x.vendors[r.Vendor.Name] {
		if isOf(r.Price, list) {
			key := strings.TrimPrefix(r.Price[len(r.Price)-1].Source, list+" ")
			if row := x.byKey[key]; row != nil && row.Vendor == vendor && row.UpstreamModel == r.UpstreamModel {
				return row
			}
		}
		if row := x.byID[[2]string{vendor, r.UpstreamModel}]; row != nil {
			return row
		}
		model, region, variant := pricelist.ModelName(vendor, r.UpstreamModel)
		if row := x.byIdentity[identity{vendor, model, region, variant}]; row != nil {
			return row
		}
	}
	return nil
}

// existing brings the catalog's own routes up to date.
func (im *importer) existing() {
	x := indexOf(im.list)
	for _, m := range im.Catalog.Models {
		for _, r := range m.Routes {
			row := x.row(r, im.list.Source)
			if row == nil {
				continue
			}
			im.taken[pair{row.Model, row.Vendor}] = true
			if im.wants(append([]string{m.Name, row.Model}, m.Aliases...), []string{row.Vendor, r.Vendor.Name}) {
				im.refresh(r, row)
			}
		}
	}
}

// doubt is the first reason for which a row is not written, empty without one.
func doubt(row *pricelist.Row) (code, why string) {
	for _, slip := range slips {
		for _, f := range row.Flags {
			if f.Code == slip {
				return string(f.Code), f.Message
			}
		}
	}
	return "", ""
}

// noRead says whether a row's ordinary price, the latest if there are several, has
// no cache read.
func noRead(row *pricelist.Row) bool {
	return !row.Price[len(row.Price)-1].Card.CacheRead.Known()
}

// doubts are the others.
func doubts(row *pricelist.Row) []pricelist.Flag {
	var all []pricelist.Flag
	for _, f := range row.Flags {
		if !slices.Contains(slips, f.Code) {
			all = append(all, f)
		}
	}
	return all
}

// disputed are the sentences on where other lists disagree about a row, by the
// key of a price that each is about.
func (im *importer) disputed(row *pricelist.Row) (fields map[string]string, all []string) {
	d := im.disputes[pair{row.Model, row.Vendor}]
	if d == nil {
		return nil, nil
	}
	fields = map[string]string{}
	for _, field := range d.Fields {
		var sides []string
		for i := range d.Figures {
			if f := &d.Figures[i]; f.List != im.list.Source {
				sides = append(sides, f.List+": "+show(f, field))
			}
		}
		text := strings.Join(sides, ", ")
		fields[field] = text
		all = append(all, field+": "+text)
	}
	return fields, all
}

// show is what a list says of a field.
func show(f *pricelist.Figure, field string) string {
	card := f.Card
	for _, r := range catalog.KeyedRates(&card) {
		if r.Key == field {
			return r.Rate.String()
		}
	}
	switch field {
	case "tiers":
		if len(f.Tiers) == 0 {
			return "none"
		}
		var all []string
		for _, t := range f.Tiers {
			all = append(all, fmt.Sprintf("above %d %s/%s/%s", t.Above, t.Card.Input, t.Card.Output, t.Card.CacheRead))
		}
		return strings.Join(all, " ")
	case "periods":
		return fmt.Sprintf("%d of them", len(f.Row.Price))
	}
	bands := f.Row.Price[f.Period].ServiceTiers
	var all []string
	for _, name := range slices.Sorted(maps.Keys(bands)) {
		card := bands[name].Card
		all = append(all, fmt.Sprintf("%s %s/%s/%s", name, card.Input, card.Output, card.CacheRead))
	}
	return strings.Join(all, " ")
}

// refresh brings one route of the catalog up to date with a row.
func (im *importer) refresh(r *catalog.Route, row *pricelist.Row) {
	line := Line{Status: Unchanged, Model: r.Model.Name, Vendor: r.Vendor.Name, ID: r.UpstreamModel, Doubts: doubts(row), NoRead: noRead(row)}
	defer func() { im.out.Lines = append(im.out.Lines, line) }()
	_, line.Disputes = im.disputed(row)
	if code, why := doubt(row); code != "" {
		line.Status, line.Reason, line.Detail = Skipped, code, why
		return
	}
	price := aligned(r.Price, im.dated(row))
	changes, gone := priceDifferences(r.Price, price)
	line.Changes = changes
	own := r.Price == nil || !anyKnown(r.Price) || isOf(r.Price, im.list.Source)
	if own {
		line.Gone = gone
	}
	if !own && !im.Force {
		if len(line.Changes) == 0 && len(gone) == 0 && isPublic(r.Price) {
			im.confirm(r, im.stated(row), &line)
			return
		}
		if len(line.Changes) > 0 {
			line.Status, line.Reason = Kept, string(HandMade)
			line.Detail = "the price is of " + sourceOf(r.Price) + ", not of " + im.list.Source
		}
		return
	}
	if was, is := newestDay(r.Price), newestDay(price); was > is && is != "" && !im.Force {
		if len(line.Changes) > 0 {
			line.Status, line.Reason = Kept, string(OlderList)
			line.Detail = "the price is of " + was + ", the list's of " + is
		}
		return
	}
	merged, why := mergePrice(r.Price, price)
	if why != "" {
		line.Status, line.Reason = Kept, string(why)
		line.Detail = "its periods or the hours of its windows are not those of the list; change them by hand"
		return
	}
	if len(line.Changes) > 0 {
		line.Status = Updated
	}
	im.change(len(im.out.Lines), Change{
		Path:  Path{Key("models"), Key(r.Model.Name), Key("routes"), Entry("vendor", r.Vendor.Name), Key("price")},
		Value: PriceValue(merged, im.unit()),
	})
}

// confirm gives a price that the list confirms the list's day, and names the list
// beside its source; an older list confirms nothing, nor one of an unknown day. The
// price stays its source's: it is not overwritten when the list changes its mind.
func (im *importer) confirm(r *catalog.Route, day string, line *Line) {
	line.Undated = day == ""
	if day == "" || newestDay(r.Price) >= day {
		return
	}
	const by = ", confirmed by "
	price := slices.Clone(r.Price)
	for i := range price {
		source, _, _ := strings.Cut(price[i].Source, by)
		price[i].AsOf, price[i].Source = day, source+by+im.list.Source
	}
	line.Status = Confirmed
	im.change(len(im.out.Lines), Change{
		Path:  Path{Key("models"), Key(r.Model.Name), Key("routes"), Entry("vendor", r.Vendor.Name), Key("price")},
		Value: PriceValue(price, im.unit()),
	})
}

// unit is the unit of the catalog's prices.
func (im *importer) unit() pricing.Unit {
	if im.Document == nil {
		return pricing.PerMillionTokens
	}
	if n := im.root.get("unit"); n != nil {
		if u, ok := pricing.ParseUnit(n.text); ok {
			return u
		}
	}
	return pricing.PerMillionTokens
}
