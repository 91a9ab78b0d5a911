package engine_test

import (
	"testing"
	"time"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"gopkg.in/yaml.v3"
)

// scenarioProfile is a named profile and what a scenario has otherwise.
type scenarioProfile struct {
	Name       catalog.Profile `yaml:"name"`
	Off        *bool           `yaml:"off"`
	Scope      *engine.Scope   `yaml:"scope"`
	Models     *int            `yaml:"models"`
	Warm       *int            `yaml:"warm"`
	Start      *engine.Start   `yaml:"start"`
	Keeps      *bool           `yaml:"keeps"`
	Minimum    *bool           `yaml:"minimum"`
	OrderFirst *bool           `yaml:"order_first"`
	Window     *time.Duration  `yaml:"window"` // fixed
}

// UnmarshalYAML takes a name alone as well.
func (s *scenarioProfile) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		return n.Decode(&s.Name)
	}
	type plain scenarioProfile
	return n.Decode((*plain)(s))
}

func (s *scenarioProfile) profile(t *testing.T) *engine.Profile {
	t.Helper()
	named, ok := engine.ProfileNamed(s.Name)
	if !ok {
		t.Fatalf("no profile is named %q", s.Name)
	}
	p := *named
	set(&p.Off, s.Off)
	set(&p.Scope, s.Scope)
	set(&p.Models, s.Models)
	set(&p.Warm, s.Warm)
	set(&p.Start, s.Start)
	set(&p.Keeps, s.Keeps)
	set(&p.Minimum, s.Minimum)
	set(&p.OrderFirst, s.OrderFirst)
	set(&p.Window.Fixed, s.Window)
	return &p
}

func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}
