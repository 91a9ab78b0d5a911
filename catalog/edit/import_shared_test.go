package edit

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/catalog/pricelist"
)

// sharedLists are the real lists, in the order of the manual.
func sharedLists(t *testing.T) []*pricelist.List {
	t.Helper()
	var lists []*pricelist.List
	for _, l := range [][2]string{
		{pricelist.LiteLLM, "litellm.json.gz"}, {pricelist.ModelsDev, "models-dev.json.gz"}, {pricelist.OpenRouter, "openrouter-models.json.gz"},
		{pricelist.Portkey, "portkey-pricing.json.gz"}, {pricelist.GenaiPrices, "genai-prices-v2.json.gz"},
	} {
		f, err := os.Open(filepath.Join("..", "..", "..", "shared", "data", "prices", l[1]))
		if os.IsNotExist(err) {
			t.Skip("the price lists of ../shared/data/prices are not here")
		}
		if err != nil {
			t.Fatal(err)
		}
		list, err := pricelist.Read(l[0], f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		lists = append(lists, list)
	}
	return lists
}

// TestSharedImport imports each whole list into a new catalog, compared with all
// the others: it loads within the limits, and a second import changes nothing.
func TestSharedImport(t *testing.T) {
	lists := sharedLists(t)
	for i, list := range lists {
		t.Run(list.Source, func(t *testing.T) {
			others := slices.Concat(lists[:i], lists[i+1:])
			im, err := Import("new.yaml", nil, list, Options{Compare: others, Day: "2026-08-21"})
			if err != nil {
				t.Fatal(err)
			}
			c, err := catalog.Parse("new.yaml", im.Text)
			if err != nil {
				t.Fatal(err)
			}
			routes := 0
			for _, m := range c.Models {
				routes += len(m.Routes)
			}
			if routes != im.Count(Added) || len(im.Text) > catalog.MaxSize {
				t.Errorf("%d routes in %d bytes, the report says %d", routes, len(im.Text), im.Count(Added))
			}
			reasons := map[string]int{}
			disputes := 0
			for _, l := range im.Lines {
				if l.Status == Skipped {
					reasons[l.Reason]++
				}
				if l.Status == Added && len(l.Disputes) > 0 {
					disputes++
				}
			}
			t.Logf("%-12s rows %d, routes %d at %d vendors for %d models, %d bytes; cache read unknown %d; disputed %d; skipped %s; no rows %s; warnings %d",
				list.Source, len(list.Rows), routes, len(c.Vendors), len(c.Models), len(im.Text), im.NoRead(), disputes, counted(reasons), counted(im.NotRows), len(c.Warnings))
			d, err := Open("new.yaml", im.Text)
			if err != nil {
				t.Fatal(err)
			}
			again, err := Import("new.yaml", d, list, Options{Compare: others, Day: "2026-08-21"})
			if err != nil {
				t.Fatal(err)
			}
			if again.Changed() || again.Count(Added) > 0 || again.Count(Updated) > 0 || again.Count(Unchanged) < routes {
				t.Errorf("a second import: %d added, %d updated, %d unchanged, %d kept\n%.2000s", again.Count(Added), again.Count(Updated), again.Count(Unchanged), again.Count(Kept), again.Diff())
			}
		})
	}
}

// TestSharedImportIntoStarter brings each list into the starter catalog: its own
// prices stay, its comments stay, and what is added loads.
func TestSharedImportIntoStarter(t *testing.T) {
	starter, err := Open("starter.yaml", []byte(catalog.Starter()))
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range sharedLists(t) {
		t.Run(list.Source, func(t *testing.T) {
			im, err := Import("starter.yaml", starter, list, Options{Day: "2026-08-21"})
			if err != nil {
				t.Fatal(err)
			}
			kept, reasons := map[string]int{}, map[string]int{}
			for _, l := range im.Lines {
				switch l.Status {
				case Kept:
					kept[l.Reason]++
				case Skipped:
					reasons[l.Reason]++
				}
			}
			t.Logf("%-12s %d added, %d updated, %d unchanged, kept %s skipped %s vendors added %d, %d bytes", list.Source,
				im.Count(Added), im.Count(Updated), im.Count(Unchanged), counted(kept), counted(reasons), len(im.Vendors), len(im.Text))
			again, err := Import("starter.yaml", im.Document, list, Options{Day: "2026-08-21"})
			if err != nil {
				t.Fatal(err)
			}
			if again.Changed() || again.Count(Added)+again.Count(Updated) > 0 {
				t.Errorf("a second import: %d added, %d updated\n%.2000s", again.Count(Added), again.Count(Updated), again.Diff())
			}
			for _, x := range Differences(starter.Catalog, im.Catalog) {
				if x.Kind() != "added" && x.Field != "routes" {
					t.Errorf("changed: %s", x)
				}
			}
		})
	}
}

// TestSharedSlipsAreNotWritten imports lists into the starter catalog, which has
// the vendors concerned: slips that multi-vendor-models.md A8 names are left out, or
// the catalog's own price stays, with both figures in the report.
func TestSharedSlipsAreNotWritten(t *testing.T) {
	lists := sharedLists(t)
	starter, err := Open("starter.yaml", []byte(catalog.Starter()))
	if err != nil {
		t.Fatal(err)
	}
	imports := map[int]*Imported{}
	for _, c := range []struct {
		list          int
		model, vendor string   // the model without its maker, which catalogs may name otherwise
		reasons       []string // any of them
	}{
		{0, "llama-3.3-70b-instruct", "wandb", []string{"unit_slip"}},
		{0, "llama-4-maverick", "azure", []string{"swapped"}},
		{3, "minimax-m2.5", "together", []string{"unit_slip"}},
		{3, "minimax-m2.7", "minimax", []string{"unit_slip"}},
		{3, "qwen3.5-397b-a17b", "together", []string{"unit_slip", "lost_decimal"}},
	} {
		im := imports[c.list]
		if im == nil {
			if im, err = Import("starter.yaml", starter, lists[c.list], Options{Day: "2026-08-21", Compare: slices.Concat(lists[:c.list], lists[c.list+1:])}); err != nil {
				t.Fatal(err)
			}
			imports[c.list] = im
		}
		found := false
		for _, l := range im.Lines {
			if _, base, _ := strings.Cut(l.Model, "/"); base == c.model && l.Vendor == c.vendor {
				found = true
				if l.Status == Added || l.Status == Updated || !slices.Contains(c.reasons, l.Reason) {
					t.Errorf("%s at %s is %s, %s: %s", l.Model, l.Vendor, l.Status, l.Reason, l.Detail)
				}
			}
		}
		if !found {
			t.Errorf("%s has no %s at %s", lists[c.list].Source, c.model, c.vendor)
		}
	}
}

func counted[K ~string](m map[K]int) string {
	text := ""
	for _, k := range slices.Sorted(maps.Keys(m)) {
		text += fmt.Sprintf("%s %d, ", k, m[k])
	}
	return text
}
