package catalog

import (
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
)

// called is one name of the namespace: what it stands for, and where.
type called struct {
	name   string
	model  *Model  // or
	policy *Policy // the policy of that name
	at     finding
}

// calls are all names, in the order of the file: models each with its aliases,
// then policies.
func (l *linter) calls() []called {
	var all []called
	for _, m := range l.catalog.Models {
		at := l.atModel(m)
		all = append(all, called{m.Name, m, nil, at})
		var nodes []*yaml.Node
		if value := l.outline.models[m.Name].value; value != nil {
			nodes = items(value, "aliases")
		}
		for i, alias := range m.Aliases {
			there := at
			if i < len(nodes) {
				there.node = nodes[i]
			}
			all = append(all, called{alias, m, nil, there})
		}
	}
	for _, p := range l.catalog.Policies {
		all = append(all, called{p.Name, nil, p, l.atPolicy(p)})
	}
	return all
}

func (c *called) same(other *called) bool { return c.model == other.model && c.policy == other.policy }

// names finds those that a client may take for one another.
func (l *linter) names() {
	calls := l.calls()
	near, exact := map[string]*called{}, map[string]*called{}
	for i := range calls {
		exact[calls[i].name] = &calls[i]
	}
	for i := range calls {
		c := &calls[i]
		key := loose(c.name)
		if first, taken := near[key]; taken && !first.same(c) {
			how := "dots, dashes and underscores"
			if strings.EqualFold(first.name, c.name) {
				how = "capitals"
			}
			l.say(c.at, SeverityWarning, CodeNearName, "%s differs from %s, on line %d, only in %s, and is another target; rename one, or make it an alias of the other",
				l.quote(c.name), l.quote(first.name), lineOf(first.at), how)
		} else if !taken {
			near[key] = c
		}
		l.shadow(c, exact)
	}
}

func lineOf(f finding) int {
	if f.node == nil {
		return 0
	}
	return f.node.Line
}

// loose is a name as a careless reader sees it.
func loose(name string) string {
	return strings.NewReplacer(".", "-", "_", "-").Replace(strings.ToLower(name))
}

// shadow finds a dated or regional name beside the plain one, where both are models
// of their own at one vendor.
func (l *linter) shadow(c *called, exact map[string]*called) {
	base := withoutDate(c.name)
	if base == c.name {
		cut := strings.LastIndexByte(c.name, '/') + 1
		base = c.name[:cut] + withoutRegion(c.name[cut:])
	}
	other, ok := exact[base]
	if !ok || base == c.name || c.model == nil || other.model == nil || c.model == other.model {
		return
	}
	theirs := map[*Vendor]bool{}
	for _, r := range l.inUse(other.model) {
		theirs[r.Vendor] = true
	}
	for _, r := range l.inUse(c.model) {
		if theirs[r.Vendor] {
			l.say(c.at, SeverityNote, CodeShadow, "%s and %s, on line %d, are two models here, both at %s: each has its own pins and prices; if they are one model, make one name an alias of the other",
				l.quote(c.name), l.quote(base), lineOf(other.at), l.quote(r.Vendor.Name))
			return
		}
	}
}

var dated = regexp.MustCompile(`(-20\d{6}|-20\d{2}-\d{2}-\d{2}|@20\d{6}|@default|@latest|-latest)$`)

// withoutDate is a name without the date or the word that vendors put behind it.
func withoutDate(name string) string { return dated.ReplaceAllString(name, "") }

// withoutRegion is a name without the region that a vendor puts before it.
func withoutRegion(name string) string {
	for _, region := range []string{"us", "eu", "global", "apac", "jp", "au", "us-gov"} {
		if rest, found := strings.CutPrefix(name, region+"."); found {
			return rest
		}
	}
	return name
}
