package routes

import (
	"net/http"
	"path"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
)

// listed is one target as both families of clients read it.
//
// A target has no date of birth: created and created_at are the epoch.
type listed struct {
	ID          string `json:"id"`
	Object      string `json:"object"`
	Type        string `json:"type"`
	Created     int64  `json:"created"`
	CreatedAt   string `json:"created_at"`
	OwnedBy     string `json:"owned_by"`
	DisplayName string `json:"display_name"`
	// Aliases are the other names by which it may be asked for.
	Aliases []string `json:"aliases,omitempty"`
}

// list is the answer of GET /v1/models: OpenAI's members and Anthropic's.
type list struct {
	Object  string   `json:"object"`
	Data    []listed `json:"data"`
	HasMore bool     `json:"has_more"`
	FirstID *string  `json:"first_id"`
	LastID  *string  `json:"last_id"`
}

// shown is a target as it is shown under a name: its own, or an alias of it.
func shown(name string, of catalog.Target) listed {
	l := listed{ID: name, Object: "model", Type: "model", CreatedAt: "1970-01-01T00:00:00Z", OwnedBy: "warmroute", DisplayName: name}
	if of.Policy == nil && len(of.Models) == 1 {
		l.DisplayName, l.Aliases = of.Models[0].Name, of.Models[0].Aliases
	}
	return l
}

// targets are the names a client may ask for, models before policies, in the
// catalog's order, as far as the tenant's rules leave them. Aliases stand with their
// model: they say the same again.
func targets(now *catalog.Catalog, rules *engine.Rules) []listed {
	all := make([]listed, 0, len(now.Models)+len(now.Policies))
	for _, m := range now.Models {
		if of := (catalog.Target{Models: []*catalog.Model{m}}); rules.Leave(of) {
			all = append(all, shown(m.Name, of))
		}
	}
	for _, p := range now.Policies {
		if of := (catalog.Target{Policy: p, Models: p.Models}); rules.Leave(of) {
			all = append(all, shown(p.Name, of))
		}
	}
	return all
}

// models lists every target.
func (s *service) models(c *gin.Context) {
	answer := list{Object: "list", Data: targets(s.Gateway.Catalog(), &tenant(c).Rules)}
	if n := len(answer.Data); n > 0 {
		answer.FirstID, answer.LastID = &answer.Data[0].ID, &answer.Data[n-1].ID
	}
	c.JSON(http.StatusOK, answer)
}

// model shows one target, by any of its names.
func (s *service) model(c *gin.Context) {
	name := strings.TrimPrefix(c.Param("id"), "/")
	if name == "" {
		s.models(c)
		return
	}
	of, ok := s.Gateway.Catalog().Resolve(name)
	if !ok || !tenant(c).Rules.Leave(of) {
		api := catalog.Chat
		if c.Request.Header.Get("Anthropic-Version") != "" {
			api = catalog.Messages
		}
		failAs(c, api, http.StatusNotFound, "model_not_found", "There is no model or policy of this name. GET /v1/models lists what there is.")
		return
	}
	c.JSON(http.StatusOK, shown(name, of))
}

// maxNear is the most names suggested for one that does not exist.
const maxNear = 3

// near lists names that one who asked for name may have meant: the same but for
// case or the part before the slash, or a few letters away.
func near(now *catalog.Catalog, name string, rules *engine.Rules) []string {
	if now == nil || name == "" || len(name) > maxEcho {
		return nil
	}
	asked := strings.ToLower(name)
	var names []string
	consider := func(known string) {
		plain := strings.ToLower(known)
		close := path.Base(plain) == path.Base(asked) || distance(plain, asked) <= min(3, len(asked)/4) || swapped(plain, asked)
		if close && len(names) < maxNear && len(known) <= maxEcho {
			names = append(names, known)
		}
	}
	for _, m := range now.Models {
		if !rules.Leave(catalog.Target{Models: []*catalog.Model{m}}) {
			continue
		}
		consider(m.Name)
		for _, alias := range m.Aliases {
			consider(alias)
		}
	}
	for _, p := range now.Policies {
		if rules.Leave(catalog.Target{Policy: p}) {
			consider(p.Name)
		}
	}
	return names
}

// swapped says whether a and b differ in nothing but two neighbours that changed places.
func swapped(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) - 1 {
		if a[i] != b[i] {
			return a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
		}
	}
	return false
}

// distance is the number of bytes to insert, remove or change to get from a to b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := corner
			if a[i] != b[j] {
				cost++
			}
			corner = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
