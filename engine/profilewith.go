package engine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/warmroute/warmroute/catalog"
)

// ErrProfile means that settings do not make a profile: they name one that does not
// exist, or say something that only another one has.
var ErrProfile = errors.New("profile")

// ProfileOf is the profile that the settings name, with what is said beside it;
// without a name it is [Warmroute]'s. It does not change afterwards and must not be
// changed. The error is [ErrProfile].
func ProfileOf(s catalog.ProfileSettings) (*Profile, error) {
	name := s.Profile.Or(catalog.ProfileWarmroute)
	p, ok := ProfileNamed(name)
	if !ok {
		return nil, fmt.Errorf("%w %q does not exist", ErrProfile, name)
	}
	return p.With(s)
}

// With is the profile with what the settings say put before its own values; the
// profile that they name is not looked at. p itself stays as it was, and is what is
// returned where they say nothing.
//
// LiteLLM's checks and Portkey's sticky sessions switch their profile on. Said of
// any other profile they are an error, [ErrProfile], as are sticky sessions that
// nothing names.
func (p *Profile) With(s catalog.ProfileSettings) (*Profile, error) {
	with, changed := *p, false
	if gate, ok := s.Gate.Get(); ok {
		with.Gate, changed = gate, true
	}
	if first, ok := s.OrderFirst.Get(); ok {
		with.OrderFirst, changed = first, true
	}
	if apart, ok := s.Apart.Get(); ok {
		with.Apart, changed = apart, true
	}
	if len(s.Sources) > 0 {
		with.Sources, changed = nil, true
		for _, word := range s.Sources {
			with.Sources = append(with.Sources, p.sourcesNamed(word)...)
		}
	}
	if len(s.Checks) > 0 {
		if p.Name != catalog.ProfileLiteLLM {
			return nil, fmt.Errorf("%w %s has no checks; only %s has", ErrProfile, p.Name, catalog.ProfileLiteLLM)
		}
		with.check(s.Checks)
		changed = true
	}
	sticky := s.Sticky
	if sticky.Enabled.IsSet() || sticky.TTL.IsSet() || len(sticky.HashFields) > 0 {
		if p.Name != catalog.ProfilePortkey {
			return nil, fmt.Errorf("%w %s has no sticky sessions; only %s has", ErrProfile, p.Name, catalog.ProfilePortkey)
		}
		if sticky.Enabled.Or(false) && len(sticky.HashFields) == 0 {
			return nil, fmt.Errorf("%w %s: sticky sessions need fields to hash, such as metadata.user", ErrProfile, p.Name)
		}
		with.stick(sticky)
		changed = true
	}
	if !changed {
		return p, nil
	}
	return &with, nil
}

// check switches LiteLLM's affinity on: each check for a pin of its own.
func (p *Profile) check(checks []catalog.RoutingCheck) {
	p.Off = false
	p.ModelPin = slices.Contains(checks, catalog.CheckSession)
	p.Loose = !slices.Contains(checks, catalog.CheckDeployment)
	p.Marked = slices.Contains(checks, catalog.CheckPrefix)
}

// stick is what Portkey's settings say of its sticky sessions.
func (p *Profile) stick(s catalog.StickySettings) {
	p.Off = !s.Enabled.Or(false)
	p.Window.Fixed = s.TTL.Or(p.Window.Fixed)
	sources := slices.Clone(p.Sources)
	for i := range sources {
		if sources[i].In == InFields {
			sources[i].Names = slices.Clone(s.HashFields)
		}
	}
	p.Sources = sources
}

// sourcesNamed are the sources that a word of the configuration means: the
// profile's own, else the default's, else what the word means by itself.
func (p *Profile) sourcesNamed(word catalog.SessionSource) []Source {
	if own := p.sourcesOf(word); len(own) > 0 {
		return own
	}
	switch word {
	case catalog.SourceChain:
		return []Source{{In: InChain, Class: ClassChain}}
	case catalog.SourceAPIKey:
		return []Source{{In: InKey, Class: ClassCacheKey}}
	case catalog.SourceHashFields:
		return []Source{{In: InFields, Class: ClassExplicit}}
	}
	return Warmroute().sourcesOf(word)
}

// sourcesOf are the profile's own sources of a word, as far as they are it: of two
// headers that one source asks for, each is a word's.
func (p *Profile) sourcesOf(word catalog.SessionSource) []Source {
	var all []Source
	for _, s := range p.Sources {
		if s.In == InHeader {
			affinity := word == catalog.SourceAffinityHeader
			if !affinity && word != catalog.SourceSessionHeader {
				continue
			}
			s.Names = slices.DeleteFunc(slices.Clone(s.Names), func(name string) bool { return (name == affinityHeader) != affinity })
			if len(s.Names) > 0 {
				all = append(all, s)
			}
			continue
		}
		if wordOf[s.In] == word {
			all = append(all, s)
		}
	}
	return all
}

// wordOf are the words for all places but headers.
var wordOf = map[Where]catalog.SessionSource{
	InOption:   catalog.SourceOption,
	InBody:     catalog.SourceBody,
	InMetadata: catalog.SourceBody,
	InOwn:      catalog.SourceOwnHeader,
	InCacheKey: catalog.SourceCacheKey,
	InAgent:    catalog.SourceAgent,
	InChain:    catalog.SourceChain,
	InOpener:   catalog.SourceFingerprint,
	InKey:      catalog.SourceAPIKey,
	InFields:   catalog.SourceHashFields,
}
