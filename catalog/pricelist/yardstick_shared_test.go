package pricelist

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// yard is a row of the shared comparison of models served by several vendors.
type yard struct {
	Model, Vendor string
	Seen          map[string]struct{ Source string }
}

// yardVendors are the page's names of vendors that are not ours in small letters.
var yardVendors = map[string]string{"AI Studio": "google", "W&B": "wandb", "Z.ai": "zai", "io.net": "io-net"}

func readYard(t *testing.T) []yard {
	t.Helper()
	data, err := os.ReadFile(sharedPrices + "multi-vendor.json")
	if err != nil {
		t.Skip("the shared data is not here: " + err.Error())
	}
	var rows []yard
	if err := json.Unmarshal(data, &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

// yardKey is our key of a source such as "portkey:pricing/x-ai.json#grok-4.3".
func yardKey(list, source string) string {
	_, place, _ := strings.Cut(source, ":")
	switch list {
	case ModelsDev:
		place = strings.TrimSuffix(strings.TrimPrefix(place, "providers/"), ".toml")
		return strings.Replace(place, "/models/", "/", 1)
	case Portkey:
		return strings.Replace(strings.TrimPrefix(place, "pricing/"), ".json#", "#", 1)
	case GenaiPrices:
		return strings.Replace(strings.TrimPrefix(place, "prices/providers/"), "#", "/", 1)
	}
	_, key, _ := strings.Cut(place, "#")
	return key
}

// TestSharedNamesAgreeWithYardstick: the hand-made comparison puts 379 rows under 58
// models; our rules must put every source's id of a row under one name of ours,
// the same for a model at all its vendors, and another for each model.
func TestSharedNamesAgreeWithYardstick(t *testing.T) {
	rows := readYard(t)
	at := map[string]map[string]*Row{}
	for _, l := range readShared(t) {
		at[l.Source] = map[string]*Row{}
		for i := range l.Rows {
			at[l.Source][l.Rows[i].Key] = &l.Rows[i]
		}
	}
	names := map[string]map[string]int{} // model of the page → ours → how often
	for _, y := range rows {
		if names[y.Model] == nil {
			names[y.Model] = map[string]int{}
		}
		for list, s := range y.Seen {
			if row := at[list][yardKey(list, s.Source)]; row != nil {
				names[y.Model][row.Model]++
			}
		}
	}
	ours, whose := map[string]string{}, map[string]string{}
	for model, found := range names {
		best := 0
		for name, n := range found {
			if n > best || n == best && name < ours[model] {
				ours[model], best = name, n
			}
		}
		if other, taken := whose[ours[model]]; taken {
			t.Errorf("%s and %s are both %s", model, other, ours[model])
		}
		whose[ours[model]] = model
	}
	alike, throughHub := 0, 0
	for _, y := range rows {
		vendor := yardVendors[y.Vendor]
		if vendor == "" {
			vendor = strings.ToLower(y.Vendor)
		}
		ok := true
		for list, s := range y.Seen {
			key := yardKey(list, s.Source)
			row := at[list][key]
			switch {
			case row == nil:
				t.Errorf("%s at %s: %s has no row %s", y.Model, y.Vendor, list, key)
			case row.Model == ours[y.Model] && row.Vendor == "huggingface-"+vendor:
				throughHub++
			case row.Model != ours[y.Model] || row.Vendor != vendor:
				t.Errorf("%s at %s: %s %s is %s at %s, want %s at %s", y.Model, y.Vendor, list, key, row.Model, row.Vendor, ours[y.Model], vendor)
			default:
				continue
			}
			ok = false
		}
		if ok {
			alike++
		}
	}
	// genai-prices has Nebius only as Hugging Face sells it, which is another account
	// and vendor for us.
	t.Logf("%d of %d rows alike, %d through Hugging Face, %d models", alike, len(rows), throughHub, len(names))
	if alike != 373 || throughHub != 6 || len(rows) != 379 || len(names) != 58 {
		t.Errorf("want 373 and 6 of 379 rows and 58 models")
	}
}
