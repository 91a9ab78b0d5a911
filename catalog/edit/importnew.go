package edit

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/catalog/pricelist"
)

// newModel is a model that the catalog does not have.
type newModel struct {
	name    string
	context int64
	routes  []Value
	lines   []int
}

// fresh adds what the catalog does not have.
func (im *importer) fresh() {
	byName := map[string]*newModel{}
	for _, row := range im.list.Routes() {
		if im.taken[pair{row.Model, row.Vendor}] {
			continue
		}
		vendor, isNew := im.vendorFor(row)
		as := vendor
		if as == "" {
			as = row.Vendor
		}
		model, route, isPolicy := im.place(row, vendor)
		names := []string{row.Model}
		if model != nil {
			names = append(append(names, model.Name), model.Aliases...)
		}
		if !im.wants(names, []string{row.Vendor, as}) {
			continue
		}
		line := Line{Status: Added, Model: row.Model, Vendor: as, ID: row.UpstreamModel, Doubts: doubts(row), NoRead: noRead(row)}
		if model != nil {
			line.Model = model.Name
		}
		disputed, all := im.disputed(row)
		line.Disputes = all
		code, why := doubt(row)
		switch {
		case code != "":
			line.Status, line.Reason, line.Detail = Skipped, code, why
		case route != nil:
			line.Status, line.Reason = Kept, string(OtherID)
			line.Detail = fmt.Sprintf("the catalog's route has the id %s, which may cost something else", route.UpstreamModel)
		case vendor == "" && slices.Contains(localOnly, row.Vendor):
			line.Status, line.Reason = Skipped, string(VendorIsLocal)
			line.Detail = "the catalog has no vendor " + row.Vendor + ", and its address holds an account or a region; add it to the catalog first"
		case vendor == "":
			line.Status, line.Reason = Skipped, string(VendorUnknown)
			line.Detail = "the catalog has no vendor " + row.Vendor + ", and its address is not known; add it to the catalog first"
		case im.added[pair{line.Model, vendor}]:
			line.Status, line.Reason = Skipped, string(OtherID)
			line.Detail = "the list has another id of the model at this vendor, which comes first"
		case isPolicy:
			line.Status, line.Reason = Skipped, string(NameTaken)
			line.Detail = "a policy of the catalog has this name"
		case !fit(row.Model) || !fit(row.UpstreamModel):
			line.Status, line.Reason = Skipped, string(NameUnfit)
			line.Detail = "the name or the id is none that a catalog takes"
		}
		if line.Status == Added {
			im.added[pair{line.Model, vendor}] = true
			if isNew {
				im.addVendor(row, vendor)
			}
			im.add(row, vendor, model, byName, disputed)
			line.Changes, _ = priceDifferences(nil, row.Price)
		}
		im.out.Lines = append(im.out.Lines, line)
	}
}

// fit says whether a name may stand in a catalog.
func fit(name string) bool {
	return name != "" && len(name) <= 256 && !strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c == 0x7f || c >= 0x80 })
}

// vendorFor is the vendor of the catalog that a row is for, or a new one.
func (im *importer) vendorFor(row *pricelist.Row) (name string, isNew bool) {
	family := familyOf(row.Vendor)
	if im.Document != nil {
		for _, as := range family {
			if v, ok := im.Catalog.Vendor(as); ok && serves(v, family, row.Model) {
				return as, false
			}
		}
	}
	as, _, ok := im.known.vendor(row.Vendor, row.Model)
	if !ok {
		return "", false
	}
	if im.Document != nil {
		if _, there := im.Catalog.Vendor(as); there {
			return "", false // it is there and does not serve such models
		}
	}
	return as, true
}

// place is the model of the catalog that a row is for, and the route that it has
// at the vendor already.
func (im *importer) place(row *pricelist.Row, vendor string) (m *catalog.Model, r *catalog.Route, isPolicy bool) {
	if im.Document == nil {
		return nil, nil, false
	}
	target, ok := im.Catalog.Resolve(row.Model)
	if !ok {
		return nil, nil, false
	}
	if target.Policy != nil {
		return nil, nil, true
	}
	m = target.Models[0]
	for _, r := range m.Routes {
		if r.Vendor.Name == vendor {
			return m, r, false
		}
	}
	return m, nil, false
}

func (im *importer) addVendor(row *pricelist.Row, name string) {
	if im.vendors[name] {
		return
	}
	im.vendors[name] = true
	_, entry, _ := im.known.vendor(row.Vendor, row.Model)
	im.out.Vendors = append(im.out.Vendors, name)
	im.change(-1, Change{Path: Path{Key("vendors"), Key(name)}, Value: entry})
}

// add adds one route, to a model of the catalog or to a new one.
func (im *importer) add(row *pricelist.Row, vendor string, m *catalog.Model, byName map[string]*newModel, disputed map[string]string) {
	line := len(im.out.Lines)
	route := im.route(row, vendor, disputed)
	if m != nil {
		im.change(line, Change{Path: Path{Key("models"), Key(m.Name), Key("routes")}, Value: route, Append: true})
		return
	}
	fresh, ok := byName[row.Model]
	if !ok {
		fresh = &newModel{name: row.Model}
		byName[row.Model] = fresh
		im.models = append(im.models, fresh)
	}
	if fresh.context < row.Context {
		fresh.context = row.Context
	}
	fresh.routes, fresh.lines = append(fresh.routes, route), append(fresh.lines, line)
}

