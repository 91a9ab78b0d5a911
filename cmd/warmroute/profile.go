package main

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
)

// What the flags of serve, demo and explain say of a profile and its gate.
var (
	profileUsage = "whose rules of affinity hold: " + strings.Join(profileNames(), ", ") + "; warmroute unless said"
	gateUsage    = "the test a pin must pass: cache_read, own_price or off; the profile's unless said"
)

func profileNames() []string {
	var names []string
	for _, p := range engine.Profiles() {
		names = append(names, string(p.Name))
	}
	return names
}

// knownProfile refuses a profile and a gate that do not exist; empty ones are not said.
func knownProfile(profile, gate string) error {
	if _, ok := engine.ProfileNamed(catalog.Profile(profile)); !ok {
		names := profileNames()
		return usage(fmt.Errorf("--profile %s: say %s or %s", profile, strings.Join(names[:len(names)-1], ", "), names[len(names)-1]))
	}
	switch catalog.Gate(gate) {
	case "", catalog.GateCacheRead, catalog.GateOwnPrice, catalog.GateOff:
		return nil
	}
	return usage(fmt.Errorf("--gate %s: say cache_read, own_price or off", gate))
}

// flagged is what flags say of a profile and its gate.
func flagged(profile, gate string) (said catalog.ProfileSettings) {
	if profile != "" {
		said.Profile = catalog.Set(catalog.Profile(profile))
	}
	if gate != "" {
		said.Gate = catalog.Set(catalog.Gate(gate))
	}
	return said
}

// affinity is what holds for tenants that do not say otherwise: flags and
// environment before the file.
func (s *settings) affinity() catalog.ProfileSettings {
	return flagged(s.Profile, s.Gate).Over(s.config.Affinity.ProfileSettings)
}

// profile is the gateway's.
func (s *settings) profile() (*engine.Profile, error) {
	p, err := engine.ProfileOf(s.affinity())
	if err != nil {
		return nil, invalid(err)
	}
	return p, nil
}

// remark logs what whoever set the gateway up should know.
func (s *settings) remark(log *slog.Logger, profile *engine.Profile) {
	for _, w := range s.config.Warnings {
		log.Warn("config file", "warning", w.String())
	}
	if off := s.affinity().OffUntil(); off != "" && s.Profile != "" {
		log.Warn("affinity is off until "+off, "profile", string(profile.Name))
	}
	log.Info("affinity is as the profile has it", "profile", string(profile.Name), "gate", string(profile.Gate))
}
