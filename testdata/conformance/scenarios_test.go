package conformance_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

var update = flag.Bool("update", false, "write README.md anew")

// gateways are the folders, in the order of the table, and how many scenarios each
// has at least.
var gateways = []struct {
	folder, title string
	least         int
}{
	{"vercel", "Vercel AI Gateway", 40},
	{"subconscious", "Subconscious", 20},
	{"merge", "Merge Gateway", 15},
	{"openrouter", "OpenRouter", 1},
	{"litellm", "LiteLLM", 1},
	{"portkey", "Portkey", 1},
	{"agents", "Coding agents", 30},
}

// TestConformance plays every scenario of every gateway, and compares README.md,
// which lists them. With -update it is written instead: read the diff before
// keeping it.
func TestConformance(t *testing.T) {
	var all []gatewayResults
	for _, g := range gateways {
		results := gatewayResults{Title: g.title, Folder: g.folder}
		files, err := filepath.Glob(filepath.Join(g.folder, "*.txt"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			name := strings.TrimSuffix(filepath.Base(file), ".txt")
			if name == "pages" {
				results.Pages = pageList(string(text))
				continue
			}
			if name == "cannot" {
				if results.Cannot, err = parseCannot(string(text)); err != nil {
					t.Errorf("%s: %v", file, err)
				}
				continue
			}
			s, err := parse(name, string(text))
			if err != nil {
				t.Errorf("%s: %v", file, err)
				continue
			}
			results.Scenarios = append(results.Scenarios, s)
		}
		if strays := results.strays(); len(strays) > 0 {
			t.Errorf("%s/pages.txt has not: %s", g.folder, strings.Join(strays, "; "))
		}
		if len(results.Scenarios) < g.least {
			t.Errorf("%s has %d scenarios, fewer than %d", g.folder, len(results.Scenarios), g.least)
		}
		all = append(all, results)
	}
	var mu sync.Mutex
	played, failed := 0, map[string]bool{}
	for _, g := range all {
		t.Run(g.Folder, func(t *testing.T) {
			for _, s := range g.Scenarios {
				t.Run(s.File, func(t *testing.T) {
					t.Parallel()
					t.Cleanup(func() {
						mu.Lock()
						defer mu.Unlock()
						played++
						failed[g.Folder+"/"+s.File] = t.Failed()
					})
					if s.APIs[0] == "" {
						s.play(t, "")
						return
					}
					for _, api := range s.APIs {
						t.Run(api, func(t *testing.T) { s.play(t, api) })
					}
				})
			}
		})
	}
	total := 0
	for _, g := range all {
		total += len(g.Scenarios)
	}
	if played < total { // -run chose a few
		return
	}
	for i := range all {
		for _, s := range all[i].Scenarios {
			if failed[all[i].Folder+"/"+s.File] {
				all[i].Failed = append(all[i].Failed, s.File)
			}
		}
	}
	compare(t, render(all))
}

// compare compares the table with README.md, or writes it.
func compare(t *testing.T, want string) {
	if *update {
		if err := os.WriteFile("README.md", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile("README.md")
	if err != nil || string(got) != want {
		t.Errorf("README.md is stale (%v); write it with: go test ./testdata/conformance -run TestConformance -update", err)
	}
}

// TestFoldersAreGateways: a folder that nobody plays proves nothing.
func TestFoldersAreGateways(t *testing.T) {
	found, err := filepath.Glob("*/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range found {
		folder := filepath.Dir(file)
		if !slices.ContainsFunc(gateways, func(g struct {
			folder, title string
			least         int
		}) bool {
			return g.folder == folder
		}) {
			t.Errorf("%s belongs to no gateway; name its folder in the list", file)
		}
	}
}