// route is a new route, with comments where lists disagree.
func (im *importer) route(row *pricelist.Row, vendor string, disputed map[string]string) Value {
	price := PriceValue(im.dated(row), im.unit())
	comment := ""
	for _, f := range row.Flags {
		if f.Code == pricelist.FarFromMedian || f.Code == pricelist.PricedTwice || f.Code == pricelist.OutputBelowInput {
			disputed = maps.Clone(disputed)
			if disputed == nil {
				disputed = map[string]string{}
			}
			disputed[f.Field] = strings.TrimPrefix(disputed[f.Field]+"; "+f.Message, "; ")
		}
	}
	for _, field := range slices.Sorted(maps.Keys(disputed)) {
		at := slices.IndexFunc(price.fields, func(f Field) bool { return f.Key == field })
		if at >= 0 {
			price.fields[at].Comment = disputed[field]
			continue
		}
		comment = strings.TrimPrefix(comment+"; "+strings.TrimPrefix(field+": ", ": ")+disputed[field], "; ")
	}
	fields := []Field{{Key: "vendor", Value: Text(vendor)}, {Key: "model", Value: Text(row.UpstreamModel)}, {Key: "price", Value: price, Comment: comment}}
	if row.MinPrefix > 0 && row.MinPrefix != im.minPrefix(vendor) {
		fields = append(fields, Field{Key: "cache", Value: Map(Field{Key: "min_prefix", Value: Count(row.MinPrefix)})})
	}
	return Map(fields...)
}

// minPrefix is the shortest prefix that the vendor's own entry states, 0 without one.
func (im *importer) minPrefix(vendor string) int64 {
	if im.Document != nil {
		if v, ok := im.Catalog.Vendor(vendor); ok {
			return v.Cache.MinPrefix
		}
	}
	n := im.known.starter.get(vendor).get("cache").get("min_prefix")
	if n == nil {
		return 0
	}
	tokens, _ := strconv.ParseInt(n.text, 10, 64)
	return tokens
}

// value is the model as it is written.
func (m *newModel) value() Value {
	var fields []Field
	if m.context > 0 {
		fields = append(fields, Field{Key: "context", Value: Count(m.context)})
	}
	return Map(append(fields, Field{Key: "routes", Value: List(m.routes...)})...)
}

// write makes the changes. One that cannot be made leaves its route as it is, and
// the others are made without it.
func (im *importer) write(file string) error {
	if im.Document == nil {
		return im.writeNew(file)
	}
	for _, m := range im.models {
		im.change(-1, Change{Path: Path{Key("models"), Key(m.name)}, Value: m.value()})
	}
	for {
		result, err := im.Edit(im.changes...)
		var refusals Refusals
		if !errors.As(err, &refusals) {
			if err != nil {
				return err
			}
			im.out.Result = result
			return im.verify()
		}
		for _, r := range slices.Backward(refusals) {
			line := im.lineOf[r.Change]
			if line < 0 {
				return err
			}
			l := &im.out.Lines[line]
			l.Status, l.Reason, l.Detail = Kept, string(CommentInside), r.Why
			im.changes = slices.Delete(im.changes, r.Change, r.Change+1)
			im.lineOf = slices.Delete(im.lineOf, r.Change, r.Change+1)
		}
	}
}

// verify compares the catalogs before and after: nothing may differ but what a
// line says.
func (im *importer) verify() error {
	about := map[string]bool{}
	for _, v := range im.out.Vendors {
		about[fmt.Sprintf("vendor %q", v)] = true
	}
	for _, l := range im.out.Lines {
		if l.Status == Added || l.Status == Updated || l.Status == Unchanged || l.Status == Confirmed {
			about[fmt.Sprintf("model %q, route %q", l.Model, l.Vendor)] = true
			if l.Status == Added {
				about[fmt.Sprintf("model %q", l.Model)] = true
			}
		}
	}
	for _, d := range Differences(im.Catalog, im.out.Catalog) {
		if !about[d.Where] {
			return fmt.Errorf("%s: %w: %s", im.File, ErrUnsure, d)
		}
	}
	return nil
}

// writeNew writes a catalog that is not there yet.
func (im *importer) writeNew(file string) error {
	if len(im.models) == 0 {
		return nil
	}
	w := &writer{manner: manner{step: 2, dash: 2, crlf: "\n"}}
	w.WriteString("version: 1\ncurrency: USD\nunit: per_million\n")
	var vendors, models []Field
	for _, c := range im.changes {
		vendors = append(vendors, Field{Key: c.Path[1].key, Value: c.Value})
	}
	for _, m := range im.models {
		models = append(models, Field{Key: m.name, Value: m.value()})
	}
	for _, section := range []Field{{Key: "vendors", Value: Map(vendors...)}, {Key: "models", Value: Map(models...)}} {
		w.field(section, 0, nil, -1)
		w.newline(0)
	}
	text, err := Format(file, []byte(w.String()))
	if err != nil {
		return err
	}
	d, err := Open(file, text)
	if err != nil {
		return err
	}
	im.out.Result = &Result{Document: d, splices: []splice{{0, 0, string(text)}}}
	return nil
}
