package engine

import (
	"strings"

	"github.com/warmroute/warmroute/catalog"
)

// suffixes are the ends of a target's name that stand for a sort. Source: OpenRouter,
// "Model variants": :nitro is sort by throughput, :floor by price.
var suffixes = [...]struct {
	text string
	sort catalog.Sort
}{{":nitro", catalog.ByThroughput}, {":floor", catalog.ByPrice}}

// targetNamed finds a target by its name. Where there is none of this very name, one that is
// followed by a suffix is found without it, with the sort that the suffix stands for;
// any other suffix is part of a name that does not exist.
func targetNamed(c *catalog.Catalog, name string) (catalog.Target, bool) {
	target, ok := c.Resolve(name)
	if ok {
		return target, true
	}
	for _, s := range suffixes {
		bare, found := strings.CutSuffix(name, s.text)
		if !found {
			continue
		}
		if target, ok = c.Resolve(bare); ok {
			target.Sort = s.sort
			return target, true
		}
	}
	return catalog.Target{}, false
}
