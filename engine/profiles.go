package engine

import "github.com/warmroute/warmroute/catalog"

// profiles are all that are built, in the order of design section 10.
var profiles = []*Profile{
	&warmrouteProfile,
	&vercelProfile,
	&openRouterProfile,
	&liteLLMProfile,
	&portkeyProfile,
	&subconsciousProfile,
	&mergeProfile,
}

// Profiles are all profiles, the default first. None of them may be changed.
func Profiles() []*Profile { return append([]*Profile(nil), profiles...) }

// ProfileNamed is the profile of that name, which must not be changed. An empty
// name means [Warmroute]; ok is false for a name that no profile has.
func ProfileNamed(name catalog.Profile) (p *Profile, ok bool) {
	if name == "" {
		return Warmroute(), true
	}
	for _, p := range profiles {
		if p.Name == name {
			return p, true
		}
	}
	return nil, false
}

// Warmroute is the default profile. It must not be changed.
func Warmroute() *Profile { return &warmrouteProfile }
