package catalog

import (
	"slices"
	"strings"
)

// UsageField is one thing that a vendor's usage object may say. Those before
// [UsageCounters] are numbers of tokens.
//
// The zero UsageField is none.
type UsageField uint8

// What a usage object may say.
const (
	_              UsageField = iota
	PromptCount               // the prompt; whether cached tokens are part of it is said by [Usage.Cached]
	OutputCount               // the answer; whether reasoning is part of it is said by [Usage.Reasoned]
	ReadCount                 // read from the cache
	WriteCount                // written to it, whatever the lifetime
	Write5mCount              // written with the ordinary lifetime
	Write1hCount              // written for an hour
	UncachedCount             // the part of the prompt that was not read, stated beside the prompt
	ReasoningCount            // spent on reasoning
	ToolCount                 // prompt tokens of tools that the vendor ran, beside the prompt
	TotalCount                // prompt and answer together
	UsageCounters             // how many of these there are, none included
	TierWord                  // the service tier that served
	SpeedWord                 // the speed that served
	RegionWord                // where it was computed
	CacheModeWord             // there only where markers asked for the cache
	ChargeUSD                 // what the vendor charged, in dollars
	ChargeTicks               // the same, in units of 1e-10 dollars
	IterationList             // the steps of an answer, each with a usage of its own
	usageFields               // how many there are
)

// usageKeys are the keys under which a catalog lists a field's paths.
var usageKeys = [usageFields]string{
	PromptCount: "prompt", OutputCount: "output", ReadCount: "cache_read",
	WriteCount: "cache_write", Write5mCount: "cache_write_5m", Write1hCount: "cache_write_1h",
	UncachedCount: "uncached", ReasoningCount: "reasoning", ToolCount: "tool_prompt", TotalCount: "total",
	TierWord: "tier", SpeedWord: "speed", RegionWord: "region", CacheModeWord: "cache_mode",
	ChargeUSD: "cost", ChargeTicks: "cost_ticks", IterationList: "iterations",
}

// String is the field's key in a catalog; empty for none.
func (f UsageField) String() string {
	if f >= usageFields {
		return ""
	}
	return usageKeys[f]
}

// Standing says whether a part of a number is in it or comes on top of it.
//
// The zero Standing is inside.
type Standing uint8

// The ways a part may stand.
const (
	Inside Standing = iota
	Beside
	Either // inside, but beside where the part is greater than the whole
)

// standings are the words for them.
var standings = []string{Inside: "inside", Beside: "beside", Either: "either"}

// String is the catalog's word.
func (s Standing) String() string {
	if int(s) >= len(standings) {
		return ""
	}
	return standings[s]
}

// Usage is how a vendor counts on one API: where each number stands in what it
// reports, and how the numbers stand to each other.
//
// A Usage is made by this package, is never changed afterwards and may be shared.
type Usage struct {
	Name     string   // the convention, or the one that a vendor's own was made from
	Cached   Standing // reads and writes to the prompt number
	Reasoned Standing // reasoning to the output number; never Either

	// RestIsOutput: what a total has above all that is named is output that the
	// vendor does not name, as Google's thoughts on its chat API.
	RestIsOutput bool
	// NoReadIsZero: a vendor that leaves its cache read out has read nothing. At
	// others it is then not known.
	NoReadIsZero bool
	// SideKinds are the kinds of iteration that the numbers at the top leave out.
	SideKinds []string
	// Places are where usage objects stand in an answer, or in an event of a stream:
	// names from the outside in.
	Places [][]string

	paths [usageFields][]string
	root  UsageNode
}

// Paths are where a field stands in the usage object, as written in a catalog. They are
// not to be changed.
func (u *Usage) Paths(f UsageField) []string {
	if f >= usageFields {
		return nil
	}
	return u.paths[f]
}

// Root is the usage object itself, as the paths describe it.
func (u *Usage) Root() *UsageNode { return &u.root }

