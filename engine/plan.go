package engine

import (
	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/pricing"
)

// Group says whose key a candidate uses. Affinity never moves a candidate of one
// group past one of the other.
//
// The zero Group is the operator's.
type Group string

// The groups. The client's own keys come first where they exist.
const (
	GroupOperator Group = ""
	GroupClient   Group = "client"
)

// Candidate is one (route, credential, group) with the rates of this turn.
type Candidate struct {
	Route      *catalog.Route
	Credential string // id of the vendor's credential; empty where the vendor needs none
	Group      Group
	Card       pricing.Card
	Down       bool // failed three times running, or cooling
}

// Why says what took a route out of a plan.
type Why string

// Why a route is not in a plan.
const (
	WhyAPI        Why = "api"             // its vendor does not speak the client's API
	WhyOnly       Why = "only"            // the request or policy names others
	WhyIgnore     Why = "ignore"          // the request or policy names it
	WhyContext    Why = "context"         // the prompt cannot fit
	WhyDisabled   Why = "disabled"        // the catalog says so
	WhyTags       Why = "tags"            // it lacks a tag the policy needs
	WhyMaxPrice   Why = "max_price"       // it charges more than the policy allows
	WhyCredential Why = "credential"      // none of its vendor's credentials has a key
	WhyOrigin     Why = "bound_to_origin" // content in the request belongs to another route
)

// Removed is a route that a filter took out, and why.
type Removed struct {
	Route *catalog.Route
	Why   Why
}

// Plan is the ordered candidates a request may use, before affinity.
//
// Candidates stand model by model, in each model the client's group first, in
// each group those that are down last.
type Plan struct {
	Candidates []Candidate
	Models     []ModelPlan
}

// ModelPlan is the part of a plan that belongs to one model:
// Candidates[From:To].
type ModelPlan struct {
	Model    *catalog.Model
	From, To int
	Removed  []Removed
}
