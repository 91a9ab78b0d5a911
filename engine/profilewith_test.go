package engine

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
)

func profileOf(t *testing.T, s catalog.ProfileSettings) *Profile {
	t.Helper()
	p, err := ProfileOf(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func settingsOf(p catalog.Profile) catalog.ProfileSettings {
	return catalog.ProfileSettings{Profile: catalog.Set(p)}
}

func TestProfilesByName(t *testing.T) {
	seen := map[catalog.Profile]bool{}
	for _, p := range Profiles() {
		got, ok := ProfileNamed(p.Name)
		if !ok || got != p || seen[p.Name] || p.Name == "" || len(p.Sources) == 0 || p.Gate == "" || p.Models < 1 || p.Warm < 1 {
			t.Errorf("%q: found %t, %+v", p.Name, ok, got)
		}
		seen[p.Name] = true
		if p.Models > MaxModels || p.Warm > MaxWarm {
			t.Errorf("%s keeps more than any record does", p.Name)
		}
	}
	if p, ok := ProfileNamed(""); !ok || p != Warmroute() {
		t.Errorf("no name means %v", p)
	}
	if _, ok := ProfileNamed("Vercel"); ok || len(seen) != 7 {
		t.Errorf("%d profiles, another by a name of other case: %t", len(seen), ok)
	}
	if _, err := ProfileOf(settingsOf("mine")); !errors.Is(err, ErrProfile) {
		t.Errorf("a profile that is none: %v", err)
	}
}

func TestWhatIsSaidGoesBeforeTheProfile(t *testing.T) {
	if p := profileOf(t, settingsOf(catalog.ProfileMerge)); p != &mergeProfile {
		t.Errorf("nothing said, and yet another profile: %+v", p)
	}
	before := vercelProfile
	p := profileOf(t, catalog.ProfileSettings{Profile: catalog.Set(catalog.ProfileVercel), Gate: catalog.Set(catalog.GateCacheRead),
		OrderFirst: catalog.Set(true), Apart: catalog.Set(false)})
	want := before
	want.Gate, want.OrderFirst, want.Apart = catalog.GateCacheRead, true, false
	if !reflect.DeepEqual(*p, want) {
		t.Errorf("got %+v\nwant %+v", *p, want)
	}
	if !reflect.DeepEqual(vercelProfile, before) {
		t.Error("the profile itself changed")
	}
}

func TestSourcesThatAreSaid(t *testing.T) {
	headers := func(names ...string) Source { return Source{In: InHeader, Names: names, Class: ClassExplicit} }
	own := Source{In: InOwn, Class: ClassExplicit, Least: MinOwnID, Most: MaxID, Lower: true}
	for name, c := range map[string]struct {
		profile catalog.Profile
		words   []catalog.SessionSource
		want    []Source
	}{
		"another order": {catalog.ProfileWarmroute, []catalog.SessionSource{catalog.SourceSessionHeader, catalog.SourceBody},
			[]Source{headers(sessionHeader), {In: InBody, Names: []string{"session_id", "sessionId"}, Class: ClassExplicit}}},
		"the profile's own agents": {catalog.ProfileVercel, []catalog.SessionSource{catalog.SourceAgent}, []Source{{In: InAgent, Names: []string{claudeSession}, Class: ClassAgent}}},
		"what the profile has not": {catalog.ProfileOpenRouter, []catalog.SessionSource{catalog.SourceOwnHeader, catalog.SourceChain}, []Source{own, {In: InChain, Class: ClassChain}}},
		"two headers of one row":   {catalog.ProfileSubconscious, []catalog.SessionSource{catalog.SourceAffinityHeader, catalog.SourceSessionHeader}, []Source{headers(affinityHeader), headers(sessionHeader)}},
		"its limits stay":          {catalog.ProfileOpenRouter, []catalog.SessionSource{catalog.SourceSessionHeader}, []Source{{In: InHeader, Names: []string{sessionHeader}, Class: ClassExplicit, Most: MaxID}}},
		"LiteLLM's headers": {catalog.ProfileLiteLLM, []catalog.SessionSource{catalog.SourceSessionHeader, catalog.SourceAPIKey, catalog.SourceAffinityHeader},
			[]Source{headers("X-Litellm-Session-Id"), headers("X-Litellm-Trace-Id"), {In: InKey, Class: ClassCacheKey}, headers(affinityHeader)}},
		"the key of a caller": {catalog.ProfileWarmroute, []catalog.SessionSource{catalog.SourceAPIKey}, []Source{{In: InKey, Class: ClassCacheKey}}},
	} {
		p := profileOf(t, catalog.ProfileSettings{Profile: catalog.Set(c.profile), Sources: c.words})
		if !reflect.DeepEqual(p.Sources, c.want) {
			t.Errorf("%s: %+v, not %+v", name, p.Sources, c.want)
		}
	}
	for _, p := range Profiles() {
		for _, s := range p.Sources {
			if s.In != InHeader && wordOf[s.In] == "" {
				t.Errorf("%s: no word means its source %s", p.Name, s.In)
			}
		}
	}
}

func TestLiteLLMsChecks(t *testing.T) {
	if !liteLLMProfile.Off {
		t.Error("on without any check")
	}
	for name, c := range map[string]struct {
		checks              []catalog.RoutingCheck
		model, loose, marks bool
	}{
		"the model's pin":      {[]catalog.RoutingCheck{catalog.CheckSession}, true, true, false},
		"the deployment's pin": {[]catalog.RoutingCheck{catalog.CheckDeployment, catalog.CheckPrefix}, false, false, true},
		"the prefix alone":     {[]catalog.RoutingCheck{catalog.CheckPrefix}, false, true, true},
		"all":                  {[]catalog.RoutingCheck{catalog.CheckPrefix, catalog.CheckDeployment, catalog.CheckSession}, true, false, true},
	} {
		s := settingsOf(catalog.ProfileLiteLLM)
		s.Checks = c.checks
		if p := profileOf(t, s); p.Off || p.ModelPin != c.model || p.Loose != c.loose || p.Marked != c.marks {
			t.Errorf("%s: off %t, model %t, loose %t, marked %t", name, p.Off, p.ModelPin, p.Loose, p.Marked)
		}
		s.Profile = catalog.Set(catalog.ProfileVercel)
		if _, err := ProfileOf(s); !errors.Is(err, ErrProfile) {
			t.Errorf("%s with another profile: %v", name, err)
		}
	}
}

func TestPortkeysStickySessions(t *testing.T) {
	sticky := func(s catalog.StickySettings) catalog.ProfileSettings {
		return catalog.ProfileSettings{Profile: catalog.Set(catalog.ProfilePortkey), Sticky: s}
	}
	fields := []string{"metadata.user", "user"}
	p := profileOf(t, sticky(catalog.StickySettings{Enabled: catalog.Set(true), HashFields: fields}))
	if p.Off || !reflect.DeepEqual(p.Sources[0].Names, fields) || p.Window != (Window{Fixed: time.Hour}) {
		t.Errorf("off %t, %+v, %+v", p.Off, p.Sources, p.Window)
	}
	p = profileOf(t, sticky(catalog.StickySettings{Enabled: catalog.Set(true), HashFields: fields, TTL: catalog.Set(time.Minute)}))
	if p.Window.Fixed != time.Minute || portkeyProfile.Window.Fixed != time.Hour || portkeyProfile.Sources[0].Names != nil {
		t.Errorf("%+v; the profile itself: %+v", p.Window, portkeyProfile)
	}
	if p = profileOf(t, sticky(catalog.StickySettings{HashFields: fields})); !p.Off {
		t.Error("on without having been enabled")
	}
	if _, err := ProfileOf(sticky(catalog.StickySettings{Enabled: catalog.Set(true)})); !errors.Is(err, ErrProfile) {
		t.Errorf("sticky by nothing: %v", err)
	}
	if _, err := Warmroute().With(catalog.ProfileSettings{Sticky: catalog.StickySettings{TTL: catalog.Set(time.Minute)}}); !errors.Is(err, ErrProfile) {
		t.Errorf("sticky by another profile: %v", err)
	}
}