// UsageNode is a value in a usage object: what it feeds, and what is looked for
// in it.
type UsageNode struct {
	Name    string
	Feeds   UsageField  // none for what is only on the way to other values
	Members []UsageNode // of an object
	Items   []UsageItem // of a list
}

// UsageItem describes the objects of a list in which one member has one value.
type UsageItem struct {
	Key, Value string
	Node       UsageNode
}

// Member is the member of this name that something is looked for in, nil if none.
func (n *UsageNode) Member(name []byte) *UsageNode {
	for i := range n.Members {
		if n.Members[i].Name == string(name) {
			return &n.Members[i]
		}
	}
	return nil
}

// member is Member, and makes it.
func (n *UsageNode) member(name string) *UsageNode {
	if known := n.Member([]byte(name)); known != nil {
		return known
	}
	n.Members = append(n.Members, UsageNode{Name: name})
	return &n.Members[len(n.Members)-1]
}

// item is the description of the objects in which key is value; it makes it.
func (n *UsageNode) item(key, value string) *UsageNode {
	for i := range n.Items {
		if n.Items[i].Key == key && n.Items[i].Value == value {
			return &n.Items[i].Node
		}
	}
	n.Items = append(n.Items, UsageItem{Key: key, Value: value})
	return &n.Items[len(n.Items)-1].Node
}

// The bounds of a path.
const (
	maxSteps   = 6
	maxPath    = 128
	maxPaths   = 16 // of one field
	maxMembers = 64 // of one convention
)

// step is one name of a path, and for a list which of its objects are meant.
type step struct{ name, key, value string }

// pathSteps takes a path apart: names joined by dots, each of which may choose
// among the objects of a list, as in details[ttl=1h].tokens. ok is false if it is
// no path.
func pathSteps(path string) (steps []step, ok bool) {
	if path == "" || len(path) > maxPath {
		return nil, false
	}
	for _, part := range strings.Split(path, ".") {
		var s step
		name, choice, chooses := strings.Cut(part, "[")
		s.name = name
		if chooses {
			inner, closed := strings.CutSuffix(choice, "]")
			s.key, s.value, ok = strings.Cut(inner, "=")
			if !closed || !ok || !isMember(s.key) || !isChoice(s.value) {
				return nil, false
			}
		}
		if !isMember(s.name) {
			return nil, false
		}
		steps = append(steps, s)
	}
	last := steps[len(steps)-1]
	return steps, len(steps) <= maxSteps && last.key == ""
}

// isChoice says whether text may be the value by which an object of a list is chosen.
func isChoice(text string) bool {
	for _, c := range []byte(text) {
		if !isLowerOrDigit(c) && (c < 'A' || c > 'Z') && c != '_' && c != '-' {
			return false
		}
	}
	return text != "" && len(text) <= 32
}

// compile builds the tree of the paths, which are valid.
func (u *Usage) compile() {
	u.root = UsageNode{}
	for f := range usageFields {
		for _, path := range u.paths[f] {
			steps, _ := pathSteps(path)
			n := &u.root
			for _, s := range steps {
				n = n.member(s.name)
				if s.key != "" {
					n = n.item(s.key, s.value)
				}
			}
			n.Feeds = f
		}
	}
}

// feed makes paths a field's own, and takes them from what else they fed.
func (u *Usage) feed(f UsageField, paths []string) {
	for other := range usageFields {
		u.paths[other] = slices.DeleteFunc(slices.Clone(u.paths[other]), func(p string) bool {
			return slices.Contains(paths, p)
		})
	}
	u.paths[f] = paths
}

// UsageOf is how the vendor counts on an API: as its own entry in the catalog
// says, else as is usual on that API.
func (v *Vendor) UsageOf(api API) *Usage {
	if own := v.counting[api]; own != nil {
		return own
	}
	return UsageConvention(v.Usage, api)
}
