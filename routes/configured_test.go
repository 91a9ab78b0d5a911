package routes

import (
	"testing"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/routes/vendor"
)

func TestConfigured(t *testing.T) {
	const text = `metadata: header
on_client_left: drain
drain: {bytes: 4KiB}
tenants:
  - {id: crew, keys: [{env: CREW}], affinity: false, only: [anchor]}
  - {id: deck, keys: [{env: DECK}], profile: openrouter, on_client_left: cancel}
`
	c, err := catalog.ParseConfig("warmroute.yaml", []byte(text), func(name string) (string, bool) { return "key-of-" + name + "-0123456789", true })
	if err != nil {
		t.Fatal(err)
	}
	said := catalog.ProfileSettings{Profile: catalog.Set(catalog.ProfileVercel)}
	o, err := Configured(c, said, true)
	if err != nil {
		t.Fatal(err)
	}
	if o.Metadata != vendor.MetadataHeader || o.Drain != (vendor.Drain{Time: drainTime, Bytes: 4 << 10}) {
		t.Errorf("metadata %q, drain %+v", o.Metadata, o.Drain)
	}
	crew, deck := o.Tenants.list[0], o.Tenants.list[1]
	if crew.Rules.Profile.Name != catalog.ProfileVercel || !crew.Rules.Off || len(crew.Rules.Only) != 1 || crew.Drain != nil || len(crew.Keys) != 1 {
		t.Errorf("%+v", crew)
	}
	if deck.Rules.Profile.Name != catalog.ProfileOpenRouter || deck.Rules.Off || deck.Drain == nil || *deck.Drain != (vendor.Drain{}) {
		t.Errorf("%+v", deck)
	}
	if o, err := Configured(&catalog.Config{}, said, false); err != nil || o.Tenants != nil || o.Metadata != "" || o.OwnOnly {
		t.Errorf("of an empty file: %+v, %v", o, err)
	}
}
