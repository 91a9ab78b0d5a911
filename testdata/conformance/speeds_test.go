package conformance_test

import (
	"time"

	"gopkg.in/yaml.v3"

	"github.com/warmroute/warmroute/engine"
)

// speeds are what a scenario says the last hours' turns have shown of vendors. On its
// clock no answer takes any time, so nothing is learnt of it.
type speeds map[string]struct {
	FirstByte time.Duration `yaml:"first_byte"`
	Rate      int64         `yaml:"rate"` // output tokens per second
}

// speedsIn reads the header of a scenario; empty: nothing is known of any vendor.
func speedsIn(text string) (s speeds, err error) {
	return s, yaml.Unmarshal([]byte(text), &s)
}

// HitRate knows nothing.
func (s speeds) HitRate(string, string) engine.HitRate { return engine.HitRate{} }

// Speed is the same for all models of a vendor.
func (s speeds) Speed(_, vendor string) engine.Speed {
	v, ok := s[vendor]
	if !ok {
		return engine.Speed{}
	}
	return engine.Speed{Firsts: engine.LeastAnswers, FirstByte: v.FirstByte, Rates: engine.LeastAnswers, Rate: v.Rate * 1000}
}
