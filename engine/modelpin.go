package engine

import (
	"slices"
	"time"

	"github.com/warmroute/warmroute/catalog"
)

// lead puts the model that served the session last in front of the others of the
// target, as far as its pin has not expired, and says whether it moved. The
// fallbacks that the request names itself keep their place, and nothing is added:
// what the target does not have is not used.
//
// The plan is made of what lead returns, so all that holds of plans holds of this
// one. Source: LiteLLM, "Prompt Caching", session_affinity: a conversation keeps the
// model of a group that answers it, for the sake of history that only its provider
// reads, and of one voice.
func (p *Profile) lead(targets []catalog.Target, r Record, now time.Time) (_ []catalog.Target, moved bool) {
	if !p.ModelPin || len(targets) == 0 {
		return targets, false
	}
	name, e, ok := r.Newest()
	if !ok || e.ExpiredAt(now) {
		return targets, false
	}
	own := targets[0].Models
	at := slices.IndexFunc(own, func(m *catalog.Model) bool { return m.Name == name })
	if at <= 0 {
		return targets, false
	}
	models := make([]*catalog.Model, 0, len(own))
	models = append(append(append(models, own[at]), own[:at]...), own[at+1:]...)
	targets = slices.Clone(targets)
	targets[0].Models = models
	return targets, true
}
