package catalog_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/warmroute/warmroute/catalog"
)

func TestStarterPart(t *testing.T) {
	whole := starterCatalog(t)
	for _, c := range []struct {
		name            string
		vendors, models []string
		wantModels      int
		wantVendors     []string
		has, hasNot     string
	}{
		{"all of it", nil, nil, len(whole.Models), nil, "# policies:", "nothing like it"},
		{"one vendor", []string{"xai"}, nil, 1, []string{"xai"}, "hints: [{header: x-grok-conv-id", "anthropic:"},
		{"a pattern over names", nil, []string{"x-ai/*"}, 1, []string{"xai"}, "x-ai/grok-4.3", "openai/"},
		{"a pattern over aliases", nil, []string{"claude-opus-4-8"}, 1, []string{"anthropic", "bedrock", "azure-claude", "vertex-claude"}, "Markers (cache_control)", "deepinfra"},
		{"both", []string{"openai", "azure"}, []string{"gpt-5*", "o3"}, 9, []string{"azure", "openai"}, "two lists of three; the third rounds to 0.13", "bedrock"},
		{"a model without what is said of all its vendors", []string{"moonshot", "fireworks"}, []string{"kimi-k2.6"}, 1, []string{"moonshot", "fireworks"}, "x-session-affinity", "Vultr"},
		{"an alias with a date", []string{"anthropic"}, []string{"claude-haiku-4-5-20251001"}, 1, []string{"anthropic"}, "min_prefix: 4096", "fable"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, err := catalog.StarterPart(c.vendors, c.models)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(text, "# yaml-language-server:") || !strings.Contains(strings.ToLower(text), strings.ToLower(c.has)) || strings.Contains(afterHead(text), c.hasNot) {
				t.Errorf("the part is not as it should be:\n%s", text)
			}
			part, err := catalog.Parse("part.yaml", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			var vendors []string
			for _, v := range part.Vendors {
				vendors = append(vendors, v.Name)
			}
			slices.Sort(vendors)
			slices.Sort(c.wantVendors)
			if len(part.Models) != c.wantModels || c.wantVendors != nil && !slices.Equal(vendors, c.wantVendors) {
				t.Errorf("%d models at %v, want %d at %v", len(part.Models), vendors, c.wantModels, c.wantVendors)
			}
		})
	}
}

// afterHead leaves out the comments at the top, which name vendors as examples.
func afterHead(text string) string {
	_, rest, _ := strings.Cut(text, "\nversion:")
	return rest
}

func TestStarterPartsOfEveryVendorAndModelAreCatalogs(t *testing.T) {
	whole := starterCatalog(t)
	for _, v := range whole.Vendors {
		text, err := catalog.StarterPart([]string{v.Name}, nil)
		if err != nil {
			t.Fatal(err)
		}
		part, err := catalog.Parse(v.Name, []byte(text))
		if err != nil {
			t.Fatalf("%s: %v", v.Name, err)
		}
		for _, m := range part.Models {
			if len(m.Routes) != 1 || m.Routes[0].Vendor.Name != v.Name {
				t.Errorf("%s: %s has %d routes", v.Name, m.Name, len(m.Routes))
			}
		}
	}
	for _, m := range whole.Models {
		text, err := catalog.StarterPart(nil, []string{m.Name})
		if err != nil {
			t.Fatal(err)
		}
		part, err := catalog.Parse(m.Name, []byte(text))
		if err != nil {
			t.Fatalf("%s: %v", m.Name, err)
		}
		if len(part.Models) != 1 || part.Models[0].Name != m.Name || len(part.Models[0].Routes) != len(m.Routes) || len(part.Models[0].Aliases) != len(m.Aliases) {
			t.Errorf("%s: the part has %d models", m.Name, len(part.Models))
		}
	}
}

func TestStarterPartRefuses(t *testing.T) {
	for _, c := range []struct {
		name            string
		vendors, models []string
		want            string
	}{
		{"a vendor that is not in it", []string{"antropic"}, nil, `no vendor "antropic" (did you mean "anthropic"?)`},
		{"a pattern that matches nothing", nil, []string{"gpt-9*"}, `matches "gpt-9*"`},
		{"a pattern that is none", nil, []string{"gpt-[5"}, `"gpt-[5" is not a pattern`},
		{"nothing in common", []string{"anthropic"}, []string{"gpt-5"}, "none of the models gpt-5 is at anthropic"},
	} {
		if text, err := catalog.StarterPart(c.vendors, c.models); err == nil || !strings.Contains(err.Error(), c.want) || text != "" {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
